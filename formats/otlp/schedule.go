package otlp

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/trace"
)

// schedule is an event of SGLang's scheduler: a request is in the batch of a step.
// The engine writes one for each forward pass of a request; with overlapped
// scheduling the event of the next pass comes before the one before is processed.
type schedule struct {
	batch uint64 // hash of the batch's id; 0: none
	at    int64  // ns since the epoch
	size  int32  // requests in the batch, -1 where unknown
	mode  trace.StepKind
}

const scheduleBytes = 24

// noMode is the kind of a step whose mode is not known.
const noMode trace.StepKind = -1

// modes are the names of forward modes.
var modes = map[string]trace.StepKind{
	"extend": trace.StepPrefill, "prefill": trace.StepPrefill, "split_prefill": trace.StepPrefill, "prebuilt": trace.StepPrefill,
	"decode": trace.StepDecode, "mixed": trace.StepMixed, "target_verify": trace.StepVerify, "draft_extend": trace.StepVerify,
	"draft_extend_v2": trace.StepVerify, "idle": trace.StepDummy, "dummy_first": trace.StepDummy,
}

// modeOf reads a forward mode: "decode", "ForwardMode.DECODE".
func modeOf(text []byte) trace.StepKind {
	text = text[bytes.LastIndexByte(text, '.')+1:]
	if k, ok := modes[string(bytes.ToLower(text))]; ok {
		return k
	}
	return noMode
}

// set reads one attribute of the event.
func (x *schedule) set(key, value []byte) {
	switch string(key) {
	case "bid":
		x.batch = identity(value)
	case "batch_size":
		if n, err := strconv.ParseInt(string(value), 10, 32); err == nil && n >= 0 {
			x.size = int32(n)
		}
	case "forward_mode":
		x.mode = modeOf(value)
	}
}

// event reads the event at i.
func (s *scanner) event(i int) int {
	x, name := schedule{size: -1, mode: noMode}, ""
	next := s.object(i, func(s *scanner, key []byte, at int) int {
		if string(key) == "attributes" {
			return s.array(at, func(s *scanner, i int) int {
				key, at, end, next := s.pair(i)
				if next > 0 && end > 0 {
					x.set(key, s.plain(at, end))
				}
				return next
			})
		}
		end := s.value(at)
		if end > 0 {
			switch string(key) {
			case "name":
				name = string(s.plain(at, end))
			case "timeUnixNano", "time_unix_nano":
				x.at = s.nanoseconds(at, end)
			}
		}
		return end
	})
	if next > 0 {
		s.happened(name, x)
	}
	return next
}

// happened takes an event.
func (s *scanner) happened(name string, x schedule) {
	switch name {
	case "schedule":
		if s.span.scheduled.to == 0 {
			s.span.scheduled = piece{int32(len(s.out.schedules)), int32(len(s.out.schedules))}
		}
		s.out.schedules = append(s.out.schedules, x)
		s.span.scheduled.to++
	case "retract":
		s.span.retracts++
	case "gen_ai.content.completion.chunk", "llm.content.completion.chunk":
		if x.at <= 0 {
			break
		}
		if s.span.chunks.to == 0 {
			s.span.chunks = piece{int32(len(s.out.chunks)), int32(len(s.out.chunks))}
		}
		s.out.chunks = append(s.out.chunks, x.at)
		s.span.chunks.to++
	}
}

// engineStep is a step of a scheduler, as the requests in its batch tell it. A
// step ends when its result is processed, for one request after the other.
type engineStep struct {
	replica     int32 // index in engineSteps.replicas
	size        int32
	members     int32 // requests of it that are in the file
	decoding    int32 // of these, got a token from a decode step
	mode        trace.StepKind
	first, last int64 // ends, as its requests have them
	offset      int64 // of the first request that tells of it
}

// engineSteps are the steps of the schedulers of a run.
type engineSteps struct {
	list     []engineStep
	index    map[uint64]int32
	replicas []replicaOf
	full     int64 // steps beyond maxSteps
}

type replicaOf struct {
	name   string
	thread thread
}

const (
	maxSteps = 1 << 20

	// spread is how far the ends of one step may be apart for its requests. An id
	// that comes again later than that is another step's, and neither is used.
	spread = 10_000_000
)

// schedules gives the steps of a request their ends. Event i belongs to forward
// pass i, which ends with slice i; chunks of a prompt may be passes with events of
// their own. It returns the number of events that belong to no step.
func (r *run) schedules(m *members) int64 {
	if len(m.schedules) == 0 {
		return 0
	}
	if m.scheduler == nil {
		return int64(len(m.schedules))
	}
	events := m.schedules
	slices.SortStableFunc(events, func(a, b schedule) int { return cmp.Compare(a.at, b.at) })
	ends := passEnds(m.slices, len(events))
	if ends == nil {
		return int64(len(events))
	}
	lost := int64(0)
	at := r.engine.replica(m.scheduler)
	for i := range ends {
		if events[i].batch == 0 {
			lost++
			continue
		}
		r.engine.add(at, &events[i], ends[i], m.slices[0].offset)
	}
	return lost
}

// passEnds returns the ends of the n forward passes of a request with n events, or
// of n-1 passes if the pass that was scheduled last gave the request nothing, and
// else nil. The passes of prompts are slices prefill_forward, or the chunks in them.
func passEnds(list []rec, n int) []passEnd {
	whole, chunks := endsOf(list, forward), []passEnd(nil)
	if indexOf(list, chunk) >= 0 {
		chunks = endsOf(list, chunk)
	}
	for _, ends := range [][]passEnd{whole, chunks} {
		if len(ends) == n {
			return ends
		}
	}
	for _, ends := range [][]passEnd{whole, chunks} {
		if len(ends) == n-1 && len(ends) > 0 {
			return ends
		}
	}
	return nil
}

// passEnd is where a forward pass of a request ends.
type passEnd struct {
	at     int64
	decode bool // it gave a further token
}

// endsOf returns the ends of the decode steps and of the slices of prompts of the
// given stage, in order.
func endsOf(list []rec, prompts stage) []passEnd {
	ends := make([]passEnd, 0, len(list))
	counts := int32(-1)           // all up to here have occurred
	var others map[int32]struct{} // and these, which came out of order
	for i := range list {
		switch x := &list[i]; {
		case x.stage == decodeLoop && x.count >= 0:
			_, twice := others[x.count]
			switch {
			case twice || x.count <= counts: // exported twice
				continue
			case x.count == counts+1:
				counts++
			case others == nil:
				others = make(map[int32]struct{})
				fallthrough
			default:
				others[x.count] = struct{}{}
			}
			ends = append(ends, passEnd{x.end, true})
		case x.stage == decodeLoop:
			ends = append(ends, passEnd{x.end, true})
		case x.stage == prompts, x.stage == waitingForward:
			ends = append(ends, passEnd{x.end, false})
		}
	}
	slices.SortStableFunc(ends, func(a, b passEnd) int { return cmp.Compare(a.at, b.at) })
	return ends
}

// replica returns the index of a scheduler.
func (e *engineSteps) replica(th *thread) int32 {
	name := th.replica()
	for i := range e.replicas {
		if x := &e.replicas[i]; x.name == name && x.thread.dp == th.dp && x.thread.tp == th.tp && x.thread.pp == th.pp {
			return int32(i)
		}
	}
	e.replicas = append(e.replicas, replicaOf{name, *th})
	return int32(len(e.replicas) - 1)
}

func (e *engineSteps) add(replica int32, x *schedule, end passEnd, offset int64) {
	key := mix(x.batch, uint64(replica)+1)
	i, ok := e.index[key]
	if !ok {
		if len(e.list) == maxSteps {
			e.full++
			return
		}
		if e.index == nil {
			e.index = make(map[uint64]int32)
		}
		i = int32(len(e.list))
		e.index[key] = i
		e.list = append(e.list, engineStep{replica: replica, size: x.size, mode: x.mode, first: end.at, last: end.at, offset: offset})
	}
	s := &e.list[i]
	if s.members++; end.decode {
		s.decoding++
	}
	s.first, s.last, s.offset = min(s.first, end.at), max(s.last, end.at), min(s.offset, offset)
	if s.size != x.size || s.mode != x.mode {
		s.size, s.mode = -1, noMode
	}
}

// stepRows makes rows of the steps of a run.
func (f *fold) stepRows(r *run) {
	e := &r.engine
	kept := e.list[:0]
	var again int64
	first := int64(-1)
	for _, s := range e.list {
		if s.last-s.first > spread {
			if again++; first < 0 || s.offset < first {
				first = s.offset
			}
			continue
		}
		kept = append(kept, s)
	}
	f.noteMany(&probReused, first, again)
	f.noteMany(&probManySteps, -1, e.full)
	slices.SortFunc(kept, func(a, b engineStep) int {
		return cmp.Or(cmp.Compare(a.replica, b.replica), cmp.Compare(a.last, b.last), cmp.Compare(a.offset, b.offset), cmp.Compare(a.first, b.first), cmp.Compare(a.size, b.size))
	})
	if len(kept) == 0 {
		return
	}
	r.engineRows = trace.NewBuilder(trace.Steps)
	var seen, all int64
	for i, number := 0, int64(0); i < len(kept); i++ {
		if number++; i == 0 || kept[i].replica != kept[i-1].replica {
			number = 0
		}
		f.stepRow(r, kept, i, number)
		if s := &kept[i]; s.size >= s.members {
			seen, all = seen+int64(s.members), all+int64(s.size)
		}
	}
	if seen < all {
		r.meta.Notes = append(r.meta.Notes, fmt.Sprintf("steps_partial: of the sequences that the scheduler put into steps %d of %d are in the file; a step of which none is counts to the next one", seen, all))
	}
	e.list, e.index = nil, nil
}

// stepRow makes a row of step i, whose interval begins with the end of the previous
// step.
func (f *fold) stepRow(r *run, list []engineStep, i int, number int64) {
	s, b := &list[i], r.engineRows
	at := &r.engine.replicas[s.replica]
	if at.name != "" {
		b.Dict(trace.StepReplica, []byte(at.name))
	}
	for _, x := range [...]struct {
		col  trace.Col
		rank int64
	}{{trace.StepDP, at.thread.dp}, {trace.StepTP, at.thread.tp}, {trace.StepPP, at.thread.pp}} {
		if x.rank >= 0 {
			b.Int(x.col, x.rank)
		}
	}
	b.Dict(trace.StepEngine, []byte("sglang"))
	b.Int(trace.StepIndex, number)
	b.Int(trace.StepT, s.last)
	b.Code(trace.StepQuantity, int32(trace.Interval))
	if number > 0 {
		b.Int(trace.StepDuration, s.last-list[i-1].last)
	}
	if s.mode != noMode {
		b.Code(trace.StepKindCol, int32(s.mode))
	}
	switch s.mode {
	case trace.StepPrefill:
		if s.size >= 0 {
			b.Int(trace.StepContext, int64(s.size))
		}
	case trace.StepDecode, trace.StepVerify:
		if s.size >= 0 {
			b.Int(trace.StepRunning, int64(s.size))
		}
	case trace.StepMixed:
		if s.size == s.members {
			b.Int(trace.StepRunning, int64(s.decoding))
			b.Int(trace.StepContext, int64(s.size-s.decoding))
		}
	}
	b.Int(trace.StepOffset, s.offset)
	b.EndRow()
}

// stepBatch returns the next rows of steps, or nil when all are out. Requests are
// complete by then.
func (f *fold) stepBatch() *trace.Batch {
	for _, r := range f.runs {
		if r.engineRows == nil && len(r.engine.list) > 0 {
			f.stepRows(r)
		}
		if r.engineRows != nil && r.engineRows.Rows() > 0 {
			return r.engineRows.Take(&r.meta, f.file)
		}
	}
	return nil
}
