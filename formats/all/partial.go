//go:build js && !full

package all

func init() { partial = true }
