package all

import "servescope/formats/tgi"

func init() { add(&tgi.Format) }
