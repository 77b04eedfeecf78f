package all

import "servescope/formats/logfmt"

func init() { add(&logfmt.Format) }
