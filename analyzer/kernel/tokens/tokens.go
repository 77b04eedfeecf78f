// Package tokens computes the metrics that pool the chunks of all requests:
// chunk_gap, token_latency, tokens_per_chunk; and ttft_upper, which needs the first
// gap. Gaps belong to the window that they end in, requests to the window of their
// send.
//
// Values are folded into digests and dropped. Coarse cells have digests of their
// own: the quantiles of a group do not follow from the quantiles of its windows.
package tokens

import (
	"sync"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
)

type tokens struct {
	def   *metric.Definition
	found *foundTokens
	only  cell.Only
}

// New returns the kernel of the chunk metrics that only names, nil being all,
// under def.
func New(def *metric.Definition, only cell.Only) kernel.Kernel {
	return tokens{def, new(foundTokens), only}
}

// foundTokens is the result of a pass, decoded once for the states of the next.
type foundTokens struct {
	mu    sync.Mutex // held to look into pools, whose values are sorted then
	code  []byte
	state *state // nil: code is none
}

// of returns the state that code encodes.
func (f *foundTokens) of(code []byte, fresh func() *state) *state {
	f.mu.Lock()
	defer f.mu.Unlock()
	if len(f.code) != len(code) || &f.code[0] != &code[0] {
		if f.code, f.state = code, fresh(); f.state.LoadState(code) != nil {
			f.state = nil
		}
	}
	return f.state
}

func (tokens) Name() string { return "tokens" }

func (tokens) Lists() bool { return true }

func (k tokens) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := newState(k.def, q, facts)
	s.only = k.only
	if code := facts.Private[k.Name()]; len(code) > 0 {
		s.shared = k.found
		s.found = s.shared.of(code, func() *state {
			s := newState(k.def, q, facts)
			s.only = k.only
			return s
		})
	}
	return s
}
