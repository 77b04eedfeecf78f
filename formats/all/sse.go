package all

import "servescope/formats/sse"

func init() { add(&sse.Format) }
