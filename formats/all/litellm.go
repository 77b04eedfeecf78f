package all

import "servescope/formats/litellm"

func init() { add(&litellm.Format) }
