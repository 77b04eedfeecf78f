package all

import "servescope/formats/otlplogs"

func init() { add(&otlplogs.Format) }
