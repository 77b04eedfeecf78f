package records

import (
	"bytes"
	"strings"
)

// reasons are the HTTP reason phrases that clients write as the whole error.
var reasons = map[string]string{
	"bad request": "HTTP 400", "unauthorized": "HTTP 401", "payment required": "HTTP 402", "forbidden": "HTTP 403", "not found": "HTTP 404",
	"method not allowed": "HTTP 405", "request timeout": "HTTP 408", "conflict": "HTTP 409", "length required": "HTTP 411",
	"payload too large": "HTTP 413", "request entity too large": "HTTP 413", "content too large": "HTTP 413", "uri too long": "HTTP 414",
	"unsupported media type": "HTTP 415", "unprocessable entity": "HTTP 422", "unprocessable content": "HTTP 422", "too many requests": "HTTP 429",
	"request header fields too large": "HTTP 431", "internal server error": "HTTP 500", "not implemented": "HTTP 501", "bad gateway": "HTTP 502",
	"service unavailable": "HTTP 503", "gateway timeout": "HTTP 504", "gateway time-out": "HTTP 504",
}

// ErrorClass returns what kind of error a text reports, and nothing of what it
// quotes: an HTTP status, "timeout", "connection", the name of an exception
// (the last line of a Python traceback names it), or "other".
func ErrorClass(text []byte) string {
	text = bytes.TrimSpace(text)
	if bytes.HasPrefix(text, []byte("Traceback (most recent call last)")) {
		for len(text) > 0 {
			i := bytes.LastIndexByte(text, '\n')
			if name := exception(text[i+1:]); name != "" {
				return name
			}
			text = text[:max(i, 0)]
		}
		return "exception"
	}
	head := strings.ToLower(string(text[:min(len(text), 200)]))
	if len(head) >= 8 && strings.HasPrefix(head, "http ") && strings.Trim(head[5:8], "0123456789") == "" {
		return "HTTP " + head[5:8]
	}
	phrase, _, _ := strings.Cut(head, ":")
	if status := reasons[strings.TrimSpace(phrase)]; status != "" {
		return status
	}
	switch {
	case strings.HasPrefix(head, "never received a valid chunk"):
		return "no valid chunk"
	case strings.Contains(head, "timed out") || strings.Contains(head, "timeout"):
		return "timeout"
	case strings.HasPrefix(head, "cannot connect") || strings.Contains(head, "connection refused") || strings.Contains(head, "connection reset"):
		return "connection"
	case strings.HasPrefix(head, "stream error"):
		return "stream error"
	}
	if name := exception(text); name != "" {
		return name
	}
	return "other"
}

// exception returns the exception that a line such as "pkg.ReadTimeout: why"
// names, without its package; "" when the line names none.
func exception(line []byte) string {
	name, _, colon := bytes.Cut(bytes.TrimRight(line, "\r\n "), []byte(":"))
	if len(name) == 0 || len(name) > 100 || !colon && !bytes.HasSuffix(name, []byte("Error")) && !bytes.HasSuffix(name, []byte("Exception")) {
		return ""
	}
	for _, b := range name {
		lower := b | 0x20
		if !(lower >= 'a' && lower <= 'z' || b >= '0' && b <= '9' || b == '_' || b == '.') {
			return ""
		}
	}
	name = name[bytes.LastIndexByte(name, '.')+1:]
	switch s := string(name); {
	case strings.Contains(s, "Timeout"):
		return "timeout"
	case strings.HasSuffix(s, "Error") || strings.HasSuffix(s, "Exception") || strings.HasSuffix(s, "Interrupt") || strings.HasSuffix(s, "Exit") || strings.HasSuffix(s, "Closed"):
		return s
	}
	return ""
}
