package ollama

import (
	"bytes"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/records"
)

// access is an access line of Gin:
//
//	[GIN] 2026/01/02 - 03:04:05 | 200 |  1.234567s |  127.0.0.1 | POST     "/api/chat"
//
// It is written when the response has ended, in local time.
type access struct {
	at      records.Stamp
	status  int
	latency int64
	path    []byte
}

// calls are the paths that generate tokens.
var calls = [...]string{"/api/generate", "/api/chat", "/v1/chat/completions", "/v1/completions", "/v1/responses", "/v1/messages"}

// parseAccess reads an access line for a path of the API, in a journal or not.
func parseAccess(line []byte) (a access, ok bool) {
	_, rest, found := bytes.Cut(line, []byte("[GIN] "))
	part := bytes.SplitN(rest, []byte("|"), 5)
	if !found || len(part) < 5 {
		return a, false
	}
	a.at, ok = records.Date(part[0])
	status, err := strconv.Atoi(string(bytes.TrimSpace(part[1])))
	latency, timed := records.Duration(part[2])
	_, path, quoted := bytes.Cut(part[4], []byte(`"`))
	path, _, _ = bytes.Cut(path, []byte(`"`))
	a.status, a.latency, a.path = status, latency, path
	api := bytes.HasPrefix(path, []byte("/api/")) || bytes.HasPrefix(path, []byte("/v1/"))
	return a, ok && err == nil && timed && quoted && api && status >= 100 && status < 600
}

// Line implements records.Fold.
func (f *fold) Line(line []byte, at int64) {
	a, ok := parseAccess(line)
	if !ok {
		f.Noise() // what else the server and its runners log
		return
	}
	generates := false
	for _, path := range calls {
		generates = generates || string(a.path) == path
	}
	if !generates {
		f.Parsed("other access")
		return
	}
	if !a.at.Zoned && f.Zone == nil {
		f.Note(zone, at)
	}
	end := a.at.In(f.Zone).T
	b := f.Builder
	b.Int(trace.Received, end-a.latency)
	b.Int(trace.Finished, end)
	b.Int(trace.Resolution, a.at.Step)
	status := trace.OK
	switch {
	case a.status == 499: // the client has gone
		status = trace.Aborted
	case a.status >= 400:
		status = trace.Failed
	}
	if status != trace.OK {
		b.Dict(trace.ErrorClass, strconv.AppendInt([]byte("HTTP "), int64(a.status), 10))
	}
	b.Code(trace.StatusCol, int32(status))
	f.EndRow(at)
	f.Parsed("access")
}

var zone = &assemble.Problem{Code: "zone_assumed", Severity: diag.Notice,
	Msg: "stamps state no zone: they are taken for UTC", Fix: "give --tz ZONE"}
