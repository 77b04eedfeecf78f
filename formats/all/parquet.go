package all

import "servescope/formats/parquet"

func init() { add(&parquet.Format) }
