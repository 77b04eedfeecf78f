// Command write prints the page as one document, with its engine.
package main

import (
	"fmt"
	"os"

	"servescope/wasm/page"
)

func main() {
	doc, err := page.Sealed()
	if err == nil {
		_, err = os.Stdout.Write(doc)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}
