package all

import "servescope/formats/k6"

func init() { add(&k6.Format) }
