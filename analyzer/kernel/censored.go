package kernel

import (
	"fmt"
	"strconv"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// decodePhase is the code of a request that was aborted in its decode phase: it
// had its first token, though nobody stamped it.
const decodePhase = 3

// censored reports whether the request was aborted, or the log ends, before its
// first token: its TTFT is longer than it was seen to wait.
func censored(w *row, def *metric.Definition) bool {
	return (w.status == trace.Aborted || w.status == trace.Open) && w.stream != 0 && w.first(def) == none && w.last == none
}

// bound puts beside the quantiles of a TTFT those with n more values at infinity:
// the truth lies between the two.
func (b *base) bound(out *report.Metric, m *measure, values *stat.Sample, n int64, wide bool) {
	if n == 0 || out.N == 0 {
		return
	}
	out.Censored, out.Upper = n, make(map[string]any)
	var texts []string
	for _, q := range b.ranks() {
		name := "p" + strconv.FormatFloat(q*100, 'g', 10, 64)
		lo, hi, t := b.def.Quantile.Ranks(out.N+n, q)
		if lo >= out.N || hi >= out.N && t > 0 {
			out.Upper[rankName(q)] = nil
			texts = append(texts, name+" unbounded")
			continue
		}
		hi = min(hi, out.N-1)
		a, exactA := values.At(lo)
		b, exactB := values.At(hi)
		v := stat.Lerp(m.float(a), m.float(b), t)
		out.Exact = out.Exact && exactA && exactB
		out.Upper[rankName(q)] = v
		texts = append(texts, name+" "+unit.Format(out.Unit, v))
	}
	if wide {
		out.Notes = append(out.Notes, fmt.Sprintf("censored: %s before the first token; if it never came: %s",
			counting(n, "1 request was aborted or is open", "%d requests were aborted or are open"), strings.Join(texts, ", ")))
	}
}
