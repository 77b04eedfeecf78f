package otlp

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// got is all that reading a text gives. A row is its columns that are not null,
// by name: int64, string, bool or []int64.
type got struct {
	rows    []map[string]any
	steps   []map[string]any // of the steps table
	runs    []*trace.RunMeta
	account formats.Account
	diags   []diag.Diag
}

func (g *got) diag(code string) (d diag.Diag) {
	for _, d := range g.diags {
		if d.Code == code {
			return d
		}
	}
	return diag.Diag{}
}

// read reads a text.
func read(t testing.TB, text string) *got {
	t.Helper()
	return readWith(t, source.FromBytes("spans.json", []byte(text)), formats.Options{Workers: 1, Lists: true})
}

func readWith(t testing.TB, src formats.Source, opt formats.Options) *got {
	t.Helper()
	r, err := Format.Open(context.Background(), src, formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	g := new(got)
	for r.Next() {
		b := r.Batch()
		to := &g.rows
		if b.Table == trace.Steps {
			to = &g.steps
		}
		for i := range b.Rows {
			*to = append(*to, rowOf(b, i))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	g.runs, g.account, g.diags = r.Runs(), r.Account(), r.Diags().All()
	if a := g.account; a.Total != a.Parsed+a.Diagnosed+a.Noise || min(a.Parsed, a.Diagnosed, a.Noise) < 0 {
		t.Errorf("the account does not add up: %+v", a)
	}
	return g
}

func rowOf(b *trace.Batch, i int) map[string]any {
	row := map[string]any{"run": b.Run.Key}
	for c, f := range b.Table.Fields {
		col := trace.Col(c)
		switch f.Type {
		case trace.Int64:
			if v, ok := b.Ints(col).At(i); ok {
				row[f.Name] = v
			}
		case trace.Text:
			if v, ok := b.Texts(col).At(i); ok {
				row[f.Name] = string(v)
			}
		case trace.Dict:
			if v, ok := b.Dicts(col).At(i); ok {
				row[f.Name] = b.Dicts(col).Values[v]
			}
		case trace.List:
			if v, ok := b.Lists(col).At(i); ok {
				row[f.Name] = append([]int64{}, v...)
			}
		}
	}
	return row
}

// want checks columns of a row, given as name=value; name=null is none.
func want(t testing.TB, row map[string]any, parts ...string) {
	t.Helper()
	for _, p := range parts {
		name, value, _ := cut(p)
		have := "null"
		if v, ok := row[name]; ok {
			have = fmt.Sprint(v)
		}
		if have != value {
			t.Errorf("%s is %s, want %s", name, have, value)
		}
	}
}

func cut(p string) (name, value string, ok bool) {
	for i := range p {
		if p[i] == '=' {
			return p[:i], p[i+1:], true
		}
	}
	return p, "", false
}

// data returns a published file, or skips the test.
func data(t testing.TB, name string) []byte {
	t.Helper()
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if b, err := os.ReadFile(filepath.Join(dir, name)); err == nil && dir != "" {
			return b
		}
	}
	t.Skip("the real files are not here")
	return nil
}
