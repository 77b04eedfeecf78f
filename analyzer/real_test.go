package analyzer

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/formats/all"
)

// openAll opens sources in memory with every format of the product.
func openAll(t *testing.T, opt load.Options, list ...textFile) (*Session, error) {
	t.Helper()
	return Open(t.Context(), all.Set(), inputsOf(list...), "", opt)
}

// analyze answers a query about sources, which must work.
func analyze(t *testing.T, q *query.Query, list ...textFile) *report.Report {
	t.Helper()
	s, err := openAll(t, load.Options{Workers: 2}, list...)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	r, err := s.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// fixtures returns every input of testdata/formats, or the first of each format in
// short mode.
func fixtures(t *testing.T) []textFile {
	t.Helper()
	names, err := filepath.Glob("../testdata/formats/*/*/input*")
	if err != nil || len(names) == 0 {
		t.Fatalf("%d fixtures, %v", len(names), err)
	}
	samples, _ := filepath.Glob("../testdata/sample/*.json*")
	if testing.Short() {
		format := func(name string) string { return filepath.Dir(filepath.Dir(name)) }
		names = slices.CompactFunc(names, func(a, b string) bool { return format(a) == format(b) })
	}
	var out []textFile
	for _, name := range append(names, samples...) {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, textFile{name: name, text: string(text)})
	}
	return out
}

// TestRealFormatsCutsAndWorkers holds the reports and rows of every fixture to
// the same bytes whatever the workers and cuts, and, unless a diag says
// otherwise, the memory.
func TestRealFormatsCutsAndWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 9))
	queries := []*query.Query{
		{},
		queryOf(t, "filter=output_tokens > 5 and status = ok", "by=model,status"),
		queryOf(t, "window=1m", "by=prompt_tokens", "trim=warmup=2"),
	}
	n, rounds := 0, 3
	if testing.Short() {
		rounds, queries = 2, queries[1:2]
	}
	for _, in := range fixtures(t) {
		if strings.HasSuffix(in.name, ".gz") {
			continue // sources in memory are not unpacked
		}
		if s, err := openAll(t, load.Options{}, in); err != nil {
			continue // a fixture that has to be forced
		} else {
			s.Close()
		}
		n++
		var want []string
		for round := range rounds {
			opt := load.Options{Workers: 1 + r.IntN(4), Block: 1 + r.IntN(len(in.text)+100)}
			cut := 1 + r.Int64N(int64(len(in.text)+100))
			if round == 0 {
				opt, cut = load.Options{}, load.RangeSize
			}
			if round == 1 && !testing.Short() {
				opt.Memory = 1
			}
			got := everything(t, opt, cut, queries, in)
			if round == 0 {
				want = got
			}
			for i := range queries {
				if opt.Memory == 1 && strings.Contains(got[i], `"collectives_dropped"`) {
					continue // a diag says what the memory did not hold
				}
				if got[i] != want[i] {
					t.Fatalf("%s, query %d, %+v cut %d: %s", in.name, i, opt, cut, firstDifference(got[i], want[i]))
				}
			}
		}
	}
	if n == 0 {
		t.Error("no fixture was read")
	}
}

// everything returns, for each query about a source, the report and the rows that it
// selects, and checks that the second report is the first.
func everything(t *testing.T, opt load.Options, cut int64, queries []*query.Query, in textFile) []string {
	t.Helper()
	s, err := openAll(t, opt, in)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.in.RangeSize, s.in.BatchRows = cut, 1+int(cut%13)
	ask := func(q *query.Query) string {
		r, err := s.Run(t.Context(), q)
		if err != nil {
			t.Fatalf("%s: %v", in.name, err)
		}
		return jsonOf(t, r)
	}
	var out []string
	for _, q := range queries {
		first, rows := ask(q), exported(t, s, q)
		if second := ask(q); second != first {
			t.Fatalf("%s: the second answer differs: %s", in.name, firstDifference(second, first))
		}
		out = append(out, first+"\n"+rows)
	}
	return out
}

func firstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	around := func(s string) string { return s[max(0, i-100):min(len(s), i+100)] }
	return fmt.Sprintf("\n got …%s…\nwant …%s…", around(a), around(b))
}

// TestRealRowsAreSelected compares the exported rows of a query with those of
// all rows that the same condition, written in Go, holds for.
func TestRealRowsAreSelected(t *testing.T) {
	in := textFile{name: "tokenlog.jsonl", text: sample(t, "tokenlog.jsonl")}
	if _, err := all.Set().Lookup("tokenlog"); err != nil {
		t.Skip(err)
	}
	s, err := openAll(t, load.Options{}, in)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var want, got []int64
	collect := func(into *[]int64, ok func(*trace.Batch, int) bool) func(*trace.Batch) error {
		return func(b *trace.Batch) error {
			for i := range b.Rows {
				if off, _ := b.Ints(trace.Offset).At(i); ok(b, i) {
					*into = append(*into, off)
				}
			}
			return nil
		}
	}
	err = s.Rows(t.Context(), new(query.Query), false, collect(&want, func(b *trace.Batch, i int) bool {
		n, known := b.Ints(trace.OutputTokens).At(i)
		at, _ := b.Ints(trace.Received).At(i)
		return known && n > 20 && at >= 1764428003e9
	}))
	if err != nil {
		t.Fatal(err)
	}
	q := queryOf(t, "filter=output_tokens > 20", "from=1764428003")
	if err := s.Rows(t.Context(), q, true, collect(&got, func(*trace.Batch, int) bool { return true })); err != nil {
		t.Fatal(err)
	}
	if len(want) == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("got rows at %v, want %v", got, want)
	}
}

// data returns the names of files of the folder of real files that match a
// pattern, or skips the test where the folder is absent.
func data(t *testing.T, pattern string) []string {
	t.Helper()
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../shared/data", "../../../shared/data"} {
		if _, err := os.Stat(dir); dir == "" || err != nil {
			continue
		}
		names, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(names) == 0 {
			t.Fatalf("%s in %s: %v", pattern, dir, err)
		}
		return names
	}
	t.Skip("the folder of real files is not here")
	return nil
}

// TestAnyInput gives everything, whatever it is, to every format: a report or
// an error, never a panic.
func TestAnyInput(t *testing.T) {
	list := []textFile{
		{name: "empty"}, {name: "binary", text: "\x00\x01\x02\xff\xfe"}, {name: "brace", text: "{"}, {name: "deep", text: strings.Repeat("[", 100000)},
		{name: "line", text: strings.Repeat("x", 1<<20)}, {name: "nulls", text: "null\nnull\n"}, {name: "number", text: "1e999"},
	}
	list = append(list, fixtures(t)[0])
	for _, f := range all.Set().All() {
		for _, in := range list {
			s, err := Open(t.Context(), all.Set(), inputsOf(in), f.Name, load.Options{Workers: 2})
			if err != nil {
				t.Fatalf("%s as %s: %v", in.name, f.Name, err)
			}
			r, err := s.Run(t.Context(), new(query.Query))
			if err == nil && in.name != "empty" && len(r.Diags) == 0 && len(r.Runs) == 0 {
				t.Errorf("%s as %s: nothing is said about %+v", in.name, f.Name, r.Inputs)
			}
			s.Close()
		}
	}
}
