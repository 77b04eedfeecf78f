package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

func headOf(text string) *Head {
	h, err := ReadHead(textSource(text))
	if err != nil {
		panic(err)
	}
	return h
}

// describe prints keys as "name:Kind/Elem=value".
func describe(keys []Key) string {
	names := [...]string{"cut", "broken", "object", "array", "string", "number", "bool", "null"}
	var parts []string
	for _, k := range keys {
		s := k.Name + ":" + names[k.Kind]
		if k.Kind == Array {
			s += "/" + names[k.Elem]
		}
		if k.Value != nil {
			s += "=" + string(k.Value)
		}
		parts = append(parts, s)
	}
	return strings.Join(parts, " ")
}

func TestHeadKeys(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		if got := describe(headOf(text).Keys()); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
	f(`{"a":1,"b":"x","c":[1.5,2],"d":{"e":[1,{}]},"f":null,"g":true}`,
		`a:number=1 b:string="x" c:array/number d:object f:null=null g:bool=true`)
	f(" \r\n[ {\"a\" : -1e3 , \"b\":[ ] } , {\"z\":1}]", `a:number=-1e3 b:array/cut`)
	f(`{"r":Infinity,"s":-Infinity,"n":NaN,"l":[[1],2]}`, `r:number=Infinity s:number=-Infinity n:number=NaN l:array/array`)
	f(`{"q\"}":"a\"},{\\","x":"\\"}`, `q"}:string="a\"},{\\" x:string="\\"`)
	// Cut off anywhere.
	f(`{"a":[1,[2,3`, `a:array/number`)
	f(`{"a":"lon`, `a:string="lon`)
	f(`{"a":tr`, `a:bool=tr`)
	f(`{"a":`, `a:cut`)
	f(`{"a"`, `a:cut`)
	f(`{"a`, ``)
	f(`{"a":"x\`, `a:string="x\`)
	f(`{}`, ``)
	f(`[1,2]`, ``)
	f(`plain text`, ``)
	f(``, ``)
	f(`{"a":1}{"b":2}`, `a:number=1`)
}

// TestHeadKeysAgainstJSON compares names and kinds of random objects with what
// encoding/json sees, and checks that each cut gives a prefix of the names.
func TestHeadKeysAgainstJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	var value func(depth int) any
	value = func(depth int) any {
		switch n := r.IntN(7); {
		case n == 0 && depth > 0:
			m := map[string]any{}
			for range r.IntN(4) {
				m[fmt.Sprint("k", r.IntN(9))] = value(depth - 1)
			}
			return m
		case n == 1 && depth > 0:
			l := []any{}
			for range r.IntN(4) {
				l = append(l, value(depth-1))
			}
			return l
		case n == 2:
			return r.NormFloat64()
		case n == 3:
			return r.IntN(2) == 0
		case n == 4:
			return nil
		}
		return strings.Repeat([]string{`a"`, `\`, "{[", "],}"}[r.IntN(4)], r.IntN(3))
	}
	for range 300 {
		m := map[string]any{}
		for range r.IntN(6) {
			m[fmt.Sprint("n", r.IntN(100))] = value(3)
		}
		text, err := json.Marshal(m) // sorts the names
		if err != nil {
			t.Fatal(err)
		}
		var want []string
		for name := range m {
			want = append(want, name)
		}
		slices.Sort(want)
		keys := headOf(string(text)).Keys()
		var got []string
		for _, k := range keys {
			got = append(got, k.Name)
			if kind := kindOf(m[k.Name]); k.Kind != kind {
				t.Errorf("%s: %s is of kind %d, want %d", text, k.Name, k.Kind, kind)
			}
		}
		if !slices.Equal(got, want) {
			t.Fatalf("%s: got %q, want %q", text, got, want)
		}
		for cut := range text {
			for i, k := range headOf(string(text[:cut])).Keys() {
				if k.Name != want[i] {
					t.Fatalf("%s cut at %d: key %d is %q, want %q", text, cut, i, k.Name, want[i])
				}
			}
		}
	}
}

func kindOf(v any) Kind {
	switch v.(type) {
	case map[string]any:
		return Object
	case []any:
		return Array
	case string:
		return String
	case float64:
		return Number
	case bool:
		return Bool
	}
	return Null
}

func TestHeadLines(t *testing.T) {
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for _, line := range headOf(text).Lines() {
			got = append(got, string(line))
		}
		if !slices.Equal(got, want) {
			t.Errorf("got %.40q, want %.40q", got, want)
		}
	}
	f("a\r\n\n  \nb\nc", "a", "b", "c")
	f("")
	long := strings.Repeat("x", HeadSize-2)
	f(long+"\n", long)
	f(long+"\ny", long, "y")   // ends with the head, and is whole
	f(long+"\nyy\nzz\n", long) // the second line is cut
	whole := strings.Repeat("x", HeadSize)
	f(whole, whole)
}

// piped is a source that can only be read from front to back.
// textIn is a source in memory.
type textIn struct{ *strings.Reader }

func textSource(text string) Source { return textIn{strings.NewReader(text)} }

func (m textIn) Name() string       { return "x" }
func (m textIn) ModTime() time.Time { return time.Time{} }
func (m textIn) At() io.ReaderAt    { return m }

func (m textIn) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(m, off, m.Size()-off)), nil
}

type piped struct{ Source }

func (p piped) At() io.ReaderAt { return nil }

func TestHeadSamples(t *testing.T) {
	// f checks of which blocks of HeadSize bytes the samples are.
	f := func(size int, pipe bool, want ...byte) {
		t.Helper()
		data := make([]byte, size)
		for i := range data {
			data[i] = byte(i / HeadSize)
		}
		src := textSource(string(data))
		if pipe {
			src = piped{src}
		}
		h, err := ReadHead(src)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(h.Start, data[:min(size, HeadSize)]) {
			t.Errorf("%d bytes: a start of %d bytes", size, len(h.Start))
		}
		var got []byte
		for _, s := range h.Samples {
			got = append(got, s[len(s)-1])
		}
		if !bytes.Equal(got, want) {
			t.Errorf("%d bytes: samples end in blocks %d, want %d", size, got, want)
		}
	}
	f(16*HeadSize, false, 4, 8, 12, 15)
	f(4*HeadSize, false, 1, 2, 3)
	f(HeadSize, false)
	f(HeadSize+1, false, 1)
	f(2*HeadSize-1, false, 1)
	f(100, false)
	f(0, false)
	f(100, true)
	f(HeadSize, true)
	f(HeadSize+1, true, 1)
	f(3*HeadSize, true, 2)
	f(9*HeadSize, true, 5, 8)
	f(40*HeadSize, true, 8, 15)
}
