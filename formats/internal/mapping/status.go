package mapping

import (
	"bytes"

	"servescope/analyzer/trace"
)

// statusOf reads a status: an HTTP code or a word.
func statusOf(raw []byte) (s trace.Status, known bool) {
	if v, ok := number(raw, 0); ok {
		switch {
		case v == 499:
			return trace.Aborted, true
		case v >= 200 && v < 400 || v == 0:
			return trace.OK, v != 0
		case v >= 400 && v < 600:
			return trace.Failed, true
		}
		return 0, false
	}
	switch string(bytes.ToLower(bytes.TrimSpace(raw))) {
	case "ok", "success", "succeeded", "successful", "completed", "complete", "finished", "done", "true", "stop", "length":
		return trace.OK, true
	case "error", "failed", "failure", "fail", "timeout", "timed_out", "false", "exception", "rejected":
		return trace.Failed, true
	case "abort", "aborted", "cancelled", "canceled", "disconnected":
		return trace.Aborted, true
	case "empty":
		return trace.Empty, true
	}
	return 0, false
}

// isStatus reports whether a value is a status.
func isStatus(raw []byte) bool {
	if _, known := statusOf(raw); known {
		return true
	}
	_, known := truthOf(raw)
	return known
}

// truthOf reads whether a request succeeded, written as 0 or 1.
func truthOf(raw []byte) (s trace.Status, known bool) {
	switch v, ok := float(raw); {
	case ok && v == 0:
		return trace.Failed, true
	case ok && v == 1:
		return trace.OK, true
	}
	return 0, false
}

// isFlag reports whether a value is true or false.
func isFlag(raw []byte) bool {
	switch string(bytes.ToLower(raw[:min(len(raw), 6)])) {
	case "true", "false", "0", "1":
		return true
	}
	return false
}

// errorClass returns the first word of an error. The rest may quote a user's text.
func errorClass(v []byte) []byte {
	n := 0
	for n < len(v) && n < 48 && (v[n] == '_' || v[n] == '-' || v[n] == '.' || v[n]-'0' <= 9 || v[n]|0x20 >= 'a' && v[n]|0x20 <= 'z') {
		n++
	}
	if n == 0 {
		return []byte("error")
	}
	return v[:n]
}
