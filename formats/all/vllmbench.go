package all

import "servescope/formats/vllmbench"

func init() { add(&vllmbench.Format) }
