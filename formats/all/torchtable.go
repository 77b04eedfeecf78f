package all

import "servescope/formats/torchtable"

func init() { add(&torchtable.Format) }
