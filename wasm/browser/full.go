//go:build js && wasm && full

package main

import "servescope/wasm/tables"

func init() { write = tables.Write }
