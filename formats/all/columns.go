package all

import "servescope/formats/columns"

func init() { add(&columns.Format) }
