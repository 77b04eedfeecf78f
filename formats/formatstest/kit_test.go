package formatstest

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// toy is a format of lines "toy N", a row of N output tokens and N gaps of 1 ns
// each. bug is what its reader does wrong.
func toy(bug string) *formats.Format {
	return &formats.Format{
		Name: "toy", Title: "a test", Priority: 1, Shape: formats.Records,
		Sniff: func(h *formats.Head) (formats.Score, string) {
			if bug == "detects by name" && !strings.HasPrefix(h.Name, "input") {
				return formats.No, "it is called " + h.Name
			}
			if bytes.HasPrefix(h.Start, []byte("toy ")) {
				return formats.Sure, "begins with toy"
			}
			return formats.No, "does not begin with toy"
		},
		Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
			r, err := src.Open(0)
			if err != nil {
				return nil, err
			}
			text, err := io.ReadAll(r)
			if bug != "leaves the source open" {
				r.Close()
			}
			if bug == "leaves a goroutine behind" {
				go func() { select {} }()
			}
			if bug == "swallows errors of reading" {
				err = nil
			}
			t := &toyReader{bug: bug, src: src, rng: rng, opt: opt, err: err, b: trace.NewBuilder(trace.Requests),
				run: &trace.RunMeta{Format: "toy", Side: trace.Client}}
			if bug == "reports NaN" {
				t.run.Reported = []trace.Reported{{Key: "x", Value: math.NaN()}}
			}
			if t.rng.To < 0 {
				t.rng.To = int64(len(text)) + 1
			}
			t.parse(text)
			return t, nil
		},
	}
}

type toyReader struct {
	formats.Base
	bug   string
	src   formats.Source
	rng   formats.Range
	opt   formats.Options
	b     *trace.Builder
	run   *trace.RunMeta
	batch *trace.Batch
	n     int
	diags diag.Log
	a     formats.Account
	err   error
}

func (t *toyReader) parse(text []byte) {
	off := int64(0)
	for line := range bytes.Lines(text) {
		from := off
		off += int64(len(line))
		if from < t.rng.From || from > t.rng.To || from == t.rng.To && t.bug != "reads a line in two ranges" {
			continue
		}
		t.line(line, from)
	}
	if len(text) == 0 && t.rng.To != 0 && t.bug != "is silent about a wrong file" {
		t.diags.Add(diag.Diag{Code: "empty", File: t.src.Name(), Offset: -1, Msg: "there is nothing"})
	}
	if t.bug == "depends on blocks" && t.opt.Block%2 == 1 {
		t.run.Notes = []string{"odd blocks"}
	}
	if t.bug == "does not add up" {
		t.a.Total++
	}
}

func (t *toyReader) line(line []byte, from int64) {
	t.a.Total++
	text, ended := bytes.CutSuffix(line, []byte("\n"))
	if t.bug != "does not know \\r" {
		text = bytes.TrimSuffix(text, []byte("\r"))
	}
	if len(text) == 0 && t.bug != "is silent about a wrong file" {
		t.diags.Add(diag.Diag{Code: "blank", File: t.src.Name(), Offset: from, Msg: "a blank line"})
	}
	word, number, _ := strings.Cut(string(text), " ")
	n, err := strconv.Atoi(number)
	if word != "toy" || err != nil || n < 0 || n > 100 {
		t.a.Diagnosed++
		if t.bug != "is silent about a wrong file" {
			t.diags.Add(diag.Diag{Code: "bad", File: t.src.Name(), Offset: from, Msg: "not a toy"})
		}
		return
	}
	if t.bug == "loses a row after garbage" && t.a.Diagnosed > 0 {
		t.a.Parsed++
		return
	}
	t.a.Parsed++
	rows := 1
	if t.bug == "makes rows of a broken line" && !ended {
		rows = 9
	}
	for range rows {
		t.b.Int(trace.OutputTokens, int64(n))
		t.b.Int(trace.Offset, from)
		t.b.Code(trace.StatusCol, int32(trace.OK))
		if t.opt.Lists || t.bug == "gives lists nobody wants" {
			gaps := t.b.OpenList(trace.ChunkGaps)
			for range n {
				gaps = append(gaps, 1)
			}
			if t.bug == "has offsets that fall" && n == 1 {
				gaps = gaps[:0]
			}
			t.b.CloseList(trace.ChunkGaps, gaps)
		}
		t.b.EndRow()
	}
}

func (t *toyReader) Next() bool {
	if t.err != nil || t.n > 0 || t.b.Rows() == 0 {
		return false
	}
	t.n++
	t.batch = t.b.Take(t.run, t.src.Name())
	return true
}

func (t *toyReader) Batch() *trace.Batch { return t.batch }
func (t *toyReader) Err() error          { return t.err }
func (t *toyReader) Diags() *diag.Log    { return &t.diags }
func (t *toyReader) Close() error        { return nil }

func (t *toyReader) Account() formats.Account { return t.a }

func (t *toyReader) Runs() []*trace.RunMeta {
	if t.bug == "does not list its run" {
		return nil
	}
	return []*trace.RunMeta{t.run}
}

// toyCase writes a case and loads it for a toy with a bug.
func toyCase(t *testing.T, bug string) *Case {
	t.Helper()
	dir := t.TempDir()
	path := filepath.Join(dir, "toy", "basic", "input.txt")
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	for i := range 40 {
		fmt.Fprintf(&text, "toy %d\n", 40-i) // the last is 1
	}
	if err := os.WriteFile(path, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	cases, err := Load(formats.NewSet(toy(bug)), dir)
	if err != nil || len(cases) != 1 {
		t.Fatalf("%d cases, %v", len(cases), err)
	}
	return cases[0]
}

// findings returns the names of the checks that fail.
func findings(t *testing.T, bug string) string {
	c := toyCase(t, bug)
	if err := c.load(); err != nil {
		return "load"
	}
	var names []string
	for _, check := range checks {
		if err := check.run(c); err != nil {
			t.Logf("%s: %s: %v", bug, check.name, err)
			names = append(names, check.name)
		}
	}
	return strings.Join(names, " ")
}

// TestKitFindsBugs gives the kit formats with bugs: each must be found.
func TestKitFindsBugs(t *testing.T) {
	for bug, want := range map[string]string{
		"":                             "",
		"detects by name":              "detect",
		"reads a line in two ranges":   "cuts",
		"depends on blocks":            "cuts",
		"does not add up":              "load",
		"leaves the source open":       "load",
		"has offsets that fall":        "load",
		"does not list its run":        "load",
		"reports NaN":                  "load",
		"swallows errors of reading":   "io-error",
		"does not know \\r":            "crlf",
		"gives lists nobody wants":     "lists",
		"loses a row after garbage":    "garbage",
		"makes rows of a broken line":  "truncated",
		"is silent about a wrong file": "forced",
		"leaves a goroutine behind":    "close-early",
	} {
		if got := findings(t, bug); got != want {
			t.Errorf("a toy that %s: found by %q, want %q", bug, got, want)
		}
	}
}

func TestGolden(t *testing.T) {
	c := toyCase(t, "")
	if err := c.load(); err != nil {
		t.Fatal(err)
	}
	if err := c.golden(false); err == nil {
		t.Error("no golden file is no error")
	}
	if err := c.golden(true); err != nil {
		t.Fatal(err)
	}
	if err := c.golden(false); err != nil {
		t.Error(err)
	}
	path := filepath.Join(c.Dir, "want.jsonl")
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(string(text), "\n")
	for i, want := range map[int]string{
		0:  `{"run":{"key":0,"format":"toy","side":"client","clock":"wall"}}`,
		40: `{"row":0,"offset":265,"status":"ok","output_tokens":1,"chunk_gaps":[1]}`,
		41: `{"account":{"total":40,"parsed":40,"diagnosed":0,"noise":0}}`,
	} {
		if lines[i] != want {
			t.Errorf("line %d is %s, want %s", i+1, lines[i], want)
		}
	}
	changed := strings.Replace(string(text), `"output_tokens":7,`, `"output_tokens":8,`, 1)
	if err := os.WriteFile(path, []byte(changed), 0o666); err != nil {
		t.Fatal(err)
	}
	err = c.golden(false)
	if err == nil || !strings.Contains(err.Error(), "\n-{") || !strings.Contains(err.Error(), "\n+{") {
		t.Errorf("no diff: %v", err)
	}
	if got, _ := os.ReadFile(path + ".got"); string(got) != string(text) {
		t.Error("the .got file is not what was got")
	}
	if err := c.golden(true); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path + ".got"); err == nil {
		t.Error("the .got file stays after an update")
	}
}

func TestLoadErrors(t *testing.T) {
	dir := t.TempDir()
	f := func(path, text, want string) {
		t.Helper()
		full := filepath.Join(dir, path)
		os.MkdirAll(filepath.Dir(full), 0o777)
		os.WriteFile(full, []byte(text), 0o666)
		defer os.RemoveAll(filepath.Dir(full))
		if _, err := Load(formats.NewSet(toy("")), dir); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %s", path, err, want)
		}
	}
	f("other/case/input.txt", "x", "unknown format")
	f("toy/case/input.zip", "PK\x05\x06"+strings.Repeat("\x00", 18), "holds 0 sources")
	os.MkdirAll(filepath.Join(dir, "toy", "two"), 0o777)
	os.WriteFile(filepath.Join(dir, "toy", "two", "input.a"), nil, 0o666)
	f("toy/two/input.b", "x", "several inputs")
}

func FuzzToy(f *testing.F) { Fuzz(f, formats.NewSet(toy("")), f.TempDir()) }
