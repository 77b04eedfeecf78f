package all

import "servescope/formats/guidellm"

func init() { add(&guidellm.Format) }
