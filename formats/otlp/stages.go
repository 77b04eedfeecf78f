package otlp

import (
	"cmp"
	"slices"

	"servescope/analyzer/trace"
)

// stages are the boundaries of a request of SGLang, in ns since the epoch, 0
// where unknown.
type stages struct {
	received   int64
	dispatched int64 // the frontend has sent the request on
	queued     int64 // in the scheduler's queue
	admitted   int64
	prefilled  int64 // the last forward pass of the prompt has ended
	first      int64 // the first token is at the frontend
}

// The leaves between the boundaries of an engine that is not disaggregated.
var unified = []leaves{input, ingress, queue, prefill, egress}

// fill sets what the slices of a request say. n is the number of tokens.
func (f *fold) fill(r *run, m members, side trace.Side, at stages, n int64, counted bool, offset int64) {
	b := r.rows
	if m.scheduler != nil {
		if name := m.scheduler.replica(); name != "" {
			b.Dict(trace.Replica, []byte(name))
		}
	}
	if side != trace.Server {
		b.Code(trace.SideCol, int32(side))
		r.pd = true
	}
	at.find(m.slices)
	base := at.prefilled
	switch side {
	case trace.Decode:
		base = at.decode(b, m.slices)
	case trace.Prefill:
		at.node(b, m.slices)
	default:
		tile(b, []int64{at.received, at.dispatched, at.queued, at.admitted, at.prefilled, at.first}, unified)
	}
	for _, s := range [...]struct {
		col trace.Col
		at  int64
	}{{trace.Dispatched, at.dispatched}, {trace.Queued, at.queued}, {trace.Admitted, at.admitted}, {trace.PrefillEnd, at.prefilled}} {
		if s.at > 0 {
			b.Int(s.col, s.at)
		}
	}
	if side != trace.Prefill {
		f.steps(r, m, base, at.first, n, counted, offset)
	}
	f.noteMany(&probUnusedEvent, offset, r.schedules(&m))
}

// find takes the boundaries from the slices, which are in order of time. Only the
// first of a kind counts: a request that was retracted has more.
func (at *stages) find(list []rec) {
	if i := indexOf(list, dispatch); i >= 0 {
		at.dispatched = list[i].end // goes before what an attribute says
	}
	for i := range list {
		x := &list[i]
		switch x.stage {
		case processing:
			set(&at.queued, x.end)
		case waiting:
			if at.admitted == 0 {
				at.queued = x.start // more exact than the end of the slice before
			}
			set(&at.admitted, x.end)
		case forward:
			set(&at.admitted, x.start)
			set(&at.prefilled, x.end)
		case waitingForward:
			set(&at.queued, x.start)
			set(&at.prefilled, x.end)
		}
	}
}

// set sets a boundary that is not known yet.
func set(at *int64, v int64) {
	if *at == 0 {
		*at = v
	}
}

// node sets the parts of a request on a node that only prefills.
func (at *stages) node(b *trace.Builder, list []rec) {
	if at.received > 0 && at.dispatched > 0 {
		setEntry(b, input, at.dispatched-at.received)
	}
	if i := indexOf(list, prefillPrepare); i >= 0 && at.dispatched > 0 {
		setEntry(b, ingress, list[i].end-at.dispatched)
	}
	tile(b, []int64{at.queued, at.admitted, at.prefilled}, []leaves{queue, prefill})
	if i := indexOf(list, transferKV); i >= 0 {
		setEntry(b, kvTransfer, list[i].end-list[i].start)
	}
}

// decode sets the parts of a request on a node that only decodes, and returns
// when the first token was there: it comes with the KV cache, without a forward
// pass. What this node calls the transfer is its wait for all that the other one
// does.
func (at *stages) decode(b *trace.Builder, list []rec) (base int64) {
	if at.received > 0 && at.dispatched > 0 {
		setEntry(b, input, at.dispatched-at.received)
	}
	allocation, wait := indexOf(list, decodeBootstrap), indexOf(list, decodeWaiting)
	if allocation >= 0 {
		set(&at.queued, list[allocation].start)
	}
	if wait >= 0 {
		set(&at.admitted, list[wait].end)
	}
	if allocation >= 0 && wait >= 0 {
		setEntry(b, decodeQueue, list[allocation].end-list[allocation].start+list[wait].end-list[wait].start)
	}
	if i := indexOf(list, decodeTransferred); i >= 0 {
		setEntry(b, queue|prefill|kvTransfer, list[i].end-list[i].start)
	}
	i := indexOf(list, fakeOutput)
	if i < 0 {
		return 0
	}
	if at.first > 0 {
		setEntry(b, egress, at.first-list[i].end)
	}
	return list[i].end
}

// steps sets the times between the tokens of a request, as the scheduler saw
// them: base is its first token. The slices decode_loop end with a token each; a
// retracted request gets one more from its second prefill.
func (f *fold) steps(r *run, m members, base, first, n int64, counted bool, offset int64) {
	loops := f.loops[:0]
	for i := range m.slices {
		if m.slices[i].stage == decodeLoop {
			loops = append(loops, m.slices[i])
		}
	}
	f.loops = loops
	slices.SortStableFunc(loops, func(a, b rec) int { return cmp.Or(cmp.Compare(a.count, b.count), cmp.Compare(a.end, b.end)) })
	loops = slices.CompactFunc(loops, func(a, b rec) bool { return a.count == b.count && (a.count >= 0 || a.start == b.start) })
	if len(loops) == 0 {
		if base > 0 && counted && n == 1 && f.lists {
			r.rows.List(trace.ChunkGaps, nil)
		}
		return
	}
	r.steps = true
	if base == 0 || !complete(loops, base, m.retracts) {
		f.note(&probSteps, offset)
		return
	}
	ends := make([]int64, 1, len(loops)+2)
	ends[0] = base
	for i := range loops {
		ends = append(ends, loops[i].end)
	}
	for i := range m.slices {
		if x := &m.slices[i]; x.stage == forward && x.end > base {
			ends = append(ends, x.end)
		}
	}
	slices.Sort(ends)
	if len(ends) > 2 && first > ends[2] {
		f.note(&probLateFirst, offset)
	}
	r.rows.Int(trace.DDecode, ends[len(ends)-1]-base)
	if !f.lists {
		return
	}
	gaps := r.rows.OpenList(trace.ChunkGaps)
	for i := range ends[1:] {
		gaps = append(gaps, ends[i+1]-ends[i])
	}
	r.rows.CloseList(trace.ChunkGaps, gaps)
	if counted && int64(len(ends)) == n { // no step gave more than one token
		ones := r.rows.OpenList(trace.ChunkTokens)
		for range ends {
			ones = append(ones, 1)
		}
		r.rows.CloseList(trace.ChunkTokens, ones)
	}
}

// slack is how far the end of one step and the start of the next may be apart:
// clocks are converted for each request.
const slack = 1_000_000

// complete reports whether all decode steps are there. Since v0.5.10 they have
// numbers; before, each begins where the one before ended.
func complete(loops []rec, base, retracts int64) bool {
	if loops[0].count >= 0 {
		return int(loops[len(loops)-1].count) == len(loops)-1
	}
	last := base
	for i := range loops {
		if retracts == 0 && loops[i].start-last > slack {
			return false
		}
		last = loops[i].end
	}
	return true
}
