package kernel

import (
	"math/big"

	"servescope/analyzer/join"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
)

// without bounds the time to first token of servers that do not stamp the token,
// but say how long the whole request took, from what their engines say: it is no
// less than the engine's, and no more than what the engine's decode span leaves of
// the request. See vLLM's FinishedRequestStats. Both are durations, so that clocks
// do not matter.
type without struct{ low, high tally128 }

// without learns from row i of an engine, whose time to first token is total.
func (s *decompositionState) without(x *batch, i int, w *row, ways *ways, c *cohort, total int64) {
	if x.links == nil || w.side != trace.Engine || w.token == none || w.last < w.token || w.joint != nil {
		return
	}
	ways.links = x.links
	for _, m := range x.links.Rows(x.first + int32(i)) {
		if x.links.Side(m) != trace.Server || x.links.Role(m) == join.Repeats {
			continue
		}
		if server := ways.at(m); server.token == none && server.event == none && server.start != none && server.finish != none {
			c.without.low.add(total)
			c.without.high.add(server.finish - server.start - (w.last - w.token))
		}
		return
	}
}

func (y *without) merge(o *without) {
	y.low.merge(&o.low)
	y.high.merge(&o.high)
}

func (y *without) appendTo(dst []byte) []byte { return y.high.appendTo(y.low.appendTo(dst)) }

func (y *without) load(src *reader) {
	y.low.load(src)
	y.high.load(src)
}

// memos returns the bounds, if there are any.
func (y *without) memos() []report.Memo {
	n := y.low.n
	if n == 0 {
		return nil
	}
	bound := func(sum *big.Int, what string) report.Memo {
		return report.Memo{Name: "ttft_server", Mean: meanOf(sum, n), N: n, Bound: what}
	}
	return []report.Memo{bound(y.low.big(), "lower"), bound(y.high.big(), "upper")}
}

func (t *tally128) appendTo(dst []byte) []byte {
	return appendInts(dst, t.n, t.hi, int64(t.lo), t.least, t.most)
}

func (t *tally128) load(src *reader) {
	var lo int64
	src.ints(&t.n, &t.hi, &lo, &t.least, &t.most)
	t.lo = uint64(lo)
}
