//go:build !js || full

package all

import "servescope/formats/vegeta"

func init() { add(&vegeta.Format) }
