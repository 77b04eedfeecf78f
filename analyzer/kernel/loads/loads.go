// Package loads computes what engines say of their load over time: the batch as they
// log it, and how fast they decode batches of each size.
//
// Its state is fed with the steps table, like the state of package steps, but with
// every step that the filter keeps, whenever it was: a value holds until the next
// one. It finishes after the kernels of requests and puts its rates beside theirs. A
// query whose filter asks for what steps do not tell keeps that filter, any other
// query has none.
package loads

import (
	"strconv"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// New returns the kernel. It is not in all.All, whose kernels fold requests.
func New() kernel.Kernel { return loads{} }

type loads struct{}

func (loads) Name() string { return "loads" }

func (loads) Lists() bool { return false }

func (loads) New(q *query.Query, facts *kernel.Facts) kernel.State {
	return &state{Base: cell.NewBase(nil, q, facts), loads: make(map[loadKey]*gaugeLog), exist: make(map[int32]int64)}
}

// gauge tells which sequences a number counts.
type gauge uint8

const (
	decodeGauge  gauge = iota // sequences that decode, stalled ones too: SGLang's #running-req
	runningGauge              // from admission on: vLLM's Running
	activeGauge               // decode sequences of a single step
)

var gaugeNames = [...]string{"batch_decode", "batch_running", "batch_decode_active"}

// Configured returns how many engines a run is configured to have, or 0.
func Configured(m *trace.RunMeta) int64 {
	most := int64(0)
	for _, p := range m.Config {
		if p.Key == "data_parallel_size" || p.Key == "dp_size" {
			n, _ := strconv.ParseInt(p.Value, 10, 32) // 0 where it is no number
			most = max(most, n)
		}
	}
	return most
}
