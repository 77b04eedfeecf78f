// Command servescope analyzes the logs of LLM servers and the result files of
// benchmark clients; see `servescope help`.
package main

import (
	"os"

	"servescope/cli/internal/app"
)

func main() { os.Exit(app.Main()) }
