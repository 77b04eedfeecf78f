package all

import "servescope/formats/llamacpp"

func init() { add(&llamacpp.Format) }
