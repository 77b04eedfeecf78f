package all

import "servescope/formats/trtllm"

func init() { add(&trtllm.Format) }
