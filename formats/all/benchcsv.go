package all

import "servescope/formats/benchcsv"

func init() { add(&benchcsv.Format) }
