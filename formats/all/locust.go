package all

import "servescope/formats/locust"

func init() { add(&locust.Format) }
