// Package csv writes tables as comma-separated values (RFC 4180): one header,
// CRLF line ends, quotes only where they are needed.
//
// encoding/csv is not used: its fields are strings, an allocation per token,
// and with CRLF line ends it drops carriage returns from texts.
package csv

import "strings"

// AppendText appends s as one field. An empty text is quoted: a null is written
// as nothing.
func AppendText(dst []byte, s string) []byte {
	if s != "" && !strings.ContainsAny(s, "\",\r\n") && s[0] != ' ' && s[len(s)-1] != ' ' {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	for {
		head, tail, found := strings.Cut(s, `"`)
		dst = append(dst, head...)
		if !found {
			return append(dst, '"')
		}
		dst, s = append(dst, `""`...), tail
	}
}
