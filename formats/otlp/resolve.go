package otlp

import (
	"cmp"
	"slices"
)

// resolver finds out which request each span of a group belongs to.
type resolver struct {
	nodes   map[uint64]int32 // recs that have children, by id
	owner   []int32          // of each rec: its request, or unknown
	thread  []int32          // of each rec: its thread, or -1
	missing []uint64         // of each rec: the id at which the way up ends
	order   []int32          // recs by owner, each owner's in order of the source
	bounds  []int32          // order[bounds[i]:bounds[i+1]] are the recs of owner i-1
	list    []rec

	schedules []schedule // of list
}

const unknown = -1

// resolve goes up from every rec. One without a way up to a root belongs to the
// root if there is only one.
func (w *resolver) resolve(t *group) {
	if w.nodes == nil {
		w.nodes = make(map[uint64]int32)
	}
	clear(w.nodes)
	w.owner, w.thread, w.missing = w.owner[:0], w.thread[:0], w.missing[:0]
	for i := range t.recs {
		if x := &t.recs[i]; x.id != 0 && x.stage != decodeLoop {
			w.nodes[x.id] = int32(i)
		}
	}
	for i := range t.recs {
		owner, in, end := w.climb(t, int32(i))
		if owner == unknown && len(t.roots) == 1 && t.recs[i].kind != isRoom {
			owner = 0
		}
		w.owner, w.thread, w.missing = append(w.owner, owner), append(w.thread, in), append(w.missing, end)
	}
	owners := len(t.roots)
	if owners == 0 && !t.emitted {
		owners = w.guess(t)
	}
	w.sort(owners)
}

// guess finds the requests of a group without roots: threads that name the same
// missing parent belong to one request. It returns the number of requests.
func (w *resolver) guess(t *group) int {
	var ids []uint64
	for i := range t.recs {
		if w.thread[i] < 0 {
			continue
		}
		at := slices.Index(ids, w.missing[i])
		if at < 0 {
			at = len(ids)
			ids = append(ids, w.missing[i])
		}
		w.owner[i] = int32(at)
	}
	if len(ids) <= 1 {
		for i := range w.owner {
			if t.recs[i].kind != isRoom {
				w.owner[i] = 0
			}
		}
		return 1
	}
	return len(ids)
}

// sort orders the recs by owner.
func (w *resolver) sort(owners int) {
	w.bounds = append(w.bounds[:0], make([]int32, owners+2)...)
	for _, o := range w.owner {
		w.bounds[o+2]++
	}
	for i := 1; i < len(w.bounds); i++ {
		w.bounds[i] += w.bounds[i-1]
	}
	w.order = append(w.order[:0], make([]int32, len(w.owner))...)
	for i, o := range w.owner {
		w.order[w.bounds[o+1]] = int32(i)
		w.bounds[o+1]++
	}
}

// maxNesting is deeper than any tracer nests spans. Ids of a damaged file may
// form a ring.
const maxNesting = 16

func (w *resolver) climb(t *group, i int32) (owner, in int32, end uint64) {
	in = -1
	for range maxNesting {
		x := &t.recs[i]
		switch x.kind {
		case isRoot:
			return x.info, in, x.id
		case isThread:
			in = x.info
		case isRoom:
			return unknown, in, x.id
		}
		up, ok := w.nodes[x.parent]
		if !ok || x.parent == 0 {
			return unknown, in, x.parent
		}
		i = up
	}
	return unknown, in, 0
}

// owned returns the recs of a request, or the recs that belong to no request.
func (w *resolver) owned(request int32) []int32 {
	from := int32(0)
	if request != unknown {
		from = w.bounds[request]
	}
	return w.order[from:w.bounds[request+1]]
}

// of returns the members of a request: its slices in order of their start. Every
// rank of a replica records the same slices; the slices of the first rank are used.
func (w *resolver) of(t *group, request int32) (m members) {
	list := w.owned(request)
	for _, i := range list {
		if in := w.thread[i]; in >= 0 && t.threads[in].scheduler && (m.scheduler == nil || compareRanks(&t.threads[in], m.scheduler) < 0) {
			m.scheduler = &t.threads[in]
		}
	}
	w.list, w.schedules = w.list[:0], w.schedules[:0]
	for _, i := range list {
		x := &t.recs[i]
		if in := w.thread[i]; in >= 0 {
			th := &t.threads[in]
			if th.scheduler && compareRanks(th, m.scheduler) != 0 {
				continue
			}
			m.aborted = m.aborted || x.kind == isThread && th.aborted
		}
		m.retracts += int64(x.retracts)
		if x.kind == isSlice {
			w.list = append(w.list, *x)
			w.schedules = append(w.schedules, t.schedules[x.scheduled.from:x.scheduled.to]...)
		}
	}
	slices.SortStableFunc(w.list, func(a, b rec) int { return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.end, b.end)) })
	m.slices, m.schedules = w.list, w.schedules
	return m
}

// members holds the slices and threads of a request, without its root.
type members struct {
	slices    []rec
	schedules []schedule // of these
	scheduler *thread    // nil: unknown
	retracts  int64
	aborted   bool
}

func compareRanks(a, b *thread) int {
	return cmp.Or(cmp.Compare(a.pp, b.pp), cmp.Compare(a.tp, b.tp))
}
