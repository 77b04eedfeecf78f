package all

import "servescope/formats/tokenlog"

func init() { add(&tokenlog.Format); add(&tokenlog.Events) }
