package kernel

import (
	"math/big"

	"servescope/analyzer/decompose"
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// wayIn bounds how much of what a server's row leaves unnamed of its time to first
// token lies before the queue of its engine, whose stamps are of another clock. A
// token is seen at the server no earlier than at the engine, so the clocks differ by
// at most the least of
//
//	first token at the server − first token at the engine
//
// over the requests of a process; and {input, ingress} of a request is at most that
// + queued − received. See vLLM's RequestStateStats.
type wayIn struct {
	queued tally128 // queued at the engine less received at the server, ns
	rest   tally128 // {input, ingress, egress}, ns
}

// clocksKey is the two clocks of a server and its engine, of one process each.
type clocksKey struct {
	run  int32
	name string
}

// unnamed is the entry that is bounded.
var unnamed = decompose.Of(decompose.Input, decompose.Ingress, decompose.Egress)

// ways finds the rows of engines of a batch's requests. One goroutine uses it.
type ways struct {
	peers
	last struct { // the clocks of the row before
		own, other trace.Clock
		file       string
		name       string
	}
}

// wayIn learns from row i, whose request is taken apart as p, how the clocks of its
// server and its engine differ at least.
func (s *decompositionState) wayIn(x *batch, i int, w *row, ways *ways, c *cohort, p *decompose.Parts) {
	if x.links == nil || w.side != trace.Server || w.token == none || w.start == none {
		return
	}
	rest := int64(none)
	for _, e := range p.Entries() {
		if e.Leaves == unnamed {
			rest = e.NS
		}
	}
	if rest == none {
		return
	}
	ways.links = x.links
	for _, m := range x.links.Rows(x.first + int32(i)) {
		if x.links.Side(m) != trace.Engine || x.links.Role(m) == join.Repeats {
			continue
		}
		engine := ways.at(m)
		b, j := x.links.At(m)
		key, ok := ways.key(x, i, b, j)
		if !ok || engine.start == none || engine.token == none {
			return
		}
		off := w.token - engine.token
		if least, known := s.offsets[key]; !known || off < least {
			s.offset(key, off)
		}
		c.way(key.name).add(engine.start-w.start, rest)
		return
	}
}

// key names the clocks of row i and of row j of b. It reports false for clocks that
// are the same, or of single requests.
func (y *ways) key(x *batch, i int, b *trace.Batch, j int) (clocksKey, bool) {
	own, other := x.clockAt(i), clockOf(b, j)
	if Axis(own) == Axis(other) || own.Kind == trace.RequestClock || other.Kind == trace.RequestClock {
		return clocksKey{}, false
	}
	if l := &y.last; l.name == "" || l.own != own || l.other != other || l.file != b.File {
		l.own, l.other, l.file = own, other, b.File
		l.name = own.String() + "\x00" + other.String() + "\x00" + b.File
	}
	return clocksKey{x.index, y.last.name}, true
}

func (c *cohort) way(name string) *wayIn {
	if c.ways == nil {
		c.ways = make(map[string]*wayIn)
	}
	if c.ways[name] == nil {
		c.ways[name] = new(wayIn)
	}
	return c.ways[name]
}

func (y *wayIn) add(queued, rest int64) {
	y.queued.add(queued)
	y.rest.add(rest)
}

func (y *wayIn) merge(o *wayIn) {
	y.queued.merge(&o.queued)
	y.rest.merge(&o.rest)
}

// mergeWays adds the bounds of o.
func (c *cohort) mergeWays(o *cohort) {
	for name, y := range o.ways {
		c.way(name).merge(y)
	}
}

func (c *cohort) appendWays(dst []byte) []byte {
	dst = appendInts(dst, int64(len(c.ways)))
	for _, name := range sortedKeys(c.ways) {
		y := c.ways[name]
		dst = appendText(dst, name)
		for _, t := range [...]*tally128{&y.queued, &y.rest} {
			dst = t.appendTo(dst)
		}
	}
	return dst
}

func (c *cohort) loadWays(src *reader) {
	for n := src.count(); n > 0 && src.err == nil; n-- {
		y := c.way(src.text())
		for _, t := range [...]*tally128{&y.queued, &y.rest} {
			t.load(src)
		}
	}
}

// bounds adds the bounds to a table of a run. Clocks whose difference changed, as
// that of a host which was started anew, tell nothing: a request would have been
// queued before it was received.
func (s *decompositionState) bounds(run int32, c *cohort, t *report.Breakdown) {
	in, rest, n := new(big.Int), new(big.Int), int64(0)
	for _, name := range sortedKeys(c.ways) {
		y, off := c.ways[name], s.offsets[clocksKey{run, name}]
		if off+y.queued.least < 0 {
			t.Notes = append(t.Notes, metric.Clock.String()+": requests would have been queued before they were received: a clock was set, so that what lies before the queue has no bound")
			return
		}
		in.Add(in, y.queued.big()).Add(in, new(big.Int).Mul(big.NewInt(off), big.NewInt(y.queued.n)))
		rest.Add(rest, y.rest.big())
		n += y.queued.n
	}
	if n == 0 {
		return
	}
	out := rest.Sub(rest, in)
	t.Memos = append(t.Memos,
		report.Memo{Name: decompose.Of(decompose.Input, decompose.Ingress).String(), Mean: meanOf(in, n), N: n, Bound: "upper"},
		report.Memo{Name: decompose.Egress.String(), Mean: meanOf(out, n), N: n, Bound: "lower"})
}

// big returns the sum.
func (t *tally128) big() *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(t.hi), 64)
	return sum.Add(sum, new(big.Int).SetUint64(t.lo))
}
