// Command write prints the page as one document, with its engine. With the
// argument headers it prints what a host sends with it, as the file _headers of
// Cloudflare's static assets; with the argument delta and two files the second, packed
// as what it is beyond the first.
package main

import (
	"fmt"
	"maps"
	"os"
	"slices"

	"servescope/wasm/delta"
	"servescope/wasm/page"
)

func main() {
	content := page.Sealed
	switch args := os.Args[1:]; {
	case len(args) == 1 && args[0] == "headers":
		content = headers
	case len(args) == 3 && args[0] == "delta":
		content = func() ([]byte, error) { return packed(args[1], args[2]) }
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

// packed returns a file as what it is beyond another.
func packed(base, name string) ([]byte, error) {
	first, err := os.ReadFile(base)
	if err != nil {
		return nil, err
	}
	second, err := os.ReadFile(name)
	if err != nil {
		return nil, err
	}
	return delta.Pack(first, second)
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
