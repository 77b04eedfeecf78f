package table_test

import (
	"errors"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// export returns the rows of a table made from the given batches.
func export(t *testing.T, tab *table.Table, batches ...*trace.Batch) []tabletest.Row {
	t.Helper()
	var rows []tabletest.Row
	for _, b := range batches {
		if err := tab.Each(b, func(out *trace.Batch) error {
			if out.Table != tab.Table {
				t.Fatal("a batch of another table")
			}
			rows = append(rows, tabletest.Rows(out)...)
			return nil
		}); err != nil {
			t.Fatal(err)
		}
	}
	return rows
}

// wallClock says whether the row's clock is a wall clock, by its text.
func wallClock(b *trace.Batch, row tabletest.Row) bool {
	if c, ok := row["clock"].(string); ok {
		return strings.HasPrefix(c, "wall")
	}
	return b.Run.Clock.Kind == trace.Wall
}

// micros is floor(ns / 1000), computed the long way.
func micros(ns int64) int64 {
	us := ns / 1000
	for us*1000 > ns {
		us--
	}
	return us
}

// TestP76RequestsColumns compares the exported requests with the model, value
// by value: every column is there, stamps exactly and as microseconds.
func TestP76RequestsColumns(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for _, nanos := range []bool{false, true} {
		tab := table.Requests(table.Options{Nanos: nanos})
		number := int64(0)
		for n := range 40 {
			clock := []trace.Clock{{Kind: trace.Wall}, {Kind: trace.Monotonic}, {Kind: trace.RequestClock}}[n%3]
			b := tabletest.Requests(r, "run", n, clock)
			want := tabletest.Rows(b)
			got := export(t, tab, b)
			if len(got) != len(want) {
				t.Fatalf("%d rows, want %d", len(got), len(want))
			}
			for i, row := range got {
				check := func(name string, want any) {
					t.Helper()
					if v, ok := row[name]; !ok || !tabletest.Equal(v, want) {
						t.Fatalf("%s is %v (there: %v), want %v", name, v, ok, want)
					}
				}
				check("row", number)
				check("run", "run")
				check("file", "run.jsonl")
				number++
				for _, f := range trace.Requests.Fields {
					v := want[i][f.Name]
					switch {
					case f.Stamp:
						check(f.Name+"_ns", v)
						ns, known := v.(int64)
						switch {
						case !known || !wallClock(b, want[i]):
							check(f.Name, nil)
						case nanos:
							check(f.Name, ns)
						default:
							check(f.Name, micros(ns))
						}
					case f.Unit == unit.Nanosecond && f.Type == trace.Int64:
						check(f.Name+"_ns", v)
					case v == nil && f.Name == "clock":
						check(f.Name, b.Run.Clock.String())
					case v == nil && f.Name == "side":
						check(f.Name, "client") // the zero Side
					default:
						check(f.Name, v)
					}
				}
			}
		}
	}
}

// TestDerived checks the durations of worked requests.
func TestDerived(t *testing.T) {
	b := trace.NewBuilder(trace.Requests)
	row := func(set func()) {
		set()
		b.EndRow()
	}
	ints := func(pairs ...int64) {
		for i := 0; i < len(pairs); i += 2 {
			b.Int(trace.Col(pairs[i]), pairs[i+1])
		}
	}
	common := func() {
		ints(int64(trace.Sent), 0, int64(trace.Received), 5, int64(trace.Queued), 7, int64(trace.FirstToken), 105,
			int64(trace.LastToken), 205, int64(trace.OutputTokens), 9)
	}
	row(common)                                                                 // client by the run's side
	row(func() { common(); b.Code(trace.SideCol, int32(trace.Server)) })        // from received
	row(func() { common(); b.Code(trace.SideCol, int32(trace.Engine)) })        // from queued: no TTFT of a user
	row(func() { common(); b.Int(trace.OutputTokens, 1) })                      // one token: no TPOT
	row(func() { common(); b.Bool(trace.Stream, false) })                       // not streamed: E2E only
	row(func() { ints(int64(trace.Sent), 0, int64(trace.OutputTokens), 9) })    // nothing came back
	row(func() { ints(int64(trace.FirstToken), 5, int64(trace.LastToken), 9) }) // start unknown
	row(func() { common(); b.Code(trace.StatusCol, int32(trace.Failed)) })      // in no latency
	rows := export(t, table.Requests(table.Options{}), b.Take(&trace.RunMeta{Label: "r", Side: trace.Client}, "f"))
	for i, want := range [][3]any{
		{int64(105), int64(205), 12.5}, {int64(100), int64(200), 12.5}, {nil, int64(198), 12.5},
		{int64(105), int64(205), nil}, {nil, int64(205), nil}, {nil, nil, nil}, {nil, nil, nil}, {nil, nil, nil},
	} {
		if got := [3]any{rows[i]["ttft_ns"], rows[i]["e2e_ns"], rows[i]["tpot_ns"]}; got != want {
			t.Errorf("row %d: ttft, e2e, tpot %v, want %v", i, got, want)
		}
	}
}

// naiveTokens expands the lists of a batch the plain way.
func naiveTokens(b *trace.Batch, row int64) []tabletest.Row {
	var out []tabletest.Row
	for _, r := range tabletest.Rows(b) {
		gaps, listed := r["chunk_gaps"].([]int64)
		sizes, sized := r["chunk_tokens"].([]int64)
		first, timed := r["first_token"].(int64)
		n := 0
		if listed && (len(gaps) > 0 || timed) {
			n = len(gaps) + 1
		} else if sized {
			n, listed = len(sizes), false
		}
		at := first
		for i := range n {
			token := tabletest.Row{"run": b.Run.Label, "request_id": r["request_id"], "request_row": row, "i": int64(i),
				"t_ns": nil, "gap_ns": nil, "tokens": nil}
			if i > 0 && listed {
				token["gap_ns"] = gaps[i-1]
				at += gaps[i-1]
			}
			if timed && (i == 0 || listed) {
				token["t_ns"] = at
			}
			if sized && i < len(sizes) {
				token["tokens"] = sizes[i]
			}
			out = append(out, token)
		}
		row++
	}
	return out
}

func TestTokensAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	tab := table.Tokens()
	row := int64(0)
	for n := range 60 {
		b := tabletest.Requests(r, "run", n, trace.Clock{})
		want := naiveTokens(b, row)
		got := export(t, tab, b)
		row += int64(n)
		compare(t, got, want)
	}
}

func compare(t *testing.T, got, want []tabletest.Row) {
	t.Helper()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		for name, v := range want[i] {
			if !tabletest.Equal(got[i][name], v) {
				t.Fatalf("row %d: %s is %v, want %v", i, name, got[i][name], v)
			}
		}
	}
}

// TestTokensOfLongResponses: responses longer than a batch, and batches that end
// inside a response.
func TestTokensOfLongResponses(t *testing.T) {
	b := trace.NewBuilder(trace.Requests)
	for i, n := range []int{70_000, 3, 65_535, 65_536, 200_000, 1} {
		if i%2 == 0 {
			b.Text(trace.RequestID, []byte{byte('a' + i)})
			b.Int(trace.FirstToken, 1000)
		}
		gaps := b.OpenList(trace.ChunkGaps)
		for j := range n {
			gaps = append(gaps, int64(j))
		}
		b.CloseList(trace.ChunkGaps, gaps)
		b.EndRow()
	}
	batch := b.Take(&trace.RunMeta{Label: "r"}, "f")
	compare(t, export(t, table.Tokens(), batch), naiveTokens(batch, 0))
}

// TestEachStops: an error of the writer ends the walk.
func TestEachStops(t *testing.T) {
	b := tabletest.Requests(rand.New(rand.NewPCG(5, 6)), "r", 50, trace.Clock{})
	broken := errors.New("disk full")
	for _, tab := range []*table.Table{table.Requests(table.Options{}), table.Rows(trace.Requests, table.Options{})} {
		if err := tab.Each(b, func(*trace.Batch) error { return broken }); err != broken {
			t.Errorf("%v", err)
		}
	}
}

// TestP80Types: names are unique and say their unit; no column has a type that
// some reader lacks.
func TestP80Types(t *testing.T) {
	for _, tab := range table.All(table.Options{}) {
		seen := map[string]bool{}
		for _, f := range tab.Fields {
			if seen[f.Name] || f.Doc == "" {
				t.Errorf("%s.%s is there twice or has no doc", tab.Name, f.Name)
			}
			seen[f.Name] = true
			if f.Type == trace.Int64 && f.Unit == unit.Nanosecond && !strings.HasSuffix(f.Name, "_ns") {
				t.Errorf("%s.%s does not name its unit", tab.Name, f.Name)
			}
			if f.Type == trace.Time && f.Unit != unit.Microsecond {
				t.Errorf("%s.%s has unit %s by default", tab.Name, f.Name, f.Unit)
			}
		}
	}
}

// TestSummary compares the summary with the report's own rows.
func TestSummary(t *testing.T) {
	rep := &report.Report{Runs: []report.Run{{Label: "a", Duration: report.Null("not_recorded"), Cell: report.Cell{
		Metrics:    map[string]report.Metric{"ttft": {N: 3, Unit: unit.Nanosecond, Mean: 1.5, Quantiles: map[string]float64{"0.5": 1}}},
		Throughput: report.Throughput{From: report.KnownInt(1764428000123456789, unit.Nanosecond)}},
		Groups:  []report.Group{{By: map[string]string{"model": "a,b=\"c\"", "tenant": ""}}},
		Windows: []report.Window{{From: 5, To: 10}},
	}}}
	rows := export(t, table.Summaries(), table.Summary(rep))
	find := func(scope, metric, stat string) tabletest.Row {
		i := slices.IndexFunc(rows, func(r tabletest.Row) bool { return r["scope"] == scope && r["metric"] == metric && r["stat"] == stat })
		if i < 0 {
			t.Fatalf("no row %s %s %s", scope, metric, stat)
		}
		return rows[i]
	}
	for _, c := range []struct {
		row    tabletest.Row
		column string
		want   any
	}{
		{find("run", "ttft", "mean"), "value", 1.5},
		{find("run", "ttft", "mean"), "value_int", nil},
		{find("run", "ttft", "mean"), "n", int64(3)},
		{find("run", "ttft", "mean"), "unit", "ns"},
		{find("run", "throughput", "from"), "value_int", int64(1764428000123456789)},
		{find("run", "throughput", "from"), "n", nil},
		{find("run", "run", "duration"), "value", nil},
		{find("run", "run", "duration"), "reason", "not_recorded"},
		{find("window", "requests", "ok"), "window_from_ns", int64(5)},
		{find("window", "requests", "ok"), "group", nil},
		{find("group", "requests", "ok"), "group", `{"model":"a,b=\"c\"","tenant":""}`},
		{find("group", "requests", "ok"), "window_to_ns", nil},
	} {
		if !tabletest.Equal(c.row[c.column], c.want) {
			t.Errorf("%s of %v is %v, want %v", c.column, c.row["metric"], c.row[c.column], c.want)
		}
	}
	n := 0
	for range rep.Tidy() {
		n++
	}
	if n != len(rows) {
		t.Errorf("%d rows, want %d", len(rows), n)
	}
}
