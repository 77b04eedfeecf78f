package json

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
)

func walk(text string) (list []string, next int, ok bool) {
	next, ok = Walk([]byte(text), 0, func(path, raw []byte, kind Kind) {
		list = append(list, fmt.Sprintf("%s=%s/%d", path, raw, kind))
	})
	return list, next, ok
}

func TestWalk(t *testing.T) {
	const text = `{ "a" : {"b": "x\"y\\", "c": [1, "]"]}, "d": [ {"e": null}, {"e": NaN} ], "f": true, "g": [[{"h": 1}]], "i": [] , "j": -1e-3 }{"k": 1}`
	list, next, ok := walk(text)
	want := []string{`a.b=x\"y\\/4`, `a.c=[1, "]"]/3`, `d[].e=null/7`, `d[].e=NaN/5`, `f=true/6`, `g=[[{"h": 1}]]/3`, `i=[]/3`, `j=-1e-3/5`}
	if fmt.Sprint(list) != fmt.Sprint(want) || !ok || next != strings.Index(text, `{"k"`) {
		t.Errorf("%q, want %q; %d %v", list, want, next, ok)
	}
	for _, bad := range []string{"", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{"a" 1}`, `{"a":"}`, `{"a":[1}`, `{"a":[{"b":1},2`, `{a:1}`, `[1]`, `{"a":1 "b":2}`, `{"a":{"b":1}`} {
		if _, next, ok := walk(bad); ok || next > len(bad) {
			t.Errorf("%s passes, %d", bad, next)
		}
	}
}

// FuzzWalk: what encoding/json takes, Walk takes, to the same end; nothing panics.
func FuzzWalk(f *testing.F) {
	f.Add(`{"a":{"b":[{"c":1},{"c":[2]}],"d":"\""}}`)
	f.Fuzz(func(t *testing.T, text string) {
		_, next, ok := walk(text)
		if next > len(text) || next < 0 {
			t.Fatal(next)
		}
		if len(text) > 0 && text[0] == '{' && json.Valid([]byte(text)) && !ok {
			t.Fatalf("%q is JSON", text)
		}
	})
}
