package all

import "servescope/formats/ollama"

func init() { add(&ollama.Format) }
