package all

import "servescope/formats/torchtrace"

func init() { add(&torchtrace.Format) }
