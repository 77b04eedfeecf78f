//go:build !js

package main

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"servescope/wasm/endpoint"
)

// line is how many requests may wait, by entry.mjs.
const line = 32

// queued fills the room for bodies with two that stall. Of the requests after them as
// many wait as may, and are answered when the room is free again, by clients that go
// away; the others are told at once to come again.
func queued(t *testing.T, w *host) {
	text, err := os.ReadFile(root + "/testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var stalled []net.Conn
	for range 2 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/analyze HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", endpoint.MaxBody, text[:100])
		stalled = append(stalled, conn)
	}
	time.Sleep(500 * time.Millisecond)
	const more = 3
	var answered, refused, ended atomic.Int64
	var group sync.WaitGroup
	for range line + more {
		group.Go(func() {
			defer ended.Add(1)
			r, err := http.Post(w.address+"/v1/analyze", "", bytes.NewReader(text))
			if err != nil {
				t.Error(err)
				return
			}
			defer r.Body.Close()
			answer, err := io.ReadAll(r.Body)
			switch {
			case err == nil && r.StatusCode == http.StatusOK && bytes.Contains(answer, []byte(`"ok": 63,`)):
				answered.Add(1)
			case err == nil && r.StatusCode == http.StatusServiceUnavailable && r.Header.Get("Retry-After") == "10" &&
				r.Header.Get("Content-Type") == "application/problem+json" && bytes.Contains(answer, []byte(`"status":503`)):
				refused.Add(1)
			default:
				t.Errorf("%d, %v: %.300s, %v", r.StatusCode, r.Header, answer, err)
			}
		})
	}
	for range 600 {
		if ended.Load() >= more {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if refused.Load() != more || answered.Load() != 0 {
		t.Errorf("%d are refused, %d answered while the room is full; want %d, 0", refused.Load(), answered.Load(), more)
	}
	for _, conn := range stalled {
		conn.Close()
	}
	group.Wait()
	if answered.Load() != line {
		t.Errorf("%d are answered, want %d", answered.Load(), line)
	}
}
