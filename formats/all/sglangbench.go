package all

import "servescope/formats/sglangbench"

func init() { add(&sglangbench.Format) }
