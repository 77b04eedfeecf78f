package all

import "servescope/formats/inferenceperf"

func init() { add(&inferenceperf.Format) }
