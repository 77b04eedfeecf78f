package breakdown

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/trace"
)

// ingressBound bounds the part of a server's TTFT, among its unnamed stages, that lies
// before the queue of its engine, where both have clocks of their own. A server sees a
// token no earlier than its engine does, so the clocks differ by at most the least of
//
//	first token at the server − first token at the engine
//
// over the requests of a process; and {input, ingress} of a request is at most that
// + queued − received. See vLLM's RequestStateStats.
type ingressBound struct {
	queued cell.Total // queued at the engine less received at the server, ns
	rest   cell.Total // {input, ingress, egress}, ns
}

// clocksKey is the two clocks of a server and its engine, of one process each.
type clocksKey struct {
	run  int32
	name string
}

// unnamed is the entry that is bounded.
var unnamed = decompose.Of(decompose.Input, decompose.Ingress, decompose.Egress)

// serverEngines finds the rows of engines of a batch's requests. One goroutine uses it.
type serverEngines struct {
	request.Peers
	last struct { // the clocks of the row before
		own, other trace.Clock
		file       string
		name       string
	}
}

// key names the clocks of row i and of row j of b. It reports false for clocks that
// are the same, or of single requests.
func (y *serverEngines) key(x *cell.Batch, i int, b *trace.Batch, j int) (clocksKey, bool) {
	own, other := x.ClockAt(i), request.ClockOf(b, j)
	if kernel.Axis(own) == kernel.Axis(other) || own.Kind == trace.RequestClock || other.Kind == trace.RequestClock {
		return clocksKey{}, false
	}
	if l := &y.last; l.name == "" || l.own != own || l.other != other || l.file != b.File {
		l.own, l.other, l.file = own, other, b.File
		l.name = own.String() + "\x00" + other.String() + "\x00" + b.File
	}
	return clocksKey{x.RunIndex, y.last.name}, true
}

func (y *ingressBound) add(queued, rest int64) {
	y.queued.Add(queued)
	y.rest.Add(rest)
}

func (y *ingressBound) Merge(o *ingressBound) {
	y.queued.Merge(&o.queued)
	y.rest.Merge(&o.rest)
}
