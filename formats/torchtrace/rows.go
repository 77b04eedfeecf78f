package torchtrace

import (
	"servescope/analyzer/trace"
)

// place is where the work of a device belongs in the tables.
type place struct {
	replica string
	ranks
	rank          int64 // -1 where unknown
	noSampling    bool  // sampling cannot be told from compute
	noScheduler   bool  // no range of a scheduler was recorded
	noCollectives bool  // there must be communication, but none was recognised
}

// begin starts the sweep of the next device.
func (r *reader) begin() {
	t := r.lines[r.line]
	p := &r.place[r.line]
	r.sweep = newSweep(r.f, t)
	r.sweep.done = func(i int, q *parts) { r.stepRow(t, p, i, q) }
	r.sweep.ended = func(x *exposure) { r.linkRow(t, p, x) }
}

// stepRow adds the row of a step.
func (r *reader) stepRow(t *timeline, p *place, i int, q *parts) {
	b := t.bounds[i]
	s, w := &t.steps[b.step], r.steps
	if t.refused != "" {
		return
	}
	if p.replica != "" {
		w.Dict(trace.StepReplica, []byte(p.replica))
	}
	optional(w, trace.StepDP, p.dp)
	optional(w, trace.StepTP, p.tp)
	optional(w, trace.StepPP, p.pp)
	optional(w, trace.StepEP, p.ep)
	optional(w, trace.StepRank, p.rank)
	if r.meta.Engine != "" {
		w.Dict(trace.StepEngine, []byte(r.meta.Engine))
	}
	w.Int(trace.StepIndex, r.f.number(b.step))
	w.Int(trace.StepT, r.head.base+b.end)
	w.Code(trace.StepQuantity, int32(trace.Interval))
	if s.kind != unknownKind {
		w.Code(trace.StepKindCol, int32(s.kind))
	}
	optional(w, trace.StepRunning, int64(s.decoding))
	optional(w, trace.StepContext, int64(s.context))
	optional(w, trace.StepPrefillTokens, int64(s.prefill))
	optional(w, trace.StepDecodeTokens, int64(s.decode))
	w.Bool(trace.StepGraph, t.graph[b.step])
	w.Int(trace.StepOffset, s.offset)
	if q != nil {
		w.Int(trace.StepDuration, b.end-t.bounds[i-1].end)
		r.partColumns(p, q)
	}
	w.EndRow()
}

// partColumns sets the parts of a step's interval.
func (r *reader) partColumns(p *place, q *parts) {
	w := r.steps
	w.Int(trace.StepCompute, q.compute)
	if !p.noSampling {
		w.Int(trace.StepSampling, q.sampling)
	}
	if !p.noCollectives {
		w.Int(trace.StepCommunication, q.communication)
		w.Int(trace.StepCommunicationOverlapped, q.overlapped)
	}
	w.Int(trace.StepHostTransfer, q.hostTransfer)
	w.Int(trace.StepLaunchWait, q.launchWait)
	if !p.noScheduler || q.hostGap == 0 {
		w.Int(trace.StepScheduling, q.scheduling)
	}
	w.Int(trace.StepHostExec, q.hostExec)
	w.Int(trace.StepHostGap, q.hostGap)
	w.Int(trace.StepUnclassified, q.unclassified)
	w.Int(trace.StepRoutingLocal, q.routing)
	w.Int(trace.StepDeviceGap, q.deviceGap)
	if !p.noScheduler {
		w.Int(trace.StepSchedulerCPU, q.cpu)
	}
}

// linkRow adds the row of a communication kernel.
func (r *reader) linkRow(t *timeline, p *place, x *exposure) {
	w := r.links
	if p.replica != "" {
		w.Dict(trace.CollectiveReplica, []byte(p.replica))
	}
	optional(w, trace.CollectiveDP, p.dp)
	optional(w, trace.CollectiveTP, p.tp)
	optional(w, trace.CollectivePP, p.pp)
	optional(w, trace.CollectiveEP, p.ep)
	optional(w, trace.CollectiveRank, p.rank)
	if at := t.interval(x.end); at >= 0 && t.refused == "" {
		w.Int(trace.CollectiveStep, r.f.number(at))
	}
	n := &r.c.names.names[x.name]
	w.Int(trace.CollectiveIndex, x.index)
	w.Dict(trace.CollectiveName, []byte(n.text))
	w.Bool(trace.CollectivePaired, n.paired)
	w.Int(trace.CollectiveT, r.head.base+x.start)
	w.Int(trace.CollectiveDuration, x.end-x.start)
	if r.opt.Lists {
		w.List(trace.CollectiveExposed, x.pieces)
	}
	w.EndRow()
}

func optional(w *trace.Builder, c trace.Col, v int64) {
	if v >= 0 {
		w.Int(c, v)
	}
}
