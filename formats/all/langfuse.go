package all

import "servescope/formats/langfuse"

func init() { add(&langfuse.Format) }
