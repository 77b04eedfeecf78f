package all

import "servescope/formats/promtext"

func init() { add(&promtext.Format) }
