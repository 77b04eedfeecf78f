//go:build !js || full

package all

import "servescope/formats/langfuse"

func init() { add(&langfuse.Format) }
