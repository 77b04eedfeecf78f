//go:build js

// Command worker is package endpoint as a Cloudflare Worker. Each request has an
// instance of its own, whose memory goes with it; entry.mjs lets one log after the
// other in.
package main

import (
	"context"
	"io"
	"net/http"
	"runtime/debug"
	"time"

	"github.com/syumai/workers"
	"github.com/syumai/workers/cloudflare"

	"servescope/formats/all"
	"servescope/wasm/endpoint"
)

func main() {
	debug.SetGCPercent(25)
	debug.SetMemoryLimit(58 << 20)
	token := cloudflare.Getenv("SERVESCOPE_TOKEN")
	workers.Serve(endpoint.New(endpoint.Options{
		Set: all.Set(), Now: time.Now,
		Token: func(context.Context) string { return token },
		Body:  func(r *http.Request) io.Reader { return body(r) },

		Memory: 64 << 20,
	}))
}
