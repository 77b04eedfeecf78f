package all

import "servescope/formats/apilog"

func init() { add(&apilog.Format) }
