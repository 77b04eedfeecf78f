package sglanglog

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// row is one row: the columns that are not null.
type row map[string]any

// String prints the columns but offset, clock and run facts, by name.
func (r row) String() string {
	var names []string
	for name := range r {
		if name != "offset" {
			names = append(names, name)
		}
	}
	slices.Sort(names)
	var b strings.Builder
	for _, name := range names {
		fmt.Fprintf(&b, "%s=%v ", name, r[name])
	}
	return strings.TrimSuffix(b.String(), " ")
}

// result is what reading a log gives.
type result struct {
	steps, requests []row
	run             *trace.RunMeta
	account         formats.Account
	diags           map[string]diag.Diag
}

// given are options under which stamps without a year are of 2026, in UTC.
var given = formats.Options{Workers: 1, Year: 2026, TZ: time.UTC}

func readText(t testing.TB, text string, opt formats.Options) *result {
	t.Helper()
	return read(t, source.FromBytes("server.log", []byte(text)), opt)
}

func read(t testing.TB, src formats.Source, opt formats.Options) *result {
	t.Helper()
	opt.Lists = true
	r, err := Format.Open(context.Background(), src, formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	res := &result{diags: make(map[string]diag.Diag)}
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			switch b.Table {
			case trace.Steps:
				res.steps = append(res.steps, rowOf(b, i))
			case trace.Requests:
				res.requests = append(res.requests, rowOf(b, i))
			}
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	res.run, res.account = r.Runs()[0], r.Account()
	for _, d := range r.Diags().All() {
		res.diags[d.Code] = d
	}
	if a := res.account; a.Parsed+a.Diagnosed+a.Noise != a.Total || min(a.Parsed, a.Diagnosed, a.Noise) < 0 {
		t.Errorf("the account does not add up: %+v", a)
	}
	return res
}

func rowOf(b *trace.Batch, i int) row {
	out := make(row)
	for c, f := range b.Table.Fields {
		col := trace.Col(c)
		var v any
		var ok bool
		switch f.Type {
		case trace.Int64:
			v, ok = b.Ints(col).At(i)
		case trace.Float64:
			v, ok = b.Floats(col).At(i)
		case trace.Bool:
			v, ok = b.Bools(col).At(i)
		case trace.Text:
			var s []byte
			s, ok = b.Texts(col).At(i)
			v = string(s)
		case trace.Dict:
			var code int32
			if code, ok = b.Dicts(col).At(i); ok {
				v = b.Dicts(col).Values[code]
			}
		case trace.List:
			v, ok = b.Lists(col).At(i)
		}
		if ok {
			out[f.Name] = v
		}
	}
	return out
}

// check compares rows with their texts.
func check(t *testing.T, what string, got []row, want ...string) {
	t.Helper()
	for i := range max(len(got), len(want)) {
		g, w := "(nothing)", "(nothing)"
		if i < len(got) {
			g = got[i].String()
		}
		if i < len(want) {
			w = want[i]
		}
		if g != w {
			t.Errorf("%s %d:\n got %s\nwant %s", what, i, g, w)
		}
	}
}

// at gives a time of 2026-03-01 in ns.
func at(clock string) int64 {
	v, err := time.Parse("2006-01-02 15:04:05.999999999", "2026-03-01 "+clock)
	if err != nil {
		panic(err)
	}
	return v.UnixNano()
}

// realFile returns the path of a real file, or skips the test.
func realFile(t testing.TB, name string) string {
	t.Helper()
	dirs := []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"}
	for _, dir := range dirs {
		if dir == "" {
			continue
		}
		path := filepath.Join(dir, "sglang", name)
		if _, err := os.Stat(path); err == nil {
			return path
		}
	}
	t.Skipf("no real file %s", name)
	return ""
}

// bench counts the rows of a source.
func bench(b *testing.B, src formats.Source, workers int) (rows int) {
	r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: workers})
	if err != nil {
		b.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		rows += r.Batch().Rows
	}
	if r.Err() != nil {
		b.Fatal(r.Err())
	}
	return rows
}
