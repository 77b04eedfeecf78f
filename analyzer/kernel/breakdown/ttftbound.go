package breakdown

import (
	"math/big"

	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/report"
)

// without bounds the time to first token of servers that do not stamp the token,
// but say how long the whole request took, from what their engines say: it is no
// less than the engine's, and no more than what the engine's decode span leaves of
// the request. See vLLM's FinishedRequestStats. Both are durations, so that clocks
// do not matter.
type without struct{ low, high cell.Total }

func (y *without) Merge(o *without) {
	y.low.Merge(&o.low)
	y.high.Merge(&o.high)
}

func (y *without) AppendTo(dst []byte) []byte { return y.high.AppendTo(y.low.AppendTo(dst)) }

func (y *without) Load(src *cell.Reader) {
	y.low.Load(src)
	y.high.Load(src)
}

// memos returns the bounds, if there are any.
func (y *without) memos() []report.Memo {
	n := y.low.N
	if n == 0 {
		return nil
	}
	bound := func(sum *big.Int, what string) report.Memo {
		return report.Memo{Name: "ttft_server", Mean: meanOf(sum, n), N: n, Bound: what}
	}
	return []report.Memo{bound(y.low.Big(), "lower"), bound(y.high.Big(), "upper")}
}
