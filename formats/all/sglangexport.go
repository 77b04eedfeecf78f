package all

import "servescope/formats/sglangexport"

func init() { add(&sglangexport.Format) }
