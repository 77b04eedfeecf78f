package json

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
	"unicode/utf8"
)

// value reads the next value into Go values as encoding/json would.
func value(c *Cursor) any {
	switch c.Kind() {
	case Object:
		m := map[string]any{}
		for c.Open(); c.More(); {
			if k := c.Key(1 << 20); k != nil {
				name := string(k)
				m[name] = value(c)
			}
		}
		return m
	case Array:
		a := []any{}
		for c.Open(); c.More(); {
			a = append(a, value(c))
		}
		return a
	case String:
		return string(c.Text(1 << 20))
	case Number:
		return json.Number(c.Literal())
	case Bool:
		return string(c.Literal()) == "true"
	case Null:
		c.Literal()
	}
	return nil
}

// readers yield the same bytes in different portions.
func readers(s string) map[string]io.Reader {
	return map[string]io.Reader{
		"whole": strings.NewReader(s), "half": iotest.HalfReader(strings.NewReader(s)),
		"one": iotest.OneByteReader(strings.NewReader(s)), "dataerr": iotest.DataErrReader(strings.NewReader(s)),
	}
}

var texts = []string{`a`, ``, `"quoted"`, `back\slash\\`, "line\nfeed\ttab", `héllo`, `日本語`, "\U0001F600", `], [`, `{"a":[`, strings.Repeat(`x\"`, 90), "\u2028", "a\x7fb"}

// document writes a random value; the writer is encoding/json itself.
func document(r *rand.Rand, depth int) any {
	switch n := r.IntN(9); {
	case n == 0 && depth > 0:
		m := map[string]any{}
		for range r.IntN(6) {
			m[texts[r.IntN(len(texts))]] = document(r, depth-1)
		}
		return m
	case n <= 2 && depth > 0:
		a := []any{}
		for range r.IntN(8) {
			a = append(a, document(r, depth-1))
		}
		return a
	case n == 3:
		return r.IntN(2) == 0
	case n == 4:
		return nil
	case n <= 6:
		return texts[r.IntN(len(texts))]
	case n == 7:
		return r.IntN(1 << 40)
	}
	return r.NormFloat64()
}

// TestAgainstEncodingJSON compares the values read, and the offsets after
// skipping, with encoding/json, for random documents, buffers and portions.
func TestAgainstEncodingJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 400 {
		v := document(r, 5)
		b, err := json.Marshal(v)
		if err != nil {
			t.Fatal(err)
		}
		if r.IntN(2) == 0 {
			b, _ = json.MarshalIndent(v, "", " \t"[:r.IntN(3)])
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if err := d.Decode(&want); err != nil {
			t.Fatal(err)
		}
		for name, in := range readers(string(b)) {
			c := New(in, 7, r.IntN(200)+1)
			if got := value(c); !reflect.DeepEqual(got, want) {
				t.Fatalf("%s: %s\n got %v\nwant %v", name, b, got, want)
			}
			if c.Kind() != EOF {
				t.Fatalf("%s: %s: no end of text: %v", name, b, c.problem)
			}
		}
		for name, in := range readers(string(b) + " 1") {
			c := New(in, 7, r.IntN(200)+1)
			if !c.Skip() || c.Kind() != Number || c.Offset() != int64(7+len(b)+1) {
				t.Fatalf("%s: skipping %s ends at %d, not %d: %v", name, b, c.Offset(), 7+len(b)+1, c.problem)
			}
		}
	}
}

func TestLeniency(t *testing.T) {
	for _, tc := range []struct{ in, want string }{
		{`{"a":NaN,"b":[Infinity,-Infinity]}`, `map[a:NaN b:[Infinity -Infinity]]`},
		{"\uFEFF{\"a\":1}", `map[a:1]`},
		{`{"a":1,}`, `map[a:1]`},
		{`[1,2,]`, `[1 2]`},
		{"\"raw\nline\"", "raw\nline"},
		{"\"bad \xff byte\"", "bad \uFFFD byte"},
		{`"lone \ud800 and \udc00\u0041"`, "lone \uFFFD and \uFFFDA"},
		{`"\ud83d\ude00\x\u00zz"`, "\U0001F600\\x\\u00zz"},
		{`"\ud800\n"`, "\uFFFD\n"},
	} {
		for name, in := range readers(tc.in) {
			c := New(in, 0, 1)
			if got := fmt.Sprint(value(c)); got != tc.want {
				t.Errorf("%s: %q: got %q, want %q", name, tc.in, got, tc.want)
			}
			if p, bad := c.Problem(); bad {
				t.Errorf("%s: %q: %v", name, tc.in, p)
			}
		}
	}
}

// TestDocuments reads what stands one after the other, with and without
// separators, and the members of an array cut out of its brackets.
func TestDocuments(t *testing.T) {
	for _, in := range []string{
		`{"a":1}{"a":2}[3]`, "{\"a\":1}\r\n{\"a\":2}\n[3]\n", "\x1e{\"a\":1}\n\x1e{\"a\":2}\n\x1e[3]", `{"a":1},{"a":2},[3]]`, "\uFEFF{\"a\":1}\n\uFEFF{\"a\":2}[3]\x00\x00",
	} {
		c := New(strings.NewReader(in), 0, 1)
		var got []any
		for k := c.Kind(); k != EOF && k != Broken; k = c.Kind() {
			got = append(got, value(c))
		}
		if s := fmt.Sprint(got); s != `[map[a:1] map[a:2] [3]]` {
			t.Errorf("%q: %s, %v", in, s, c.problem)
		}
	}
}

func TestProblems(t *testing.T) {
	for _, tc := range []struct {
		in  string
		at  int64
		cut bool
	}{
		{`{"a":1`, 6, true}, {`{"a":`, 5, true}, {`{"a"`, 4, true}, {`{"a":"b`, 7, true}, {`[1,2`, 4, true}, {`["a\`, 4, true},
		{`["\u12`, 6, true}, {`["\ud800\`, 9, true}, {`{`, 1, true}, {`[1.5`, 4, true},
		{`{"a" 1}`, 5, false}, {`{a:1}`, 1, false}, {`[1 2]`, 3, false}, {`[1}`, 2, false}, {`<html>`, 0, false}, {`}`, 0, false},
		{strings.Repeat("[", MaxDepth+1), MaxDepth, false}, {strings.Repeat(`{"a":`, MaxDepth+1), 5 * MaxDepth, false},
	} {
		for name, in := range readers(tc.in) {
			for what, read := range map[string]func(*Cursor){"read": func(c *Cursor) { value(c) }, "skip": func(c *Cursor) { c.Skip() }} {
				if what == "skip" && (strings.HasPrefix(tc.in, `{"a" `) || strings.HasPrefix(tc.in, `{a`) || tc.in == `[1 2]`) {
					continue // Skip looks at brackets and strings only
				}
				c := New(in, 0, 1)
				read(c)
				p, bad := c.Problem()
				if !bad || p.Offset != tc.at || p.Truncated != tc.cut || p.Msg == "" {
					t.Errorf("%s %s: %.40q: got %+v, want offset %d, truncated %v", name, what, tc.in, p, tc.at, tc.cut)
				}
				if c.Kind() != Broken || c.More() || c.Skip() || c.Literal() != nil {
					t.Errorf("%s %s: %.40q: goes on after the problem", name, what, tc.in)
				}
				in = strings.NewReader(tc.in)
			}
		}
	}
}

// TestTextMax cuts long strings at rune boundaries and reads on behind them.
func TestTextMax(t *testing.T) {
	long := strings.Repeat(`é\n\"`, 5000)
	for max := range 12 {
		for name, in := range readers(`["` + long + `",5]`) {
			c := New(in, 0, 64)
			c.Open()
			c.More()
			s := c.Text(max)
			if len(s) > max || len(s) < max-1 || !utf8.Valid(s) || !strings.HasPrefix(strings.Repeat("é\n\"", 10), string(s)) {
				t.Fatalf("%s: max %d: %q", name, max, s)
			}
			if !c.More() || string(c.Literal()) != "5" || c.More() || c.Kind() != EOF {
				t.Fatalf("%s: max %d: lost: %v", name, max, c.problem)
			}
			if cap(c.scratch) > 1024 {
				t.Fatalf("holds %d bytes of a string of which %d are wanted", cap(c.scratch), max)
			}
		}
	}
}

// TestSkipIsBounded skips a string and an array far longer than the buffer.
func TestSkipIsBounded(t *testing.T) {
	const n = 4 << 20
	in := io.MultiReader(strings.NewReader(`["`), io.LimitReader(filler(`ab\\`), n), strings.NewReader(`",[`),
		io.LimitReader(filler(`1.5,`), n-n%4), strings.NewReader(`2],7]`))
	c := New(in, 0, 4096)
	c.Open()
	for range 2 {
		if !c.More() || !c.Skip() {
			t.Fatal(c.problem)
		}
	}
	if !c.More() || string(c.Literal()) != "7" || len(c.buf) != 4096 || cap(c.scratch) > 4096 {
		t.Fatalf("lost after skipping: %v", c.problem)
	}
}

type filler string

func (f filler) Read(b []byte) (int, error) {
	for i := range b {
		b[i] = f[i%len(f)]
	}
	return len(b) / len(f) * len(f), nil
}

// TestRecords: every reader, wherever it starts, sees the records that begin
// in its range and no other; one that breaks off does not take the next along.
func TestRecords(t *testing.T) {
	text := "{\"a\":1}\n{\"a\":2, \"t\":\"cut in a str\n{\"a\":3}\r\n\n{ \n  \"a\": 4,\n  \"b\": {}\n}\n# noise {\n{\"a\":5}{\"a\":6}\nnull\n[\n{\"a\":7},\n{\"a\":8}\n]\n{\"a\":9"
	var want []int64 // lines that begin with a brace, and those that end a record of one line without
	for i := range text {
		if i == 0 || strings.HasPrefix(text[i-1:], "\n{") || strings.HasPrefix(text[i:], "\n{ ") || strings.HasPrefix(text[i:], "null") || strings.HasPrefix(text[i:], "]\n{") {
			want = append(want, int64(i))
		}
	}
	for size := 1; size < 200; size += 7 {
		for step := 1; step <= len(text); step++ {
			var got []int64
			for from := 0; from < len(text); from += step {
				got = append(got, starts(text, int64(from), int64(from+step), size)...)
			}
			if !slices.Equal(got, want) {
				t.Fatalf("buffer %d, step %d: records at %v, want %v", size, step, got, want)
			}
		}
	}
	c := NewRecords(strings.NewReader(text), 0, 0, -1, 1)
	var got []string
	for c.Next() {
		for c.Kind() == Object {
			got = append(got, fmt.Sprint(value(c)))
		}
		if p, bad := c.Problem(); bad {
			got = append(got, fmt.Sprint(p.Offset, p.Truncated))
		}
	}
	// A value that breaks off is not delivered: its last digits may be missing.
	wantText := fmt.Sprintf("map[a:1] map[a:2 t:] %d true map[a:3] map[a:4 b:map[]] %d false map[a:5] map[a:6] map[a:7] map[a:8] map[a:] %d true",
		strings.Index(text, `{"a":3}`)-1, strings.Index(text, "#"), len(text))
	if s := strings.Join(got, " "); s != wantText {
		t.Errorf("got  %s\nwant %s", s, wantText)
	}
}

// starts returns the offsets of the records that begin in [from, to).
func starts(text string, from, to int64, size int) (list []int64) {
	at := max(0, from-1)
	c := NewRecords(strings.NewReader(text[at:]), at, from, to, size)
	for c.Next() {
		list = append(list, c.Offset())
		c.Skip()
	}
	return list
}

// TestSkipLine goes on behind a problem, at the next line and no further than
// the record.
func TestSkipLine(t *testing.T) {
	for name, in := range readers("{\n\"a\" 1,\n\"b\":[}]}\n{\"c\":2} tail\n") {
		c := NewRecords(in, 0, 0, -1, 1)
		c.Next()
		value(c)
		c.SkipLine()
		if w := c.Window(); c.Offset() != 8 || len(w) == 0 || w[0] != '\n' || c.Kind() != String {
			t.Errorf("%s: the line ends at %d, before %q", name, c.Offset(), w)
		}
		c.Skip()
		c.SkipLine()
		c.Advance(1)
		if c.SkipLine(); c.Window() != nil || c.Kind() != EOF {
			t.Errorf("%s: goes on to %d, in the next record", name, c.Offset())
		}
		if !c.Next() || c.Offset() != 18 {
			t.Errorf("%s: the next record is lost", name)
		}
	}
}

func TestReadError(t *testing.T) {
	c := New(io.MultiReader(strings.NewReader(`[1,`), iotest.ErrReader(io.ErrUnexpectedEOF)), 0, 64)
	value(c)
	if p, bad := c.Problem(); !bad || !p.Truncated || c.Err() != io.ErrUnexpectedEOF {
		t.Errorf("got %v, %v", p, c.Err())
	}
}

func TestStructural(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 3))
	b := make([]byte, 40)
	for range 20000 {
		for i := range b {
			b[i] = byte(r.IntN(256))
			if strings.IndexByte(`"[]{}`, b[i]) >= 0 && r.IntN(8) > 0 {
				b[i]++
			}
		}
		n := r.IntN(len(b))
		if got, want := structural(b[:n]), bytes.IndexAny(b[:n], `"[]{}`); got != slices.IndexFunc(b[:n], func(c byte) bool { return strings.IndexByte(`"[]{}`, c) >= 0 }) {
			t.Fatalf("%q: got %d, want %d", b[:n], got, want)
		}
	}
}

// FuzzCursor checks that any input is read and skipped to an end without a
// panic, that reading and skipping agree with encoding/json about valid
// documents, and that buffers do not matter.
func FuzzCursor(f *testing.F) {
	for _, s := range []string{`{"a":[1,2.5e3,"x\n",null,true,{"b":{}}]}`, `[NaN,-Infinity`, "{\"a\":\"\\ud83d\\ude00\"}\n{\"a\":", "\uFEFF[[],[[]]]\x00"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, b []byte) {
		c := NewRecords(bytes.NewReader(b), 0, 0, -1, 64)
		for last := int64(-1); c.Next(); {
			if c.Offset() <= last || c.Offset() >= int64(len(b)) {
				t.Fatalf("a record at %d after one at %d", c.Offset(), last)
			}
			last = c.Offset()
			for k := c.Kind(); k != EOF && k != Broken; k = c.Kind() {
				value(c)
			}
		}
		var want any
		d := json.NewDecoder(bytes.NewReader(b))
		d.UseNumber()
		if !json.Valid(b) || d.Decode(&want) != nil {
			return
		}
		small, large := New(bytes.NewReader(b), 0, 64), New(bytes.NewReader(b), 0, 0)
		if got := value(small); !reflect.DeepEqual(got, want) {
			t.Fatalf("got %v, want %v, %v", got, want, small.problem)
		}
		if !large.Skip() || large.Kind() != EOF {
			t.Fatalf("cannot skip a valid document: %v", large.problem)
		}
	})
}

func BenchmarkSkip(b *testing.B) {
	texts := []byte(`["` + strings.Repeat(strings.Repeat("some generated text ", 40)+`\"quoted\"\n`, 5000) + `"]`)
	nested := []byte("[" + strings.Repeat(`{"name":"kernel","ts":1362008885154.907,"args":{"a":[1,2,3],"b":"c"}},`, 50000) + "1]")
	escaped := []byte("[" + strings.Repeat(`"`+strings.Repeat(` fox \"jumps\" over], [[0.1]\n\tthe lazy dog: {\"a\": 日本語 \\`, 12)+`", `, 5000) + "1]")
	for name, text := range map[string][]byte{"strings": texts, "nested": nested, "escaped": escaped} {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				c := New(bytes.NewReader(text), 0, 0)
				if !c.Skip() {
					b.Fatal(c.problem)
				}
			}
		})
	}
}
