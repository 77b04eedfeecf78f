package analyzer

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// query parses the flags of a test query: "filter=EXPR", "by=…", …
func queryOf(t *testing.T, flags ...string) *query.Query {
	t.Helper()
	q := new(query.Query)
	for _, f := range flags {
		name, value, _ := strings.Cut(f, "=")
		var err error
		switch name {
		case "filter":
			q.Filter, err = query.ParseFilter(value)
		case "by":
			q.By, err = query.ParseBy(value)
		case "window":
			q.Window, err = query.ParseWindow(value)
		case "from":
			q.From, err = query.ParseInstant("--from", value)
		case "to":
			q.To, err = query.ParseInstant("--to", value)
		case "definition":
			q.Definition = value
		case "trim":
			q.Trim, err = query.ParseTrim(value)
		default:
			err = errors.New("no such flag")
		}
		if err != nil {
			t.Fatalf("%s: %v", f, err)
		}
	}
	return q
}

// queries is one query of every kind.
var queries = [][]string{
	nil,
	{"filter=prompt_tokens > 50 or tenant is null"},
	{"by=tenant,prompt_tokens"},
	{"window=100ns", "by=run,file"},
	{"from=+20ns", "to=+300ns"},
	{"trim=warmup=100ns", "by=tenant"},
	{"trim=warmup=7"},
	{"filter=tenant != a", "from=+1ns", "trim=warmup=3", "window=50ns", "by=tenant"},
}

// randomText is a tiny file of n lines, some of them bad.
func randomText(r *rand.Rand, n int, run string) string {
	var b strings.Builder
	for range n {
		switch r.IntN(12) {
		case 0:
			b.WriteString("broken line\n")
		case 1:
			b.WriteString("\n")
		default:
			fmt.Fprintf(&b, "tiny %s %s %d %d ", run, []string{"a", "b", "-", "c"}[r.IntN(4)], r.IntN(500), r.IntN(200))
			for i := range 1 + r.IntN(5) {
				if i > 0 {
					b.WriteByte(',')
				}
				gap := r.Int64N(300)
				if r.IntN(50) == 0 {
					gap = 1 << 40 // does not fit 32 bits
				}
				fmt.Fprint(&b, gap)
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

// TestCutsAndWorkers holds reports and exported rows to the same bytes whatever
// the workers, ranges, blocks and memory, whether a query comes first or not.
func TestCutsAndWorkers(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 7))
	list := []textFile{
		{"a/x.log", "", randomText(r, 120, "m")},
		{"b/x.log", "", randomText(r, 40, "r")},
		{"y.log", "both", "tiny w1 a 9 50 1,2\n" + randomText(r, 30, "w")},
		{"z.log", "both", randomText(r, 30, "w")},
		{"d.doc", "", "#doc\n" + randomText(r, 60, "m")},
	}
	for _, flags := range queries {
		var want, wantRows string
		for round := range 12 {
			opt := load.Options{Workers: 1 + r.IntN(4), Block: 1 + r.IntN(9)}
			cut := int64(1 + r.IntN(3000))
			if round == 0 {
				opt, cut = load.Options{}, 0
			}
			if round%3 == 1 {
				opt.Memory = 1 // lists never fit: they are read again
			}
			s := openTest(t, opt, cut, list...)
			q := queryOf(t, flags...)
			if round%4 == 3 { // another question first
				runTest(t, s, queryOf(t, "filter=prompt_tokens < 9", "by=tenant"))
			}
			rows := exported(t, s, q)
			if round%4 == 2 { // fused with reading
				s = openTest(t, opt, cut, list...)
			}
			got := jsonOf(t, runTest(t, s, q))
			if round == 0 {
				want, wantRows = got, rows
			}
			if got != want {
				t.Fatalf("%v, %+v cut %d:\n got %s\nwant %s", flags, opt, cut, got, want)
			}
			if rows != wantRows {
				t.Fatalf("%v, %+v cut %d: rows\n got %s\nwant %s", flags, opt, cut, rows, wantRows)
			}
			if again := jsonOf(t, runTest(t, s, q)); again != want {
				t.Fatalf("%v: the second answer differs:\n%s", flags, again)
			}
		}
	}
}

// exported returns the rows of q, a line each.
func exported(t *testing.T, s *Session, q *query.Query) string {
	t.Helper()
	var b strings.Builder
	err := s.Rows(t.Context(), q, true, func(batch *trace.Batch) error {
		for i := range batch.Rows {
			off, _ := batch.Ints(trace.Offset).At(i)
			gaps, _ := batch.Lists(trace.ChunkGaps).At(i)
			fmt.Fprintln(&b, batch.Run.Label, batch.File, off, gaps)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNumbers compares every kind of query with numbers worked out by hand.
func TestNumbers(t *testing.T) {
	text := "tiny m a 100 1 5,7\ntiny m b 200 3 8\ntiny m - 300 2 9\ntiny m a 450 - 2,50\n"
	f := func(want string, flags ...string) {
		t.Helper()
		s := openTest(t, load.Options{Workers: 2}, 10, textFile{"dir/x", "", text})
		if got := numbers(runTest(t, s, queryOf(t, flags...))); got != "x:"+want+"\n" {
			t.Errorf("%v:\n got %s want x:%s", flags, got, want)
		}
	}
	// The kernel sums the gaps above the smallest prompt of the selection.
	f(" n=4 sum=81")
	f(" n=2 sum=17 removed=2/0/0", "filter=prompt_tokens > 1")
	f(" n=3 sum=72 removed=1/0/0", "filter=prompt_tokens != 2 or prompt_tokens is null")
	f(" n=2 sum=17 removed=0/2/0", "from=+100ns", "to=+350ns")
	f(" n=0 sum=0 removed=0/4/0", "from=1970-01-01T00:00:00Z") // no wall clock
	f(" n=2 sum=59 removed=0/0/2 untrimmed n=4 sum=81", "trim=warmup=200ns")
	f(" n=1 sum=0 removed=0/0/3 untrimmed n=4 sum=81", "trim=warmup=3")
	f(" n=0 sum=0 removed=0/0/4 untrimmed n=4 sum=81", "trim=warmup=99")
	f(" n=1 sum=8 removed=1/1/1 untrimmed n=2 sum=20", "filter=prompt_tokens is not null", "to=+150ns", "trim=warmup=1")
	f(" n=4 sum=81 {tenant=a} n=2 sum=64 {tenant=b} n=1 sum=8 {tenant=} n=1 sum=9", "by=tenant")
	f(" n=4 sum=81 {prompt_tokens=1} n=1 sum=12 {prompt_tokens=2-3} n=2 sum=17 {prompt_tokens=} n=1 sum=52", "by=prompt_tokens")
	f(" n=4 sum=81 [0,200) n=1 sum=12 [200,400) n=2 sum=17 [400,600) n=1 sum=52", "window=200ns")
	f(" n=4 sum=81 {run=x,tenant=a} n=2 sum=64 [0,400) n=1 sum=12 [400,800) n=1 sum=52"+
		" {run=x,tenant=b} n=1 sum=8 [0,400) n=1 sum=8 {run=x,tenant=} n=1 sum=9 [0,400) n=1 sum=9", "window=400ns", "by=tenant,run")
}

func TestGroupCap(t *testing.T) {
	var b strings.Builder
	for i := range selection.MaxGroups + 10 {
		fmt.Fprintf(&b, "tiny m t%04d 1 0 1\n", i)
	}
	b.WriteString("tiny m t0500 1 0 1\ntiny m t1008 1 0 1\n")
	s := openTest(t, load.Options{}, 0, textFile{"x", "", b.String()})
	r := runTest(t, s, queryOf(t, "by=tenant"))
	groups := r.Runs[0].Groups
	if len(groups) != selection.MaxGroups {
		t.Fatalf("%d groups", len(groups))
	}
	var total int64
	for _, g := range groups {
		total += g.Requests.Total
	}
	last := groups[selection.MaxGroups-1]
	// t1008 is kept for its two requests; of the single ones the first 997 are.
	if total != selection.MaxGroups+12 || last.By["tenant"] != selection.OtherGroup || last.Requests.Total != 11 || groups[selection.MaxGroups-2].By["tenant"] != "t1008" {
		t.Errorf("%d requests, last groups %v and %v", total, groups[selection.MaxGroups-2], last)
	}
	if d := r.Diags; len(d) != 1 || d[0].Code != "groups_capped" || d[0].Count != 11 || !strings.Contains(d[0].Msg, "the 11 smallest, with 11 requests") {
		t.Errorf("diags %+v", d)
	}
}

func TestRuns(t *testing.T) {
	labels := func(list ...textFile) string {
		t.Helper()
		r := runTest(t, openTest(t, load.Options{}, 0, list...), new(query.Query))
		var out []string
		for _, run := range r.Runs {
			out = append(out, fmt.Sprintf("%s %d %s", run.Label, run.Requests.Total, run.Clock))
		}
		for _, d := range r.Diags {
			out = append(out, d.Code)
		}
		return strings.Join(out, ", ")
	}
	one, three := "tiny m a 1 1 1\n", "tiny r1 a 1 1 1\ntiny r2 a 1 1 1\ntiny r1 a 2 1 1\n"
	for _, c := range []struct {
		want string
		list []textFile
	}{
		{"x 1 monotonic", []textFile{{"dir/x", "", one}}},
		{"a/x 1 monotonic, b/x 1 monotonic", []textFile{{"dir/a/x", "", one}, {"dir/b/x", "", one}}},
		{"x#1 1 monotonic, x#2 1 monotonic", []textFile{{"x", "", one}, {"x", "", one}}},
		{"x#1 2 run, x#2 1 run", []textFile{{"x", "", three}}},
		{"both 2 wall", []textFile{{"x", "both", "tiny w a 1 1 1\n"}, {"y", "both", "tiny w a 1 1 1\n"}}},
		{"L 3 run, clock_mismatch", []textFile{{"x", "L", three}}},
		{"both 2 mixed, clock_mismatch", []textFile{{"x", "both", "tiny w a 1 1 1\n"}, {"y", "both", one}}},
		{"L 1 monotonic", []textFile{{"x", "L", one}}},
	} {
		if got := labels(c.list...); got != c.want {
			t.Errorf("got  %s\nwant %s", got, c.want)
		}
	}
}

// TestClocksOfUnitedRecords checks that kernels can tell the clocks of records
// that a label unites: they have origins of their own.
func TestClocksOfUnitedRecords(t *testing.T) {
	s := openTest(t, load.Options{}, 0, textFile{"x", "L", "tiny r1 a 1 1 1\ntiny r2 a 1 1 1\n"})
	clocks := make(map[string]bool)
	if err := s.Rows(t.Context(), new(query.Query), false, func(b *trace.Batch) error {
		clocks[b.Run.Clock.String()] = true
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if len(clocks) != 2 || !clocks["run/x@2"] || !clocks["run/x@3"] {
		t.Errorf("clocks %v", clocks)
	}
}

func TestRunWithoutRequests(t *testing.T) {
	s := openTest(t, load.Options{}, 0, textFile{"x", "", "tiny m note\ntiny m claims gaps mean 5\ntiny m claims gaps 0.99 5\n"})
	r := runTest(t, s, new(query.Query))
	run := r.Runs[0]
	m := run.Metrics["gaps"]
	if m.N != 0 || m.Reason != "no_requests" || run.Requests.Total != 0 || run.Notes[0] != "this file holds no per-request data" {
		t.Errorf("got %+v", run)
	}
	if len(run.Reported) != 2 || run.Reported[0].Value != 5 || run.Reported[0].Ours.Known || run.Reported[0].Ours.Reason != "no_requests" {
		t.Errorf("reported %+v", run.Reported)
	}
}

func TestReported(t *testing.T) {
	rows := "tiny m a 1 0 5,7\ntiny m a 2 0 8\n" // mean sum of the gaps: 10
	f := func(claim string, flags []string, wantOurs float64, wantNote string) {
		t.Helper()
		s := openTest(t, load.Options{}, 0, textFile{"x", "", rows + "tiny m claims " + claim + "\n"})
		e := tinyEngine()
		if len(flags) == 0 {
			flags = nil
		} else {
			e.Definition.Name = "other"
		}
		r, err := s.run(t.Context(), queryOf(t, flags...), e)
		if err != nil {
			t.Fatal(err)
		}
		got := r.Runs[0].Reported[0]
		if got.Ours.V != wantOurs || got.Note != wantNote {
			t.Errorf("%s: ours %+v, note %q, want %v, %q", claim, got.Ours, got.Note, wantOurs, wantNote)
		}
	}
	f("gaps mean 10", nil, 10, "")
	f("gaps mean 10.000001", nil, 10, "")
	f("gaps mean 11", nil, 10, "another definition: use --definition other to reproduce it")
	f("gaps mean 11", []string{"filter=prompt_tokens = 0"}, 10, "another cohort: the query selects a part of the requests")
	f("nothing mean 11", nil, 0, "")
}

func TestDetection(t *testing.T) {
	set := formats.NewSet(tiny, tinyDocument)
	good, bad, empty := textFile{"good", "", "tiny m a 1 1 1\n"}, textFile{"bad", "", "what is this\n"}, textFile{"none", "", ""}
	open := func(force string, named bool, list ...textFile) (*Session, error) {
		in := inputsOf(list...)
		for i := range in.List {
			in.List[i].Named = named
		}
		return Open(t.Context(), set, in, force, load.Options{})
	}
	s, err := open("", false, good, bad, empty)
	if err != nil {
		t.Fatal(err)
	}
	r := runTest(t, s, new(query.Query))
	if len(r.Runs) != 1 || len(r.Inputs) != 3 || r.Inputs[1].Format != "" || r.Inputs[0].Format != "tiny" || r.Inputs[0].Parsed != 1 {
		t.Errorf("runs %d, inputs %+v", len(r.Runs), r.Inputs)
	}
	want := "not_recognised notice bad no format recognises it (tiny: does not begin with tiny; tinydoc: does not begin with #doc)\n" +
		"not_recognised notice none the file is empty\n"
	var got string
	for _, d := range r.Diags {
		got += fmt.Sprintln(d.Code, d.Severity, d.File, d.Msg)
	}
	if got != want {
		t.Errorf("diags\n%s want\n%s", got, want)
	}
	if s, err := open("", true, good, bad); err != nil || s.set.Diags.All()[0].Severity.String() != "error" {
		t.Errorf("a named file that is not recognised: %v", err)
	}
	var e *formats.DetectError
	if _, err := open("", true, bad); !errors.As(err, &e) || !strings.Contains(e.Hint(), "--input-format") {
		t.Errorf("one unknown input: %v", err)
	}
	if _, err := open("", false, bad, empty); !errors.As(err, &e) || !strings.Contains(err.Error(), "none of the 2 inputs") {
		t.Errorf("unknown inputs: %v", err)
	}
	if _, err := open("", false); err == nil {
		t.Error("no input is no error")
	}
	if _, err := open("nope", false, good); err == nil || !strings.Contains(err.Error(), "tinydoc") {
		t.Errorf("unknown format: %v", err)
	}
	if s, err = open("tiny", false, bad); err != nil {
		t.Fatal(err)
	}
	r = runTest(t, s, new(query.Query))
	if len(r.Runs) != 0 || r.Inputs[0].Diagnosed != 1 || r.Inputs[0].Reason != "forced" || r.Diags[0].Line != 1 {
		t.Errorf("forced: %+v, %+v", r.Inputs, r.Diags)
	}
}

// endless is a kernel that always wants another pass.
type endless struct{ sums }

func (k endless) New(q *query.Query, f *kernel.Facts) kernel.State {
	return endlessState{k.sums.New(q, f).(*sumState)}
}

type endlessState struct{ *sumState }

func (s endlessState) Merge(o kernel.State) error {
	return s.sumState.Merge(o.(endlessState).sumState)
}
func (s endlessState) Next(*kernel.Facts) bool { return true }

func TestEndlessKernel(t *testing.T) {
	s := openTest(t, load.Options{}, 0, textFile{"x", "", "tiny m a 1 1 1\n"})
	e := tinyEngine()
	e.Kernels = []kernel.Kernel{endless{}}
	if _, err := s.run(t.Context(), new(query.Query), e); err == nil || !strings.Contains(err.Error(), "more than 8 passes") {
		t.Errorf("got %v", err)
	}
}

func TestQueryErrors(t *testing.T) {
	s := openTest(t, load.Options{}, 0, textFile{"x", "", "tiny m a 1 1 1\n"})
	_, err := s.Run(t.Context(), queryOf(t, "from=+5s", "to=+5s"))
	var e *query.Error
	if !errors.As(err, &e) || e.Flag != "--to" {
		t.Errorf("an empty interval: %v", err)
	}
}

func TestSteadyTrim(t *testing.T) {
	s := openTest(t, load.Options{}, 0, textFile{"x", "", "tiny m a 10 0 1\ntiny m a 20 0 2\ntiny m a 30 0 4\ntiny m a 40 0 8\n"})
	e := tinyEngine()
	e.Kernels = append(e.Kernels, steady{sums{}})
	r, err := s.run(t.Context(), queryOf(t, "trim=steady"), e)
	if err != nil {
		t.Fatal(err)
	}
	if got := numbers(r); got != "x: n=2 sum=6 removed=0/0/2 untrimmed n=4 sum=15\n" {
		t.Error(got)
	}
	if _, ok := any(r.Runs[0].Untrimmed).(*report.Cell); !ok {
		t.Error("no untrimmed cell")
	}
}

// steady finds the steady window (10, 30] in any run.
type steady struct{ sums }

func (k steady) New(q *query.Query, f *kernel.Facts) kernel.State {
	return steadyState{k.sums.New(q, f).(*sumState)}
}

type steadyState struct{ *sumState }

func (s steadyState) Merge(o kernel.State) error { return s.sumState.Merge(o.(steadyState).sumState) }
func (s steadyState) Next(f *kernel.Facts) bool {
	own := &f.Runs[0]
	own.Clock, own.HasSteady, own.SteadyFrom, own.SteadyTo = trace.Monotonic.String(), true, 10, 30
	return false
}
func (s steadyState) Finish(kernel.Output) {}
