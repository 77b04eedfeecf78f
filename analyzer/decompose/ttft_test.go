package decompose

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// fields are the columns of a row, by name, in one unit.
type fields map[string]int64

// columns of fields that are stamps.
var stampNames = map[string]int{
	"received": atStart, "sent": atStart, "dispatched": atDispatch, "queued": atQueued,
	"admitted": atAdmitted, "prefill_end": atPrefillEnd, "first_token": atFirst,
}

// row returns a row of fields: stamps, d_ columns by stage, and merged ones as
// a+b.
func row(t testing.TB, side trace.Side, f fields) Row {
	t.Helper()
	r := blank(side)
	merged := 0
	for name, v := range f {
		if at, ok := stampNames[name]; ok {
			r.Stamps[at] = v
			continue
		}
		set, ok := ParseSet(name)
		switch {
		case !ok:
			t.Fatalf("%q is no column", name)
		case set.Len() > 1:
			r.Merged[merged] = Entry{Leaves: set, NS: v, From: Unknown, To: Unknown}
			merged++
		default:
			for l := range Leaf(Leaves) {
				if set.Has(l) {
					r.Own[l] = v
				}
			}
		}
	}
	return r
}

func blank(side trace.Side) Row {
	r := Row{Side: side, Step: 1, Grain: 1}
	for i := range r.Stamps {
		r.Stamps[i] = Unknown
	}
	for i := range r.Own {
		r.Own[i] = Unknown
	}
	for i := range r.Memo {
		r.Memo[i] = Unknown
	}
	return r
}

// print writes parts as the worked examples do.
func (p *Parts) print() string {
	var parts []string
	for _, e := range p.Entries() {
		parts = append(parts, fmt.Sprintf("%s %d", e.Leaves, e.NS))
	}
	if r := p.Residual(); r != 0 {
		parts = append(parts, fmt.Sprintf("residual %d", r))
	}
	return fmt.Sprintf("%d = %s", p.Total, strings.Join(parts, " + "))
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

// single takes a lone row apart and prints it.
func single(t *testing.T, r Row) (*Parts, string) {
	t.Helper()
	p := new(Parts)
	if !r.Parts(p) {
		t.Fatalf("there is no total: %+v", r)
	}
	return p, p.print()
}

func TestP28QueuedIsNotArrived(t *testing.T) {
	p, got := single(t, row(t, trace.Server, fields{"received": 0, "queued": 250, "admitted": 260, "first_token": 400}))
	equal(t, "entries", got, "400 = input+ingress 250 + queue 10 + prefill+egress 140")
	if !p.Measured || p.Open != 0 {
		t.Errorf("measured %t, %d open", p.Measured, p.Open)
	}
	low, high := p.Bounds(Of(Ingress, Queue, DecodeQueue))
	if low != 10 || high != 260 {
		t.Errorf("t_queue lies in [%d, %d], not in [10, 260]", low, high)
	}
	if low, high := p.Bounds(Of(Input)); low != 0 || high != 250 {
		t.Errorf("t_input_processing lies in [%d, %d]: the entry of several terms is in none", low, high)
	}
	for l, want := range map[Leaf]State{Input: Merged, Ingress: Merged, Queue: Value, Prefill: Merged, KVTransfer: Absent, DecodeQueue: Absent, FirstDecode: Absent} {
		if state, _ := p.State(l); state != want {
			t.Errorf("%s is %s, not %s", l, state, want)
		}
	}
}

// TestSGLangG4 is the row that the reader makes of a record of generation 4:
// stamps and the time in the queue. Microseconds.
func TestSGLangG4(t *testing.T) {
	p, got := single(t, row(t, trace.Server, fields{
		"received": 480900, "dispatched": 483900, "queued": 487400 - 410, "admitted": 487400, "prefill_end": 560100, "first_token": 563300, "queue": 410,
	}))
	equal(t, "entries", got, "82400 = input 3000 + ingress 3090 + queue 410 + prefill 72700 + egress 3200")
	if !p.Measured || p.Open != 0 {
		t.Error("all boundaries are stamps of one clock")
	}
}

// TestRequestStateStats are the rows of vLLM's statistics: the server's, on the
// wall clock, with durations of the engine's clock, and the engine's.
func TestRequestStateStats(t *testing.T) {
	const arrival, queued, scheduled, first = 1766124576294040700, 1438012756330690, 1438012756344277, 1438012804867502
	const latency = 54238796
	engine := row(t, trace.Engine, fields{"queued": queued, "admitted": scheduled, "first_token": first})
	_, got := single(t, engine)
	equal(t, "engine", got, "48536812 = queue 13587 + prefill 48523225")
	want := "54238796 = queue 13587 + prefill 48523225 + input+ingress+egress 5701984"
	own := row(t, trace.Server, fields{"received": arrival, "first_token": arrival + latency, "queue": scheduled - queued, "prefill": first - scheduled})
	p, got := single(t, own)
	equal(t, "server", got, want)
	if p.Measured {
		t.Error("a difference of durations has a place")
	}
	rows := []Row{row(t, trace.Server, fields{"received": arrival, "first_token": arrival + latency}), engine}
	side, ok := TTFT(rows, p)
	equal(t, "two rows", p.print(), want)
	if side != trace.Server || !ok {
		t.Errorf("the total is of side %d, %t", side, ok)
	}
}

// TestV0SpanBeginsBehindInput: the reader gives the V0 engine's account of all
// that it measured, and a stamp of the admission.
func TestV0SpanBeginsBehindInput(t *testing.T) {
	p, got := single(t, row(t, trace.Server, fields{"received": 1000, "admitted": 1260, "first_token": 1400, "ingress+queue": 260, "prefill+egress": 140}))
	equal(t, "entries", got, "400 = ingress+queue 260 + prefill+egress 140")
	state, why := p.State(Input)
	if state != Null || why != metric.OutsideTotal || p.MayContain() != 0 {
		t.Errorf("input is %s (%s), the residual may contain %s", state, why, p.MayContain())
	}
}

func TestP55TotalIsNotTheSumOfNodes(t *testing.T) {
	rows := []Row{
		row(t, trace.Proxy, fields{"received": 0, "first_token": 460, "proxy": 10}),
		row(t, trace.Prefill, fields{"prefill": 300}),
		row(t, trace.Decode, fields{"kv_transfer": 80, "decode_queue": 50, "first_decode": 20}),
	}
	var p Parts
	side, ok := TTFT(rows, &p)
	if side != trace.Proxy || !ok {
		t.Fatalf("the total is of side %d, %t", side, ok)
	}
	equal(t, "entries", p.print(), "460 = proxy 10 + prefill 300 + kv_transfer 80 + decode_queue 50 + first_decode 20")
	want := map[string]int64{"t_queue": 50, "t_prefill_compute": 300, "t_first_decode_step": 100, "t_framework_overhead": 10}
	for _, term := range Terms {
		low, high := p.Bounds(term.Leaves)
		if v, ok := want[term.Name]; ok && (low != v || high != v) {
			t.Errorf("%s lies in [%d, %d], not at %d", term.Name, low, high, v)
		}
	}
}

// TestVLLMNodesInSequence: spans of both nodes, each with a queue, a prefill and
// a rest of its own. The decode node's queue ends when the KV cache is there, and
// its prefill is the first forward pass.
func TestVLLMNodesInSequence(t *testing.T) {
	span := func(side trace.Side, start, queue, prefill, rest int64) Row {
		return row(t, side, fields{"received": start, "first_token": start + queue + prefill + rest, "queue": queue, "prefill": prefill, "input+ingress+egress": rest})
	}
	rows := []Row{
		row(t, trace.Client, fields{"sent": 0, "first_token": 500}),
		span(trace.Prefill, 1e9, 30, 300, 12),
		span(trace.Decode, 2e9, 90, 20, 8),
	}
	var p Parts
	side, _ := TTFT(rows, &p)
	equal(t, "entries", p.print(), "500 = queue 30 + prefill 300 + kv_transfer+decode_queue 90 + first_decode 20 + input+ingress+egress 20 + residual 40")
	if want := Of(Network, Client, Proxy); side != trace.Client || p.MayContain() != want {
		t.Errorf("side %d; the residual may contain %s, not %s", side, p.MayContain(), want)
	}
}

// TestDisaggregatedSGLang: both nodes work at the same time, and what the decode
// node calls the transfer is its wait for the other one.
func TestDisaggregatedSGLang(t *testing.T) {
	decode := row(t, trace.Decode, fields{
		"received": 5000, "queued": 5000, "admitted": 5421, "first_token": 5421,
		"decode_queue": 9 + 11 + 1, "queue+prefill+kv_transfer": 400,
	})
	decode.Carried = true
	prefill := row(t, trace.Prefill, fields{"received": 700, "queued": 718, "admitted": 748, "queue": 30, "prefill+kv_transfer": 365})
	prefill.Carried = true
	var p Parts
	side, _ := TTFT([]Row{prefill, decode}, &p)
	equal(t, "entries", p.print(), "421 = queue 30 + prefill+kv_transfer 365 + decode_queue 21 + residual 5")
	if p.Memo[Bootstrap] != 18 || side != trace.Decode {
		t.Errorf("bootstrap %d, side %d", p.Memo[Bootstrap], side)
	}
	if state, _ := p.State(FirstDecode); state != Absent {
		t.Errorf("first_decode is %s: the first token comes with the KV cache", state)
	}
	lone, got := single(t, decode)
	equal(t, "decode node alone", got, "421 = queue+prefill+kv_transfer 400 + decode_queue 21")
	if state, why := lone.State(Egress); state != Null || why != metric.OutsideTotal {
		t.Errorf("egress is %s (%s)", state, why)
	}
	split := row(t, trace.Prefill, fields{"received": 700, "queued": 718, "admitted": 748, "prefill_end": 1048, "queue": 30, "prefill+kv_transfer": 365})
	TTFT([]Row{split, decode}, &p)
	equal(t, "split by the end of the prefill", p.print(), "421 = queue 30 + prefill 300 + kv_transfer 65 + decode_queue 21 + residual 5")
	early := row(t, trace.Prefill, fields{"queue": 80, "prefill+kv_transfer": 365})
	TTFT([]Row{early, decode}, &p)
	equal(t, "a prefill node that started earlier", p.print(), "421 = queue 80 + prefill+kv_transfer 365 + decode_queue 21 + residual -45")
}

func TestClientJoinedToServer(t *testing.T) {
	rows := []Row{
		row(t, trace.Client, fields{"sent": 10, "first_token": 76610}),
		row(t, trace.Server, fields{"received": 1e9, "first_token": 1e9 + 70900, "queue": 6, "prefill": 66400, "input+ingress+egress": 4494}),
	}
	var p Parts
	side, ok := TTFT(rows, &p)
	equal(t, "entries", p.print(), "76600 = network+client 5700 + queue 6 + prefill 66400 + input+ingress+egress 4494")
	if side != trace.Client || !ok || p.MayContain() != 0 {
		t.Errorf("side %d, %t, the residual may contain %s", side, ok, p.MayContain())
	}
	side, _ = TTFT(rows[1:], &p)
	equal(t, "the server's own", p.print(), "70900 = queue 6 + prefill 66400 + input+ingress+egress 4494")
	if side != trace.Server {
		t.Errorf("side %d", side)
	}
}

// TestGatewayBetween: each side's total has a part over that of the next one in.
func TestGatewayBetween(t *testing.T) {
	rows := []Row{
		row(t, trace.Server, fields{"received": 0, "queued": 4, "admitted": 9, "prefill_end": 89, "first_token": 90}),
		row(t, trace.Proxy, fields{"received": 0, "first_token": 97}),
		row(t, trace.Client, fields{"sent": 0, "first_token": 120}),
	}
	var p Parts
	TTFT(rows, &p)
	equal(t, "entries", p.print(), "120 = network+client 23 + proxy 7 + input+ingress 4 + queue 5 + prefill 80 + egress 1")
	TTFT(rows[1:], &p)
	equal(t, "without the server", p.print(), "120 = network+client 23 + residual 97")
}

func TestClientAloneIsResidual(t *testing.T) {
	p, got := single(t, row(t, trace.Client, fields{"sent": 100, "first_token": 400}))
	equal(t, "entries", got, "300 = residual 300")
	if !p.Measured || p.Open != 300 || p.MayContain() != everything || p.Signature.String() != "" {
		t.Errorf("%+v", p)
	}
	p, got = single(t, row(t, trace.Client, fields{"sent": 0, "queued": 250, "admitted": 260, "prefill_end": 390, "first_token": 400}))
	equal(t, "stamps inside of the server", got, "400 = queue 10 + prefill 130 + residual 260")
	if !p.Measured || p.Open != 260 {
		t.Errorf("measured %t, %d open", p.Measured, p.Open)
	}
}

// TestNothingIsClamped: boundaries out of order stay where they are.
func TestNothingIsClamped(t *testing.T) {
	p, got := single(t, row(t, trace.Server, fields{"received": 0, "dispatched": 30, "queued": 20, "admitted": 60, "prefill_end": 110, "first_token": 100}))
	equal(t, "entries", got, "100 = input 30 + ingress -10 + queue 40 + prefill 50 + egress -10")
	if p.Measured {
		t.Error("they are no intervals in order")
	}
	_, got = single(t, row(t, trace.Server, fields{"received": 0, "first_token": 100, "queue": 70, "prefill": 60}))
	equal(t, "durations longer than the total", got, "100 = queue 70 + prefill 60 + input+ingress+egress -30")
}

// TestSourceGoesBeforeStamps: where the two differ the difference is residual.
func TestSourceGoesBeforeStamps(t *testing.T) {
	p, got := single(t, row(t, trace.Server, fields{
		"received": 0, "dispatched": 10, "queued": 15, "admitted": 40, "prefill_end": 90, "first_token": 100, "queue": 22,
	}))
	equal(t, "entries", got, "100 = input 10 + ingress 5 + queue 22 + prefill 50 + egress 10 + residual 3")
	if p.Measured {
		t.Error("a duration has no place")
	}
	_, got = single(t, row(t, trace.Server, fields{"received": 0, "dispatched": 10, "first_token": 100, "queue": 22, "ingress+prefill+egress": 60}))
	equal(t, "a merged entry around another", got, "100 = input 10 + queue 22 + ingress+prefill+egress 60 + residual 8")
	_, got = single(t, row(t, trace.Server, fields{"received": 0, "queued": 15, "first_token": 100, "input+ingress+egress": 27}))
	equal(t, "a boundary inside of a merged entry", got, "100 = input+ingress 15 + queue+prefill 73 + egress 12")
	_, got = single(t, row(t, trace.Server, fields{"received": 0, "dispatched": 40, "first_token": 100, "input+ingress": 50}))
	equal(t, "a boundary that splits a merged entry", got, "100 = input 40 + ingress 10 + queue+prefill+egress 50")
	_, got = single(t, row(t, trace.Server, fields{"received": 0, "admitted": 40, "first_token": 100, "queue+prefill": 50}))
	equal(t, "a boundary that nothing fits", got, "100 = queue+prefill 50 + input+ingress+egress 50")
}

func TestCoarseStampsTellNothing(t *testing.T) {
	r := row(t, trace.Server, fields{"received": 0, "queued": 0, "admitted": 3e6, "first_token": 3e6})
	r.Step = 1e9
	p, got := single(t, r)
	equal(t, "entries", got, "3000000 = residual 3000000")
	if _, why := p.State(Queue); why != metric.Resolution || !p.MayContain().Has(Queue) {
		t.Errorf("queue is null(%s), the residual may contain %s", why, p.MayContain())
	}
}

// TestOtherClock: a stamp of another clock is none.
func TestOtherClock(t *testing.T) {
	_, got := single(t, row(t, trace.Server, fields{"received": 1764428000e9, "queued": 812e9, "first_token": 1764428000e9 + 400}))
	equal(t, "entries", got, "400 = input+ingress+queue+prefill+egress 400")
}

// TestEngineWithoutStamps: stages that follow one another make the total.
func TestEngineWithoutStamps(t *testing.T) {
	_, got := single(t, row(t, trace.Engine, fields{"queue": 5, "prefill": 95}))
	equal(t, "entries", got, "100 = queue 5 + prefill 95")
	var p Parts
	r := row(t, trace.Engine, fields{"queue": 5})
	if r.Parts(&p) {
		t.Error("a queue alone is a total")
	}
}

// TestResolutions: an entry is as fine as the coarsest of what it is made of.
func TestResolutions(t *testing.T) {
	r := row(t, trace.Server, fields{"received": 0, "queued": 3e6, "admitted": 5e6, "first_token": 90e6, "queue": 2e6})
	r.Step, r.Grain = 1e6, 1e4
	p, _ := single(t, r)
	for i, want := range []int64{1e6, 1e4, 1e6} { // input+ingress, queue, prefill+egress
		if got := p.Values[i].Step; got != want {
			t.Errorf("%s resolves %d, not %d", p.Values[i].Leaves, got, want)
		}
	}
	client := row(t, trace.Client, fields{"sent": 0, "first_token": 100e6})
	client.Step = 256
	TTFT([]Row{client, r}, p)
	if got := p.Values[0].Step; p.Values[0].Leaves != Of(Network, Client) || got != 1e6 {
		t.Errorf("%s resolves %d: the server's total is coarser", p.Values[0].Leaves, got)
	}
}
