package all

import "servescope/formats/accesslog"

func init() { add(&accesslog.Format) }
