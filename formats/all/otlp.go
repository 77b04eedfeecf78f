package all

import "servescope/formats/otlp"

func init() { add(&otlp.Format) }
