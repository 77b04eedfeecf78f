package all

import "servescope/formats/arrow"

func init() { add(&arrow.Format) }
