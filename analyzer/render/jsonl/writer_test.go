package jsonl

import (
	"bytes"
	"encoding/json"
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"
)

// TestP78P79RoundTrip reads back with encoding/json what was written: strict
// JSON, every column in every row, null apart from the empty list.
func TestP78P79RoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for kind := range trace.ClockKind(4) {
		in := tabletest.Requests(r, `a "run"`, 50, trace.Clock{Kind: kind})
		for _, tab := range []func() *table.Table{func() *table.Table { return table.Requests(table.Options{}) }, table.Tokens} {
			var want []tabletest.Row
			if err := tab().Each(in, func(b *trace.Batch) error { want = append(want, tabletest.Rows(b)...); return nil }); err != nil {
				t.Fatal(err)
			}
			var out bytes.Buffer
			w := NewWriter(&out, tab())
			if err := errors.Join(w.Write(in), w.Close()); err != nil {
				t.Fatal(err)
			}
			lines := slices.Collect(strings.Lines(out.String()))
			if len(lines) != len(want) {
				t.Fatalf("%d lines, want %d", len(lines), len(want))
			}
			for i, line := range lines {
				compare(t, tab().Fields, line, want[i])
			}
		}
	}
}

func compare(t *testing.T, fields []trace.Field, line string, want tabletest.Row) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(line))
	d.UseNumber()
	var got map[string]any
	if err := d.Decode(&got); err != nil {
		t.Fatalf("%v in %s", err, line)
	}
	if len(got) != len(fields) {
		t.Fatalf("%d columns, want %d", len(got), len(fields))
	}
	for _, f := range fields {
		if f.Type == trace.Time {
			continue // another notation; see TestP76Times
		}
		wanted, err := json.Marshal(want[f.Name])
		if err != nil {
			t.Fatal(err)
		}
		var v any
		dec := json.NewDecoder(bytes.NewReader(wanted))
		dec.UseNumber()
		if err := dec.Decode(&v); err != nil {
			t.Fatal(err)
		}
		gotText, _ := json.Marshal(got[f.Name])
		wantText, _ := json.Marshal(v)
		if !number(got[f.Name], v) && !bytes.Equal(gotText, wantText) {
			t.Errorf("%s: got %s, want %s", f.Name, gotText, wantText)
		}
	}
}

// number says whether a and b are the same number in other notations (1e+06).
func number(a, b any) bool {
	x, ok1 := a.(json.Number)
	y, ok2 := b.(json.Number)
	if !ok1 || !ok2 {
		return false
	}
	f, err1 := x.Float64()
	g, err2 := y.Float64()
	return err1 == nil && err2 == nil && f == g && (x == y || strings.ContainsAny(string(x+y), ".e"))
}

func TestString(t *testing.T) {
	f := func(s, want string) {
		t.Helper()
		if got := string(appendString(nil, []byte(s))); got != want {
			t.Errorf("%q: got %s, want %s", s, got, want)
		}
	}
	f("", `""`)
	f(`a"b\c`, `"a\"b\\c"`)
	f("a\nb\x00\x7f", `"a\u000ab\u0000\u007f"`)
	f("ü\xff€", `"ü`+"\uFFFD"+`€"`)
}

func TestP76Times(t *testing.T) {
	b := trace.NewBuilder(trace.Requests)
	b.Int(trace.Sent, 1767225600123456789)
	b.EndRow()
	in := b.Take(&trace.RunMeta{Clock: trace.Clock{Kind: trace.Wall}}, "f")
	for _, nanos := range []bool{false, true} {
		want := `"sent":"2026-01-01T00:00:00.123456Z"`
		if nanos {
			want = `"sent":"2026-01-01T00:00:00.123456789Z"`
		}
		var out bytes.Buffer
		w := NewWriter(&out, table.Requests(table.Options{Nanos: nanos}))
		if err := errors.Join(w.Write(in), w.Close()); err != nil {
			t.Fatal(err)
		}
		if s := out.String(); !strings.Contains(s, want) || !strings.Contains(s, `"sent_ns":1767225600123456789`) {
			t.Errorf("no %s in %s", want, s)
		}
	}
}

func TestWriteError(t *testing.T) {
	broken := errors.New("disk full")
	w := NewWriter(failing{broken}, table.Tokens())
	in := tabletest.Requests(rand.New(rand.NewPCG(1, 2)), "a", 1000, trace.Clock{})
	if err := errors.Join(w.Write(in), w.Close()); !errors.Is(err, broken) {
		t.Errorf("got %v", err)
	}
}

type failing struct{ error }

func (f failing) Write([]byte) (int, error) { return 0, f.error }
