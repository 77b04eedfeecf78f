//go:build !js || full

package all

import "servescope/formats/torchtrace"

func init() { add(&torchtrace.Format) }
