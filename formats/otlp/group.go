package otlp

import (
	"servescope/formats/internal/json"

	"bytes"
	"slices"
)

// requests puts the spans of SGLang together. A request is one span of the
// frontend (the root), whose children are one span per thread, whose children
// are slices of time, some with slices inside. They come from several processes,
// children mostly before their parents. They are collected by trace until the file
// ends or they fill the memory; then the traces come out in the order of their
// roots.
type requests struct {
	f      *fold
	traces map[uint64]*group
	rooted []uint64 // traces in the order of their roots, one entry per root
	born   []uint64 // traces in the order of their first spans
	done   recent   // traces that were let go
	bytes  int64
	budget int64
	full   bool // the memory is being relieved
	work   resolver
}

// group holds the spans and the root of one trace.
type group struct {
	recs      []rec
	threads   []thread
	roots     []root
	rooms     []string
	schedules []schedule
	run       *run  // of its first span
	first     int64 // offset of that
	emitted   bool  // some of its requests were
}

// rec is a span of a group.
type rec struct {
	id, parent uint64
	start, end int64
	offset     int64
	count      int32 // decode_ct, or -1
	info       int32 // of a thread, a root or a room: index in the group
	scheduled  piece // of the group's schedules
	retracts   int16
	kind       recKind
	stage      stage
}

type recKind uint8

const (
	isSlice recKind = iota
	isThread
	isRoot
	isRoom // what requests of both nodes of a deployment lie in, up to v0.5.9
)

// thread is where slices were recorded.
type thread struct {
	tp, pp, dp int64 // ranks, -1 where it has none
	host       string
	scheduler  bool
	aborted    bool
}

// root is the span of a request, with its texts.
type root struct {
	span  span
	texts part
	from  place
	scope string
	room  string
}

const (
	recBytes  = 72
	rootBytes = 1024
)

func (g *requests) init(f *fold, memory int64) {
	if memory <= 0 {
		memory = 256 << 20
	}
	g.f, g.traces, g.budget = f, make(map[uint64]*group), memory/2
}

// span takes a span of SGLang. ok is false for one that is not of its tracer.
func (g *requests) span(p *part, s *span, from *place, scope string) (kind string, used outcome, ok bool) {
	name := p.raw(s.name)
	if isRequestName(name) {
		kind, used = g.root(p, s, from, scope)
		return kind, used, true
	}
	x := rec{id: s.id, parent: s.parent, start: s.start, end: s.end, offset: s.offset, count: -1, retracts: int16(min(s.retracts, 1<<15-1))}
	switch i := sliceIndex.find(name); {
	case !s.textEmpty(threadLabel):
		x.kind, kind = isThread, "sglang thread"
	case bytes.HasPrefix(name, []byte(roomName)):
		x.kind, kind = isRoom, "sglang bootstrap room"
	case i >= 0:
		x.stage, kind = sliceNames[i].stage, sliceKinds[i]
		g.f.run("sglang", from, scope, s).releases.narrow(sliceNames[i].releases)
		if x.stage == otherStage {
			return kind, noise, true
		}
	case scope == "sglang server":
		g.f.note(&probSlice, s.offset)
		return "sglang other", noise, true
	default:
		return "", noise, false
	}
	if s.start == 0 || s.end == 0 {
		g.f.note(&probNoTime, s.offset)
		return kind, diagnosed, true
	}
	if v, known := s.number(decodeCount); known && v >= 0 && v < 1<<31 {
		x.count = int32(v)
	}
	t := g.of(s, from, scope)
	if t == nil {
		return kind, diagnosed, true
	}
	switch x.kind {
	case isRoom:
		x.info = int32(len(t.rooms))
		if t.rooms = append(t.rooms, p.string(s, room)); t.rooms[x.info] == "" {
			t.rooms[x.info] = string(json.Text(bytes.TrimSpace(name[len(roomName):])))
		}
	case isThread:
		x.info = int32(len(t.threads))
		t.threads = append(t.threads, threadOf(p, s))
		g.bytes += recBytes
	}
	if n := s.scheduled.to - s.scheduled.from; n > 0 {
		x.scheduled = piece{int32(len(t.schedules)), int32(len(t.schedules)) + n}
		t.schedules = append(t.schedules, p.schedules[s.scheduled.from:s.scheduled.to]...)
		g.bytes += int64(n) * scheduleBytes
	}
	t.recs = append(t.recs, x)
	g.bytes += recBytes
	return kind, parsed, true
}

// of returns the group of a span's trace, or nil if that was let go.
func (g *requests) of(s *span, from *place, scope string) *group {
	if t := g.traces[s.trace]; t != nil {
		return t
	}
	if g.done.has(s.trace) {
		g.f.note(&probLate, s.offset)
		return nil
	}
	return g.add(s, from, scope)
}

func (g *requests) add(s *span, from *place, scope string) *group {
	t := &group{first: s.offset, run: g.f.run("sglang", from, scope, s)}
	g.traces[s.trace] = t
	if len(g.born) > 2*len(g.traces)+1024 { // most of them are gone
		g.born = slices.DeleteFunc(g.born, func(key uint64) bool { return g.traces[key] == nil })
	}
	g.born = append(g.born, s.trace)
	g.bytes += t.size()
	return t
}

const roomName = "Bootstrap Room"

func threadOf(p *part, s *span) thread {
	rank := func(k slot) int64 {
		if v, ok := s.number(k); ok && v >= 0 {
			return v
		}
		return -1
	}
	aborted := s.flags&failed != 0 || !s.textEmpty(reason) || p.string(s, abortType) == "abort"
	return thread{rank(tpRank), rank(ppRank), rank(dpRank), p.string(s, hostID), bytes.Contains(p.raw(s.text[threadLabel-textSlots]), []byte("Scheduler")), aborted}
}

// isRequestName recognises " Req 1f0b0e6a", with a role before it on the nodes
// of a disaggregated deployment.
func isRequestName(name []byte) bool {
	before, _, found := bytes.Cut(name, []byte("Req "))
	if !found {
		return false
	}
	switch string(bytes.TrimSpace(before)) {
	case "", "prefill", "decode", "unified", "null":
		return true
	}
	return false
}

// root takes the span of a whole request.
func (g *requests) root(p *part, s *span, from *place, scope string) (kind string, used outcome) {
	kind = "sglang request"
	if s.start == 0 {
		g.f.note(&probNoTime, s.offset)
		return kind, diagnosed
	}
	if s.id != 0 && g.f.seen.add(mix(s.trace, s.id)) > 0 {
		g.f.note(&probDuplicate, s.offset)
		return kind, diagnosed
	}
	t := g.traces[s.trace]
	if t == nil {
		t = g.add(s, from, scope)
	}
	r := root{from: *from, scope: scope, span: *s}
	for i := range r.span.text {
		r.span.text[i] = r.texts.copy(p, s.text[i])
	}
	r.span.name = r.texts.copy(p, s.name)
	r.room = r.texts.string(&r.span, room)
	t.recs = append(t.recs, rec{id: s.id, parent: s.parent, start: s.start, end: s.end, offset: s.offset, kind: isRoot, info: int32(len(t.roots))})
	t.roots = append(t.roots, r)
	g.rooted = append(g.rooted, s.trace)
	g.bytes += rootBytes
	if !s.textEmpty(module) {
		g.f.run("sglang", from, scope, s).releases.narrow(moduleReleases)
	}
	return kind, parsed
}

// moduleReleases are the releases that write the attribute module.
var moduleReleases = attributes[attributeIndex.find([]byte("module"))].sglang

// copy copies a text of another part.
func (p *part) copy(from *part, t piece) piece {
	at := int32(len(p.text))
	p.text = append(p.text, from.raw(t)...)
	return piece{at, int32(len(p.text))}
}

// relieve makes rows of the oldest requests if there is too much in memory, or
// until all are rows. It returns whether it did something. Once the memory is
// full a quarter of it is made free, so that the next time is not soon; requests
// without a root go only if that must be.
func (g *requests) relieve(all bool) bool {
	over := g.bytes > g.budget
	g.full = over || g.full && g.bytes > g.budget-g.budget/4
	for (all || g.full) && len(g.rooted) > 0 {
		key := g.rooted[0]
		g.rooted = g.rooted[1:]
		if t := g.traces[key]; t != nil && len(t.roots) > 0 {
			g.emit(key, t, all)
			return true
		}
	}
	for (all || over) && len(g.born) > 0 {
		key := g.born[0]
		g.born = g.born[1:]
		if t := g.traces[key]; t != nil {
			g.emit(key, t, all)
			return true
		}
	}
	return false
}

func (t *group) size() int64 {
	return int64(len(t.recs)+len(t.threads)+4)*recBytes + int64(len(t.schedules))*scheduleBytes + int64(len(t.roots))*rootBytes
}

// emit makes rows of the requests of a group, and lets the group go. Of a trace
// that many requests share, the spans of those without a root stay behind.
func (g *requests) emit(key uint64, t *group, atEnd bool) {
	g.bytes -= t.size()
	g.work.resolve(t)
	if len(t.roots) == 0 && !t.emitted {
		if !atEnd {
			g.f.note(&probMemory, t.first)
		}
		g.f.openRows(t, &g.work)
	}
	for i := range t.roots {
		g.f.sglangRow(t, &t.roots[i], g.work.of(t, int32(i)))
	}
	rest := g.work.owned(unknown)
	if shared := len(t.roots) > 1 && !atEnd && len(rest) > 0; shared {
		keep := make([]rec, len(rest))
		for i, at := range rest {
			keep[i] = t.recs[at]
		}
		t.recs, t.roots, t.emitted = keep, nil, true
		g.bytes += t.size()
		return
	}
	g.orphans(t, rest)
	delete(g.traces, key)
	g.done.add(key)
}

// orphans reports the slices of a group that belong to no request.
func (g *requests) orphans(t *group, list []int32) {
	for _, i := range list {
		if x := &t.recs[i]; x.kind != isRoom {
			g.f.note(&probLate, x.offset)
			g.f.account.Parsed--
			g.f.account.Diagnosed++
		}
	}
}
