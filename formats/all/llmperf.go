package all

import "servescope/formats/llmperf"

func init() { add(&llmperf.Format) }
