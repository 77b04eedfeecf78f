package all

import "servescope/formats/vegeta"

func init() { add(&vegeta.Format) }
