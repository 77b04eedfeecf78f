package breakdown

import (
	"math/big"

	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/report"
)

// ttftBound bounds the time to first token of servers that do not stamp the token but
// tell the length of the whole request. TTFT is no less than the TTFT of the engine, and
// no more than the length of the request without the decode span of the engine. See
// vLLM's FinishedRequestStats. All are durations, so clocks do not matter.
type ttftBound struct{ low, high cell.Total }

func (y *ttftBound) Merge(o *ttftBound) {
	y.low.Merge(&o.low)
	y.high.Merge(&o.high)
}

func (y *ttftBound) AppendTo(dst []byte) []byte { return y.high.AppendTo(y.low.AppendTo(dst)) }

func (y *ttftBound) Load(src *cell.Reader) {
	y.low.Load(src)
	y.high.Load(src)
}

// memos returns the bounds, if there are any.
func (y *ttftBound) memos() []report.Memo {
	n := y.low.N
	if n == 0 {
		return nil
	}
	bound := func(sum *big.Int, what string) report.Memo {
		return report.Memo{Name: "ttft_server", Mean: meanOf(sum, n), N: n, Bound: what}
	}
	return []report.Memo{bound(y.low.Big(), "lower"), bound(y.high.Big(), "upper")}
}
