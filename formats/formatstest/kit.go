// Package formatstest is the conformance kit that every format passes. Its
// cases are data: a folder testdata/formats/FORMAT/CASE with a file input.* and
// a golden file want.jsonl, which holds what reading the input gives, a line of
// JSON per run and row (columns that are not null), then the account and the
// diags. A new format needs cases and no test of its own for this.
package formatstest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/diff"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/source"
)

// Case is one folder of cases.
type Case struct {
	Name   string // FORMAT/CASE
	Dir    string
	Format *formats.Format
	set    *formats.Set
	raw    []byte         // the input as it is
	src    formats.Source // unpacked
	text   []byte         // of src
	want   *result
	others []*Case // cases of other formats
	first  bool    // of its format
}

// Load returns the cases below dir for the formats of set.
func Load(set *formats.Set, dir string) ([]*Case, error) {
	inputs, err := filepath.Glob(filepath.Join(dir, "*", "*", "input.*"))
	if err != nil {
		return nil, err
	}
	var cases []*Case
	for _, path := range inputs {
		c := &Case{Dir: filepath.Dir(path), set: set}
		name := filepath.Base(filepath.Dir(c.Dir))
		c.Name = name + "/" + filepath.Base(c.Dir)
		if n := len(cases); n > 0 && cases[n-1].Dir == c.Dir {
			return nil, fmt.Errorf("%s holds several inputs", c.Dir)
		}
		if c.Format, err = set.Lookup(name); err != nil {
			return nil, fmt.Errorf("%s: %w", c.Dir, err)
		}
		if c.raw, err = os.ReadFile(path); err != nil {
			return nil, err
		}
		if c.src, c.text, err = unpack(filepath.Base(path), c.raw); err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		c.first = len(cases) == 0 || cases[len(cases)-1].Format != c.Format
		cases = append(cases, c)
	}
	for _, c := range cases {
		for _, other := range cases {
			if other.Format != c.Format {
				c.others = append(c.others, other)
			}
		}
	}
	return cases, nil
}

// unpack returns the one source that data holds, and its text.
func unpack(name string, data []byte) (formats.Source, []byte, error) {
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes(name, data), Named: true}}, options())
	if err != nil {
		return nil, nil, err
	}
	if len(in.List) != 1 {
		return nil, nil, fmt.Errorf("it holds %d sources, want 1", len(in.List))
	}
	src := in.List[0].Source
	r, err := src.Open(0)
	if err != nil {
		return nil, nil, err
	}
	defer r.Close()
	var text bytes.Buffer
	_, err = text.ReadFrom(r)
	return src, text.Bytes(), err
}

// Run runs the kit over every case below dir. Each format of the set must have
// one. update writes the golden files instead of comparing with them.
func Run(t *testing.T, set *formats.Set, dir string, update bool) {
	cases, err := Load(set, dir)
	if err != nil {
		t.Fatal(err)
	}
	has := make(map[*formats.Format]bool)
	for _, c := range cases {
		has[c.Format] = true
		t.Run(c.Name, func(t *testing.T) { c.Run(t, update) })
	}
	for _, f := range set.All() {
		if !has[f] {
			t.Errorf("%s has no case in %s", f.Name, filepath.Join(dir, f.Name))
		}
	}
}

// Run runs every check over the case.
func (c *Case) Run(t *testing.T, update bool) {
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	if err := c.golden(update); err != nil {
		t.Error(err)
	}
	for _, check := range checks {
		t.Run(check.name, func(t *testing.T) {
			if err := check.run(c); err != nil {
				t.Error(err)
			}
		})
	}
}

// load reads the input in the plainest way: what all variants are compared with.
func (c *Case) load() error {
	res, err := readWhole(c.Format, c.src, options())
	c.want = res
	return err
}

// golden compares with want.jsonl, or writes it.
func (c *Case) golden(update bool) error {
	path := filepath.Join(c.Dir, "want.jsonl")
	full := *c.want
	full.diags = c.located()
	got := []byte(full.dump(without{}))
	if update {
		os.Remove(path + ".got")
		return os.WriteFile(path, got, 0o666)
	}
	want, err := os.ReadFile(path)
	if err != nil {
		return fmt.Errorf("%w\nrun the test with -update to write it, then read it", err)
	}
	want = bytes.ReplaceAll(want, []byte("\r\n"), []byte("\n"))
	if bytes.Equal(got, want) {
		os.Remove(path + ".got")
		return nil
	}
	if err := os.WriteFile(path+".got", got, 0o666); err != nil {
		return err
	}
	return fmt.Errorf("%s", diff.Diff(path, want, path+".got", got))
}

// located returns the diags of the reader and of the source with their lines.
func (c *Case) located() diag.Log {
	var all, out diag.Log
	all.Merge(&c.want.diags)
	all.Merge(formats.FaultsOf(c.src))
	for _, d := range all.All() {
		if d.Offset >= 0 {
			d.Line, _ = source.LineAt(c.src, d.Offset)
		}
		out.Add(d)
	}
	return out
}

// same reports how a result differs from the case's.
func (c *Case) same(how string, res *result, err error, w without) error {
	if err != nil {
		return fmt.Errorf("%s: %w", how, err)
	}
	if got, want := res.dump(w), c.want.dump(w); got != want {
		return fmt.Errorf("%s: %s", how, firstDifference(got, want))
	}
	return nil
}

// lines returns the lines of the text, each with its end.
func (c *Case) lines() []string { return strings.SplitAfter(string(c.text), "\n") }
