package all

import "servescope/formats/benchconsole"

func init() { add(&benchconsole.Format) }
