package json

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"strings"
	"testing"
	"unicode/utf8"
)

// TestStrings pins the value of strings that one may well disagree about.
func TestStrings(t *testing.T) {
	for raw, want := range map[string]string{
		`caf\u00e9`:              "café",
		`caf\u00E9 \ud83d\ude00`: "café 😀",
		`\"\\\/\b\f\n\r\t`:       "\"\\/\b\f\n\r\t",
		`lone \ud800 half`:       "lone \uFFFD half",
		`\udc00\ud800\u0041`:     "\uFFFD\uFFFDA",
		"raw \x01\t\n":           "raw \x01\t\n",
		"raw \x01 \\u0001":       "raw \x01 \x01",
		`C:\dir\u00e9`:           `C:\diré`,
		`\u12`:                   `\u12`,
		`\u+123 \\`:              `\u+123 \`,
		`\u00zz \n`:              "\\u00zz \n",
	} {
		if got := string(Text([]byte(raw))); got != want {
			t.Errorf("%s: %q, want %q", raw, got, want)
		}
		text := []byte(`{"` + raw + `":"` + raw + `"} `)
		for size := range 100 {
			c := New(inTwo(text, size), 0, 1)
			c.Open()
			c.More()
			if key := string(c.Key(100)); key != want {
				t.Errorf("%s: a cursor reads the name %q, want %q", raw, key, want)
			}
			if got := string(c.Text(100)); got != want {
				t.Errorf("%s: a cursor reads %q, want %q", raw, got, want)
			}
		}
		_, ok := Walk(text, 0, func(path, value []byte, _ Kind) {
			if string(path) != want || string(Text(value)) != want {
				t.Errorf("%s: Walk visits %q: %q, want %q", raw, path, Text(value), want)
			}
		})
		if !ok {
			t.Errorf("%s: Walk fails", raw)
		}
	}
}

// inTwo returns a reader that gives size bytes at first.
func inTwo(text []byte, size int) *pieces { return &pieces{text, size} }

type pieces struct {
	text []byte
	size int
}

func (p *pieces) Read(b []byte) (int, error) {
	if p.size <= 0 || p.size >= len(p.text) {
		p.size = len(p.text)
	}
	n, err := bytes.NewReader(p.text[:p.size]).Read(b)
	p.text, p.size = p.text[n:], p.size-n
	return n, err
}

// TestText compares decoded strings with those of encoding/json, and their first bytes
// with those of AppendText and a cursor.
func TestText(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{"a", "é", `\n`, `\"`, `\\`, `\/`, `\b`, `\f`, `\r`, `\t`, `\u0041`, `\u00e9`, `\uD834`, `\uDD1E`, `\ud834\udd1e`, `\u12`, `\u+123`, `\x`, "\xff", "\xc3", "0", `\u0000`}
	decoded := 0
	for range 100_000 {
		var raw string
		for range r.IntN(6) {
			raw += pieces[r.IntN(len(pieces))]
		}
		got := Text([]byte(raw))
		var want string
		if json.Unmarshal([]byte(`"`+raw+`"`), &want) != nil {
			want = string(got)
		} else {
			decoded++
		}
		if valid(got) != valid([]byte(want)) {
			t.Fatalf("%q: %q, want %q", raw, got, want)
		}
		max := r.IntN(20)
		short := AppendText([]byte("x"), []byte(raw[:min(len(raw), MaxRaw(max))]), max)[1:]
		if !bytes.HasPrefix(got, short) || len(short) > max || len(short) <= min(len(got), max)-utf8.UTFMax {
			t.Fatalf("%q, at most %d bytes: %q of %q", raw, max, short, got)
		}
		if c := New(strings.NewReader(`"`+raw+`"`), 0, 1); utf8.Valid(got) && !bytes.Equal(c.Text(max), short) {
			t.Fatalf("%q, at most %d bytes: a cursor reads another text than %q", raw, max, short)
		}
	}
	if decoded < 1000 {
		t.Errorf("only %d strings were decoded", decoded)
	}
}

// valid repairs each byte of invalid UTF-8.
func valid(s []byte) string { return string([]rune(string(s))) }
