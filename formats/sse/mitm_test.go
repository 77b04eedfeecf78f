package sse

import (
	"fmt"
	"strings"
	"testing"

	"servescope/formats"
)

// tagged writes a value as a tagged netstring.
func tagged(kind byte, s string) string { return fmt.Sprintf("%d:%s%c", len(s), s, kind) }

// flowOf returns a flow with a response of so many bytes of padding.
func flowOf(start string, padding int) string {
	request := tagged(';', "method") + tagged(',', "POST") + tagged(';', "path") + tagged(',', "/v1/chat/completions") + tagged(';', "timestamp_start") + tagged('^', start)
	response := tagged(';', "content") + tagged(',', strings.Repeat(" ", padding)) + tagged(';', "status_code") + tagged('#', "200") + tagged(';', "timestamp_start") + tagged('^', "1772355601.5") + tagged(';', "timestamp_end") + tagged('^', "1772355602.25")
	return tagged('}', tagged(';', "response")+tagged('}', response)+tagged(';', "request")+tagged('}', request)+tagged(';', "type")+tagged(';', "http"))
}

// TestFlowFaults: a flow that is too long costs itself, one that is broken what follows
// it, and nothing more is read than there is.
func TestFlowFaults(t *testing.T) {
	good := flowOf("1772355600.5", 10)
	for name, c := range map[string]struct {
		text                     string
		parsed, diagnosed, noise int64
	}{
		"two":          {good + good, 2, 0, 0},
		"no start":     {good + flowOf("soon", 1) + good, 2, 1, 0},
		"cut":          {good + good[:len(good)-7], 1, 1, 0},
		"cut length":   {good + "12", 1, 1, 0},
		"other text":   {good + "hello\n" + good, 1, 1, 0},
		"long length":  {good + "99999999999999:x", 1, 1, 0},
		"wrong within": {good + tagged('}', "7:request;9:x}") + good, 2, 1, 0},
		"dns":          {good + tagged('}', tagged(';', "type")+tagged(';', "dns")), 1, 0, 1},
		"too long":     {good + "70000000:7:request;", 1, 1, 0},
	} {
		r, err := Format.Open(t.Context(), formats.FromBytes("x.flow", []byte(c.text)), formats.Whole, formats.Options{Workers: 1})
		if err != nil {
			t.Fatal(err)
		}
		if _, ok := r.(*flows); !ok {
			t.Fatalf("%s: it is read as %T", name, r)
		}
		for r.Next() {
		}
		if a := r.Account(); r.Err() != nil || a.Parsed != c.parsed || a.Diagnosed != c.diagnosed || a.Noise != c.noise || a.Total != c.parsed+c.diagnosed+c.noise {
			t.Errorf("%s: %v, %+v", name, r.Err(), a)
		}
		r.Close()
	}
}
