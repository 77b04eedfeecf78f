package all

import "servescope/formats/sglanglog"

func init() { add(&sglanglog.Format) }
