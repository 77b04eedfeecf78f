//go:build !(js && wasm)

// Command browser is the engine of the page. It runs in a browser's worker only.
package main

import "fmt"

func main() { fmt.Println("browser runs in browsers: build it with GOOS=js GOARCH=wasm, or make page") }
