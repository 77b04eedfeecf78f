package all

import "servescope/formats/vllmrouter"

func init() { add(&vllmrouter.Format) }
