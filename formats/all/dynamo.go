package all

import "servescope/formats/dynamo"

func init() { add(&dynamo.Format) }
