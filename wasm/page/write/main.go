// Command write prints the page as one document, with its engine. With the
// argument headers it prints what a host sends with it, as the file _headers of
// Cloudflare's static assets.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"servescope/wasm/page"
)

func main() {
	content := page.Sealed
	if len(os.Args) == 2 && os.Args[1] == "headers" {
		content = headers
	}
	doc, err := content()
	if err == nil {
		_, err = os.Stdout.Write(doc)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "write:", err)
		os.Exit(1)
	}
}

// headers returns the rules for every asset.
func headers() ([]byte, error) {
	fields, err := page.Headers(page.Wasm)
	out := []byte("/*\n")
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		out = fmt.Appendf(out, "  %s: %s\n", name, fields[name])
	}
	return out, err
}
