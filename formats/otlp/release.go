package otlp

import (
	"strconv"
	"strings"
)

// release is a release of an engine, 100 times its second number plus its third:
// v0.5.10 is 5_10. No release has a first number other than 0. 0 stands for no
// limit.
type release int

func (r release) String() string {
	s := "v0." + strconv.Itoa(int(r/100))
	if r%100 != 0 || r < 11_00 {
		s += "." + strconv.Itoa(int(r%100))
	}
	return s
}

// evidence is a set of marks that a run's spans bear.
type evidence uint16

const (
	vllmV0 evidence = 1 << iota
	vllmV1
	vllmBestOf
	vllmDetailed
	vllmOldScope
	vllmNewScope
)

// generations says what each mark tells of the version. A generation is a set
// of attributes that is written by the releases of a range; other marks narrow
// it down.
var generations = []struct {
	mark, of    evidence // of: the generation that the mark narrows down
	name        string   // of a generation
	first, last release
}{
	{vllmV0, vllmV0, "V0 engine", 5_01, 10_00},
	{vllmBestOf, vllmV0, "", 5_01, 6_02},     // gen_ai.request.best_of
	{vllmDetailed, vllmV0, "", 5_05, 10_00},  // --collect-detailed-traces
	{vllmV1, vllmV1, "V1 engine", 10_02, 0},  // time_in_model_prefill, _decode, _inference
	{vllmOldScope, vllmV1, "", 10_02, 15_00}, // scope vllm.llm_engine
	{vllmNewScope, vllmV1, "", 16_00, 0},     // scope vllm.tracing.otel
}

// versionOf returns the releases that may have written spans with these marks,
// as a range for each generation; V0 and V1 of vLLM may share a file.
func versionOf(marks evidence) string {
	var parts []string
	for _, g := range generations {
		if g.name == "" || marks&g.mark == 0 {
			continue
		}
		r := between{g.first, g.last}
		for _, n := range generations {
			if n.of == g.of && marks&n.mark != 0 {
				r.narrow(n.first, n.last)
			}
		}
		parts = append(parts, r.String()+" ("+g.name+")")
	}
	return strings.Join(parts, ", ")
}

// between is a range of releases, both included.
type between struct{ first, last release }

// narrow keeps of the range what lies in another one too. Ranges that exclude
// each other, as after an upgrade in the middle of a file, become the range that
// holds both.
func (b *between) narrow(first, last release) {
	if b.first == 0 && b.last == 0 {
		*b = between{first, last}
		return
	}
	low, high := max(b.first, first), last
	if high == 0 || b.last != 0 && b.last < high {
		high = b.last
	}
	if high != 0 && high < low {
		low, high = min(b.first, first), max(b.last, last)
		if b.last == 0 || last == 0 {
			high = 0
		}
	}
	*b = between{low, high}
}

func (b between) String() string {
	switch {
	case b.first == 0 && b.last == 0:
		return ""
	case b.last == 0:
		return "≥" + b.first.String()
	case b.first == b.last:
		return b.first.String()
	}
	return b.first.String() + "–" + b.last.String()
}
