//go:build !js

// Command worker is package endpoint as a Cloudflare Worker. It runs in a Worker
// only: make worker builds it.
package main

import (
	"fmt"
	"os"
)

func main() {
	fmt.Fprintln(os.Stderr, "worker: build this with make worker and run it in workerd")
	os.Exit(2)
}
