package decompose

import (
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/trace"
)

// truth is how long each stage of a request really took.
type truth [Leaves]int64

func randomTruth(r *rand.Rand) (x truth) {
	for l := range x {
		if r.IntN(5) > 0 {
			x[l] = r.Int64N(1000)
		}
	}
	return x
}

func (x *truth) of(set Set) (sum int64) {
	for l := range Leaf(Leaves) {
		if set.Has(l) {
			sum += x[l]
		}
	}
	return sum
}

// unified makes a row of the side that sees a unified engine: it knows where its
// total begins and ends, and any of the other boundaries and durations.
func (x *truth) unified(r *rand.Rand, side trace.Side) Row {
	row := blank(side)
	start := r.Int64N(1e6)
	at, stamps := start, [boundaries]int64{atStart: start}
	for i, l := range []Leaf{Input, Ingress, Queue, Prefill, Egress} {
		at += x[l]
		stamps[i+1] = at
	}
	switch side {
	case trace.Engine: // its first token is the end of the prefill
		stamps[atFirst] = stamps[atPrefillEnd]
		stamps[atStart], stamps[atDispatch] = Unknown, Unknown
	case trace.Client:
		stamps[atStart] -= x[Network]/2 + x[Proxy]/2
		stamps[atFirst] += x[Network] - x[Network]/2 + x[Client] + x[Proxy] - x[Proxy]/2
	}
	row.Stamps = stamps
	for _, i := range []int{atDispatch, atQueued, atAdmitted, atPrefillEnd} {
		if needed := side == trace.Engine && i == atQueued; !needed && r.IntN(2) == 0 {
			row.Stamps[i] = Unknown
		}
	}
	row.state(r, x, Of(Input, Ingress, Queue, Prefill, Egress))
	return row
}

// state gives the row durations of some stages, alone and merged.
func (row *Row) state(r *rand.Rand, x *truth, of Set) {
	left := of
	for k := range row.Merged {
		set := left & Set(r.IntN(int(everything)+1))
		if r.IntN(2) == 0 || set.Len() < 2 {
			continue
		}
		row.Merged[k] = Entry{Leaves: set, NS: x.of(set), From: Unknown, To: Unknown}
		if left &^= set; r.IntN(2) == 0 {
			left |= Of(Leaf(r.IntN(Leaves))) & set // stated alone too: the merged one holds it
		}
	}
	for l := range row.Own {
		if left.Has(Leaf(l)) && r.IntN(3) == 0 {
			row.Own[l] = x[l]
		}
	}
}

// check holds a decomposition against the truth: each stage is in one state,
// each entry is what its stages took, and the residual what the others did.
func (x *truth) check(t *testing.T, p *Parts, total Set, row any) {
	t.Helper()
	seen := Set(0)
	sum := int64(0)
	for i, e := range p.Entries() {
		if e.Leaves == 0 || seen&e.Leaves != 0 || p.Sets[i] != e.Leaves || e.Leaves&^total != 0 {
			t.Fatalf("entries %s of %s in %+v", p.Signature.String(), total, row)
		}
		if e.NS != x.of(e.Leaves) {
			t.Fatalf("%s took %d, not %d: %s in %+v", e.Leaves, x.of(e.Leaves), e.NS, p.print(), row)
		}
		if e.placed() && e.To-e.From != e.NS {
			t.Fatalf("%+v has another length", e)
		}
		if i > 0 && e.Leaves < p.Sets[i-1] {
			t.Fatalf("%s is not in order", p.Signature.String())
		}
		seen |= e.Leaves
		sum += e.NS
	}
	if p.Total != x.of(total) {
		t.Fatalf("the total is %d, not %d: %s %s of %+v", p.Total, x.of(total), total, p.print(), row)
	}
	if rest := p.Residual(); sum+rest != p.Total || rest != x.of(total&^seen) {
		t.Fatalf("%d is left, not %d: %s of %+v", rest, x.of(total&^seen), p.print(), row)
	}
	if p.MayContain()&^total != 0 || seen|p.MayContain()|p.Absent|p.Outside != everything || seen&(p.Absent|p.Outside) != 0 || p.Absent&p.Outside != 0 {
		t.Fatalf("states: %+v of %+v", p.Signature, row)
	}
	if p.Measured && p.Open != p.Residual() {
		t.Fatalf("%d is uncovered, the residual is %d: %+v", p.Open, p.Residual(), row)
	}
}

// covered counts the instants of [from, to) that no entry covers, one by one.
func (p *Parts) uncovered(from, to int64) (open int64) {
	for at := from; at < to; at++ {
		if !slices.ContainsFunc(p.Entries(), func(e Entry) bool { return e.From <= at && at < e.To }) {
			open++
		}
	}
	return open
}

func TestRandomRowsAgreeWithTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 7))
	measured := 0
	var p Parts
	for range 20_000 {
		x := randomTruth(r)
		side := []trace.Side{trace.Server, trace.Engine, trace.Client}[r.IntN(3)]
		row := x.unified(r, side)
		if !row.Parts(&p) {
			t.Fatalf("no total: %+v", row)
		}
		total := Of(Input, Ingress, Queue, Prefill, Egress)
		switch side {
		case trace.Engine:
			total = Of(Queue, Prefill)
		case trace.Client:
			total |= Of(Network, Client, Proxy)
			x[KVTransfer], x[DecodeQueue], x[FirstDecode] = 0, 0, 0
			total |= apart
		default: // a merged entry that has all of a span but for stages without time says that it has measured from behind them
			if p.Outside&total != 0 && x.of(p.Outside&total) == 0 {
				total &^= p.Outside
			}
		}
		if side == trace.Engine {
			total &^= p.Outside
			for _, e := range p.Entries() { // the row may merge a stage of the engine with one outside
				if e.Leaves&^total != 0 {
					total = 0
				}
			}
			if total == 0 {
				continue
			}
		}
		x.check(t, &p, total, row)
		if p.Measured && p.Total < 2000 {
			measured++
			if open := p.uncovered(row.Stamps[row.path().stamps[0]], row.Stamps[atFirst]); open != p.Residual() {
				t.Fatalf("%d instants are uncovered, the residual is %d: %+v", open, p.Residual(), row)
			}
		}
	}
	if measured < 1000 {
		t.Errorf("%d rows are of stamps alone", measured)
	}
}

// TestRandomJoinsAgreeWithTheTruth: any sides of a request, in any order, with a
// unified engine.
func TestRandomJoinsAgreeWithTheTruth(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 8))
	var p, q Parts
	for range 20_000 {
		x := randomTruth(r)
		engine := Of(Queue, Prefill)
		server := engine | Of(Input, Ingress, Egress)
		proxy := server | Of(Proxy)
		if r.IntN(2) == 0 {
			x[Proxy] = 0
		}
		outer := func(side trace.Side, total Set) Row {
			row := blank(side)
			row.Stamps[atStart] = r.Int64N(1e6)
			row.Stamps[atFirst] = row.Stamps[atStart] + x.of(total)
			return row
		}
		var rows []Row
		total, side := engine, trace.Engine
		add := func(row Row, of Set) {
			rows = append(rows, row)
			if row.Side != trace.Engine {
				total, side = of, row.Side
			}
		}
		if r.IntN(2) == 0 {
			e := x.unified(r, trace.Engine)
			e.Own, e.Merged = blank(trace.Engine).Own, [2]Entry{}
			add(e, engine)
		}
		if len(rows) == 0 || r.IntN(2) == 0 {
			add(x.unified(r, trace.Server), server)
		}
		if x[Proxy] > 0 && r.IntN(2) == 0 {
			add(outer(trace.Proxy, proxy), proxy)
		} else {
			x[Proxy] = 0
		}
		if r.IntN(2) == 0 {
			add(outer(trace.Client, proxy|Of(Network, Client)), proxy|Of(Network, Client))
		}
		r.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
		got, ok := TTFT(rows, &p)
		if got != side || !ok {
			t.Fatalf("side %d, %t of %+v", got, ok, rows)
		}
		if x.of(p.Outside&total) == 0 {
			total &^= p.Outside
		}
		total &^= p.Absent &^ apart
		if p.MayContain()&apart != 0 {
			x[KVTransfer], x[DecodeQueue], x[FirstDecode] = 0, 0, 0
			total |= apart
		}
		x.check(t, &p, total, rows)
		slices.Reverse(rows)
		if TTFT(rows, &q); q != p {
			t.Fatalf("the order of rows matters: %+v", rows)
		}
	}
}

// TestHostileRows: whatever the columns hold, the parts and the residual make
// the total, without a panic.
func TestHostileRows(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 9))
	wild := func() int64 {
		switch r.IntN(6) {
		case 0:
			return Unknown
		case 1:
			return -r.Int64N(1e9)
		case 2:
			return r.Int64() // of no clock
		case 3:
			return -1 << 63 >> r.IntN(3)
		}
		return r.Int64N(1e6)
	}
	var p Parts
	for range 50_000 {
		rows := make([]Row, 1+r.IntN(6))
		for i := range rows {
			x := blank(trace.Side(r.IntN(6)))
			x.Carried = r.IntN(2) == 0
			for k := range x.Stamps {
				x.Stamps[k] = wild()
			}
			for k := range x.Own {
				if r.IntN(3) == 0 {
					x.Own[k] = wild()
				}
			}
			for k := range x.Merged {
				if ns := wild(); ns != Unknown {
					x.Merged[k] = Entry{Leaves: Set(r.IntN(int(everything) + 1)), NS: ns, From: Unknown, To: Unknown}
				}
			}
			rows[i] = x
		}
		if _, ok := TTFT(rows, &p); !ok {
			continue
		}
		var seen Set
		sum := p.Residual()
		for i, e := range p.Entries() {
			if seen&e.Leaves != 0 || e.Leaves == 0 || i > 0 && e.Leaves < p.Sets[i-1] {
				t.Fatalf("%+v of %+v", p, rows)
			}
			seen |= e.Leaves
			sum += e.NS
			if apartBy(e.NS, 0) > 40*day {
				t.Fatalf("%s took %d: %+v", e.Leaves, e.NS, rows)
			}
		}
		if sum != p.Total {
			t.Fatalf("%d of %d: %+v", sum, p.Total, rows)
		}
		if p.Measured && p.Open != p.Residual() {
			t.Fatalf("%d uncovered of %+v", p.Open, rows)
		}
	}
}

// TestNoAllocation: taking a row apart is part of the scan over all requests.
func TestNoAllocation(t *testing.T) {
	x := truth{Input: 3, Ingress: 4, Queue: 5, Prefill: 6, Egress: 7}
	row := x.unified(rand.New(rand.NewPCG(1, 1)), trace.Server)
	rows := []Row{row, row}
	rows[1].Side = trace.Client
	var p Parts
	if n := testing.AllocsPerRun(100, func() { row.Parts(&p); TTFT(rows, &p) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
