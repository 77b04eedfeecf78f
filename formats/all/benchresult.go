package all

import "servescope/formats/benchresult"

func init() { add(&benchresult.Format) }
