package breakdown

import (
	"fmt"
	"math"
	"math/big"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// stages are the columns of the stages of a request, in µs.
type stages map[trace.Col]int64

// staged makes a batch of requests of a server, by their stamps and durations.
func staged(meta *trace.RunMeta, rows ...stages) *trace.Batch {
	b := trace.NewBuilder(trace.Requests)
	for _, r := range rows {
		if _, ok := r[trace.SideCol]; !ok {
			b.Code(trace.SideCol, int32(trace.Server))
		}
		for c, v := range r {
			switch f := trace.Requests.Fields[c]; {
			case c == trace.JoinGroup:
				b.Text(c, []byte("room"))
			case c == trace.MergedLeaves:
				b.Dict(c, []byte(mergedSets[v]))
			case f.Type == trace.Dict:
				b.Code(c, int32(v))
			case f.Type == trace.Bool:
				b.Bool(c, v != 0)
			default:
				b.Int(c, v*1000)
			}
		}
		b.EndRow()
	}
	return b.Take(meta, "stages.jsonl")
}

func partsOf(t *testing.T, rows ...stages) []report.Decomposition {
	t.Helper()
	return kerneltest.Run(t, []kernel.Kernel{New(metric.Default)}, &query.Query{}, []kerneltest.View{{B: staged(kerneltest.WallMeta(), rows...)}}, kerneltest.Whole).Cell(0, -1, kernel.NoWindow).Decompositions
}

// shape prints a table in short, with means in µs.
func shape(b *report.Breakdown) string {
	var parts []string
	for _, e := range b.Entries {
		parts = append(parts, fmt.Sprintf("%s %g", strings.Join(e.Leaves, "+"), e.Mean.V/1000))
	}
	return fmt.Sprintf("%d× %g = %s + residual %g", b.N, b.Total.V/1000, strings.Join(parts, " + "), b.Residual.Mean.V/1000)
}

// g4 is the worked example of SGLang's newest records, with the queue scaled.
func g4(at, queue int64) stages {
	return stages{
		trace.Received: at + 480900, trace.Dispatched: at + 483900, trace.Queued: at + 487400 - 410, trace.Admitted: at + 487400 + queue - 410,
		trace.DQueue: queue, trace.PrefillEnd: at + 560100 + queue - 410, trace.FirstToken: at + 563300 + queue - 410,
	}
}

func TestDecompositionOfG4(t *testing.T) {
	list := partsOf(t, g4(0, 410), g4(1000, 410+300))
	if len(list) != 1 || list[0].Of != "ttft" || list[0].Side != "server" || list[0].N != 2 || len(list[0].Tables) != 1 {
		t.Fatalf("%+v", list)
	}
	b := &list[0].Tables[0]
	if got, want := shape(b), "2× 82550 = input 3000 + ingress 3090 + queue 560 + prefill 72700 + egress 3200 + residual 0"; got != want {
		t.Errorf("got %s\nwant %s", got, want)
	}
	if b.Residual.Measured != 2 || len(b.Residual.MayContain) != 0 {
		t.Errorf("residual %+v", b.Residual)
	}
	terms := map[string]float64{"t_queue": 3650, "t_input_processing": 3000, "t_prefill_compute": 72700, "t_framework_overhead": 3200}
	for _, term := range b.Terms {
		if want, ok := terms[term.Name]; !ok || term.Mean.V != want*1000 || term.Low != term.High {
			t.Errorf("%+v", term)
		}
		delete(terms, term.Name)
	}
	if len(terms) > 0 {
		t.Errorf("there is no %v", terms)
	}
}

// TestSignaturesAreNotMixed: requests that lack a stage have a table of their
// own, so that means add up.
func TestSignaturesAreNotMixed(t *testing.T) {
	short := stages{trace.Received: 0, trace.Queued: 250, trace.Admitted: 260, trace.FirstToken: 400}
	list := partsOf(t, g4(0, 410), short, g4(0, 410), stages{trace.Received: 0, trace.FirstToken: 90, trace.DQueue: 100})
	if len(list) != 1 || list[0].N != 4 {
		t.Fatalf("%+v", list)
	}
	want := []string{
		"2× 82400 = input 3000 + ingress 3090 + queue 410 + prefill 72700 + egress 3200 + residual 0",
		"1× 400 = input+ingress 250 + queue 10 + prefill+egress 140 + residual 0",
		"1× 90 = queue 100 + input+ingress+prefill+egress -10 + residual 0",
	}
	for i := range list[0].Tables {
		if got := shape(&list[0].Tables[i]); i >= len(want) || got != want[i] {
			t.Errorf("table %d is %s", i, got)
		}
	}
	b := &list[0].Tables[1]
	for _, term := range b.Terms {
		if term.Name == "t_queue" && (term.Mean.Known || term.Mean.Reason != "not_separable" || term.Low.V != 10e3 || term.High.V != 260e3) {
			t.Errorf("%+v", term)
		}
	}
	if e := list[0].Tables[2].Entries[1]; e.Negative != 1 || e.Reason != "order" || e.Mean.V != -10e3 {
		t.Errorf("a negative part is %+v", e)
	}
}

// TestTailsAreOfTheCohort: the parts of the slowest are the means of those at or
// above the percentile of all.
func TestTailsAreOfTheCohort(t *testing.T) {
	var rows []stages
	for i := range int64(100) { // queue 1 … 100: the total is queue + 9
		rows = append(rows, stages{trace.Received: 0, trace.Queued: 0, trace.Admitted: i + 1, trace.PrefillEnd: i + 10, trace.FirstToken: i + 10})
	}
	tails := partsOf(t, rows...)[0].Tables[0].Tails
	if len(tails) != 2 {
		t.Fatalf("%+v", tails)
	}
	for i, want := range []struct {
		rank        string
		from        float64
		n           int64
		total, part float64
	}{{"0.9", 10 + 89.1, 10, 104.5, 95.5}, {"0.99", 10 + 98.01, 1, 109, 100}} {
		x := tails[i]
		if x.Rank != want.rank || math.Abs(x.From.V-want.from*1000) > 1e-6 || x.N != want.n || x.Total.V != want.total*1000 || x.Entries[1].V != want.part*1000 {
			t.Errorf("%+v, want %+v", x, want)
		}
	}
}

// TestCensored: requests that ended before their first token would have had a
// longer TTFT than they lived; those that fail have none.
func TestCensored(t *testing.T) {
	rows := []stages{
		{trace.StatusCol: int64(trace.Aborted), trace.Received: 0}, {trace.StatusCol: int64(trace.Open), trace.Received: 0},
		{trace.StatusCol: int64(trace.Aborted), trace.Received: 0, trace.FirstToken: 5}, {trace.StatusCol: int64(trace.Failed), trace.Received: 0},
	}
	for i := range int64(8) {
		rows = append(rows, stages{trace.Received: 0, trace.Admitted: 1, trace.FirstToken: 10 * (i + 1)})
	}
	d := partsOf(t, rows...)[0]
	if d.N != 8 || d.Censored != 2 || d.Excluded["aborted"] != 2 || d.Excluded["open"] != 1 || d.Excluded["failed"] != 1 {
		t.Errorf("n %d, censored %d of %v", d.N, d.Censored, d.Excluded)
	}
	// Of 10 totals the median lies between the 5th and the 6th, p90 between the 9th and 10th.
	if v := d.Late["0.5"]; v.V != 55e3 {
		t.Errorf("the median with them is %+v", v)
	}
	if v := d.Late["0.9"]; v.Known || v.Reason != "unbounded" {
		t.Errorf("p90 with them is %+v", v)
	}
}

// TestPartsOfOtherSides: where the server gives no total its engine may, and a
// pure client tells nothing of stages.
func TestPartsOfOtherSides(t *testing.T) {
	whole := g4(0, 410)
	whole[trace.Stream] = 0
	list := partsOf(t, whole)
	if len(list) != 1 || list[0].Side != "engine" || shape(&list[0].Tables[0]) != "1× 73110 = queue 410 + prefill 72700 + residual 0" {
		t.Errorf("not streamed: %+v", list)
	}
	client := stages{trace.SideCol: int64(trace.Client), trace.Sent: 0, trace.FirstToken: 400}
	list = partsOf(t, client)
	if len(list) != 1 || list[0].Side != "client" || list[0].Tells() || shape(&list[0].Tables[0]) != "1× 400 =  + residual 400" {
		t.Errorf("client: %+v", list)
	}
	list = partsOf(t, client, g4(0, 410))
	if len(list) != 2 || list[0].Side != "server" || list[1].Side != "client" {
		t.Errorf("both: %+v", list)
	}
	engine := stages{trace.SideCol: int64(trace.Engine), trace.Queued: 0, trace.Admitted: 40, trace.FirstToken: 100}
	if list = partsOf(t, client, engine); len(list) != 2 || list[1].Side != "engine" {
		t.Errorf("client and engine: %+v", list)
	}
	if list = partsOf(t, g4(0, 410), engine); len(list) != 1 {
		t.Errorf("server and engine: %+v", list)
	}
}

// TestJoinedSides: with what other sides tell of the same requests, the client's
// total is divided too, and the nodes of a disaggregated deployment are one.
func TestJoinedSides(t *testing.T) {
	linked := func(rows ...stages) []report.Decomposition {
		for _, r := range rows {
			r[trace.JoinGroup] = 0
		}
		v := kerneltest.View{B: staged(&trace.RunMeta{Format: "test", Engine: "sglang"}, rows...)}.Of()
		v.Links = join.Link([]join.Part{{Batch: v.Batch}}, join.Options{})
		s := New(metric.Default).New(&query.Query{}, &kernel.Facts{})
		s.Update(v)
		out := kerneltest.NewSink()
		s.Finish(out)
		return out.Cell(0, -1, kernel.NoWindow).Decompositions
	}
	check := func(what string, list []report.Decomposition, want ...string) {
		t.Helper()
		if len(list) != len(want) {
			t.Fatalf("%s: %d decompositions, not %d", what, len(list), len(want))
		}
		for i := range list {
			if got := strings.TrimSpace(list[i].Side + " " + list[i].Label + " " + shape(&list[i].Tables[0])); got != want[i] {
				t.Errorf("%s: got %s\nwant %s", what, got, want[i])
			}
		}
	}
	client := stages{trace.SideCol: int64(trace.Client), trace.Sent: 7, trace.FirstToken: 76607}
	server := stages{trace.Received: 1000, trace.FirstToken: 71900, trace.DQueue: 6, trace.DPrefill: 66400}
	engine := stages{trace.SideCol: int64(trace.Engine), trace.Queued: 50, trace.Admitted: 56, trace.FirstToken: 66456}
	want := []string{
		"server  1× 70900 = queue 6 + prefill 66400 + input+ingress+egress 4494 + residual 0",
		"client  1× 76600 = network+client 5700 + queue 6 + prefill 66400 + input+ingress+egress 4494 + residual 0",
	}
	check("client and server", linked(client, server), want...)
	check("client, engine and a bare server", linked(engine, client, stages{trace.Received: 1000, trace.FirstToken: 71900}), want...)
	decode := stages{trace.SideCol: int64(trace.Decode), trace.Queued: 0, trace.Admitted: 421, trace.FirstToken: 421,
		trace.DDecodeQueue: 21, trace.MergedLeaves: 0, trace.DMerged: 400}
	prefill := stages{trace.SideCol: int64(trace.Prefill), trace.Received: 700, trace.Queued: 718, trace.Admitted: 748, trace.DQueue: 30, trace.MergedLeaves: 1, trace.DMerged: 365}
	check("nodes", linked(prefill, decode), "decode  1× 421 = queue 30 + prefill+kv_transfer 365 + decode_queue 21 + residual 5")
	check("a node", linked(decode), "decode node-level figures 1× 421 = queue+prefill+kv_transfer 400 + decode_queue 21 + residual 0")
}

// mergedSets are the sets of stages that tests name by their index.
var mergedSets = []string{"queue+prefill+kv_transfer", "prefill+kv_transfer"}

// randomStages is a request with any of its stamps and durations.
func randomStages(r *rand.Rand) stages {
	s := stages{trace.StatusCol: int64([]trace.Status{0, 0, 0, 0, 1, 2, 3, 4, 5}[r.IntN(9)])}
	at := r.Int64N(20e6)
	for _, c := range []trace.Col{trace.Received, trace.Dispatched, trace.Queued, trace.Admitted, trace.PrefillEnd, trace.FirstToken} {
		if r.IntN(3) > 0 {
			s[c] = at
		}
		at += r.Int64N(1e5) - 5e3
	}
	for _, c := range []trace.Col{trace.DInput, trace.DQueue, trace.DPrefill, trace.DEgress, trace.DMM, trace.DClientWait} {
		if r.IntN(4) == 0 {
			s[c] = r.Int64N(1e5) - 1e3
		}
	}
	if r.IntN(9) == 0 {
		s[trace.SideCol] = r.Int64N(6)
	}
	return s
}

// TestMeansAddUp: in every cell, whatever the rows, sums of entries and residual
// are the sum of totals, exactly; tables hold all requests that have a total, and
// those without are counted by reason.
func TestMeansAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(12, 1))
	for range 8 {
		var views []kerneltest.View
		for range 12 {
			var rows []stages
			v := kerneltest.View{}
			for range 1 + r.IntN(40) {
				rows = append(rows, randomStages(r))
				v.Group = append(v.Group, int32(r.IntN(4)-1))
			}
			v.B = staged(kerneltest.WallMeta(), rows...).Clone(true)
			views = append(views, v)
		}
		q := &query.Query{By: []string{"tenant"}, Window: 5e9}
		got := kerneltest.Run(t, []kernel.Kernel{New(metric.Default)}, q, views, kerneltest.Whole)
		checked := 0
		for _, c := range got.Cells {
			for i := range c.Decompositions {
				checked += checkSums(t, &c.Decompositions[i])
			}
		}
		if checked < 20 {
			t.Errorf("%d tables", checked)
		}
		for range 3 {
			if again := kerneltest.Run(t, []kernel.Kernel{New(metric.Default)}, q, views, kerneltest.Shuffled(t, r)).Text(t); again != got.Text(t) {
				t.Fatal(kerneltest.FirstDifference(again, got.Text(t)))
			}
		}
	}
}

func checkSums(t *testing.T, d *report.Decomposition) (tables int) {
	t.Helper()
	n, all := int64(0), new(big.Int)
	for i := range d.Tables {
		b := &d.Tables[i]
		sum := b.Residual.Sum.Int
		for _, e := range b.Entries {
			sum += e.Sum.Int
		}
		if sum != b.Sum.Int {
			t.Errorf("%d, not %d: %s", sum, b.Sum.Int, b.Signature)
		}
		n += b.N
		all.Add(all, big.NewInt(b.Sum.Int))
		mean, _ := new(big.Rat).SetFrac64(b.Sum.Int, b.N).Float64()
		if b.Total.V != mean {
			t.Errorf("the mean is %v, not %v", b.Total.V, mean)
		}
		for _, term := range b.Terms {
			if term.Low.V > term.High.V || term.Mean.Known && (term.Mean.V != term.Low.V || term.Mean.V != term.High.V) {
				t.Errorf("%+v", term)
			}
		}
	}
	if mean, _ := new(big.Rat).SetFrac(all, big.NewInt(n)).Float64(); n != d.N || d.Total.V != mean {
		t.Errorf("%d of %d in tables, mean %v of %v", n, d.N, mean, d.Total.V)
	}
	return len(d.Tables)
}
