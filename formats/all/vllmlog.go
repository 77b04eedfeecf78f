package all

import "servescope/formats/vllmlog"

func init() { add(&vllmlog.Format) }
