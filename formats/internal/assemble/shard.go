package assemble

import (
	"cmp"
	"slices"

	"servescope/analyzer/trace"
)

// shard is the open requests whose ids have one of the first bits of their hashes.
type shard struct {
	run     *trace.RunMeta
	file    string
	to      *shardEnds // where requests go that end
	at      uint64     // place of the event that is added, by which ends are ordered
	table   table
	recent  recent
	free    []*open // requests that are not in use
	nodes   nodes
	memory  int64  // bytes of the open requests, 0: no bound
	texts   int64  // of these, those of texts and fields
	most    uint32 // chunks of a request whose times are kept
	spill   spill
	touched int64 // keeps touch from being optimised away

	left []*open // requests that have still to be written at the end
}

// reasoning is the code of that kind of token.
var reasoning = int8(slices.Index(trace.Requests.Fields[trace.TokenKind].Values, "reasoning"))

// An id of up to idLen bytes is kept where its request is, the rest of one of up to
// restLen more in a line of 64 bytes besides.
const idLen, restLen = 24, 40

// open is a request that has not ended: what every token changes, in the 128
// bytes that a processor fetches together.
type open struct {
	id   [idLen]byte // filled up with zeros
	hash uint64
	last int64 // stamp of the last token in file order
	*detail
	chunks uint32
	flags  flags
	idSize uint8 // longID: the id is in the detail
	gaps   list
}

const longID = 255

// detail is the rest of an open request. Stages count where set has their bit.
type detail struct {
	rest      [restLen]byte // of the id, filled up with zeros
	longID    []byte
	offset    int64 // of the first event
	first     int64 // stamp of the first token in file order
	answer    int64 // stamp of the first token that is not reasoning
	reasoning int64 // tokens of kind reasoning
	tokenKind int8  // of the first token that states it
	kindAt    int64 // stamp of that, Unknown if it has none
	set       uint16
	stages    [len(stages)]int64
	counts    list // tokens per chunk, once one has been stated
	fields    []Field
	texts     []byte // of the fields' spans
	counted   int    // bytes of texts and fields that the assembler has counted
	sequence
}

type flags uint16

const (
	counted    flags = 1 << iota // counts is in use
	unsorted                     // a token came before the one before it in the file
	noFirst                      // the first token has no stamp
	noLast                       // the last token has no stamp
	noGaps                       // gaps are lost: a token has no stamp
	noMemory                     // gaps are lost: there was no memory for them
	gone                         // has ended: no event may be added
	kinds                        // a token states its kind
	answered                     // answer is set
	headless                     // the first event seen comes behind the first token
	hasArrival                   // the arrival stamp is set
)

// add adds one event; q may be its request.
func (a *shard) add(e *Events, ev *Event, q *open) {
	if ev.Choice != 0 {
		a.choice(e, ev)
		return
	}
	id := e.Bytes(ev.ID)
	if q == nil || q.flags&gone != 0 || q.hash != ev.Hash || !q.is(id) {
		if q = a.find(ev.Hash, id); q == nil {
			if q = a.begin(e, ev, id); q == nil {
				return
			}
		}
	}
	if ev.Kind != Token {
		a.stage(e, ev, q)
		return
	}
	a.token(q, ev)
	if ev.NFields > 0 {
		a.keep(q.detail, e, ev)
	}
}

// name returns the request's id, perhaps in buf.
func (q *open) name(buf *[idLen + restLen]byte) []byte {
	if q.idSize == longID {
		return q.longID
	}
	copy(buf[:idLen], q.id[:])
	copy(buf[idLen:], q.rest[:])
	return buf[:min(int(q.idSize), len(buf))]
}

// is reports whether the request has that id. For a short one it does not touch the
// detail, which is far away.
func (q *open) is(id []byte) bool {
	switch {
	case q.idSize <= idLen:
		return string(q.id[:q.idSize]) == string(id)
	case q.idSize == longID:
		return string(q.longID) == string(id)
	}
	return int(q.idSize) == len(id) && string(q.id[:]) == string(id[:idLen]) && string(q.rest[:q.idSize-idLen]) == string(id[idLen:])
}

// setName gives a new request its id.
func (q *open) setName(id []byte) {
	if len(id) <= idLen+restLen {
		q.idSize = uint8(len(id))
		copy(q.rest[:], id[copy(q.id[:], id):])
		return
	}
	q.idSize = longID
	q.longID = append(q.longID[:0], id...)
}

// find returns the open request with the given id, or nil.
func (a *shard) find(hash uint64, id []byte) *open {
	if a.table.n == 0 {
		return nil
	}
	slots := a.table.slots
	mask := uint64(len(slots) - 1)
	for i := hash & mask; slots[i].q != nil; i = (i + 1) & mask {
		if slots[i].hash == hash && slots[i].q.is(id) {
			return slots[i].q
		}
	}
	return nil
}

// isHead reports whether an event of that kind begins a request on the side
// that was observed.
func (a *shard) isHead(k Kind) bool {
	return k == Arrival || k == Queued && a.run.Side >= trace.Engine
}

// begin opens a request for an event that belongs to none. It returns nil for one
// that comes after its request's end.
func (a *shard) begin(e *Events, ev *Event, id []byte) *open {
	if !a.isHead(ev.Kind) && a.recent.of(ev.Hash, id).n > 0 {
		a.note(afterEnd, e.Base+int64(ev.Line))
		return nil
	}
	q := a.fresh()
	q.hash, q.offset = ev.Hash, e.Base+int64(ev.Line)
	q.setName(id)
	a.account(q.detail)
	if ev.Kind >= Token {
		q.flags |= headless
	}
	a.table.insert(ev.Hash, q)
	return q
}

// pageLen is the number of open requests of a shard that are allocated together.
const pageLen = 1024 / Shards

// fresh returns a request that is not in use, empty.
func (a *shard) fresh() *open {
	if len(a.free) == 0 {
		page, details := make([]open, pageLen), make([]detail, pageLen)
		for i := range page {
			page[i].detail = &details[i]
			a.free = append(a.free, &page[i])
		}
	}
	n := len(a.free) - 1
	q := a.free[n]
	a.free = a.free[:n]
	d := q.detail
	*q = open{detail: d}
	*d = detail{tokenKind: -1, fields: d.fields[:0], texts: d.texts[:0], longID: d.longID[:0], sequence: sequence{choices: d.choices[:0]}}
	return q
}

// account counts the bytes of a request's texts and fields.
func (a *shard) account(d *detail) {
	n := len(d.texts) + len(d.longID) + fieldBytes*len(d.fields)
	a.texts += int64(n - d.counted)
	d.counted = n
}

const fieldBytes = 32

// token adds a token event.
func (a *shard) token(q *open, ev *Event) {
	q.chunks++
	if ev.Tokens >= 0 || ev.Sort >= 0 || q.flags&counted != 0 {
		a.tokenDetail(q, ev)
	}
	if !ev.Timed {
		if q.flags |= noGaps | noLast; q.chunks == 1 {
			q.flags |= noFirst
		}
		return
	}
	gap := ev.At - q.last
	q.last = ev.At
	if q.chunks == 1 || q.flags&noGaps != 0 {
		if q.chunks == 1 {
			q.first, gap = ev.At, 0
		}
		q.flags &^= noLast
	} else if q.flags&noMemory == 0 && (a.most > 0 && q.chunks > a.most || !a.nodes.push(&q.gaps, gap)) {
		a.giveUp(q)
	}
	if gap < 0 {
		q.flags |= unsorted
	}
	if ev.Sort != reasoning && (q.flags&answered == 0 || q.flags&unsorted != 0 && ev.At < q.answer) {
		q.flags |= answered
		q.answer = ev.At
	}
}

// tokenDetail adds what a token event states beside its time. A chunk that does
// not state its tokens has one.
func (a *shard) tokenDetail(q *open, ev *Event) {
	d := q.detail
	n := ev.Tokens
	if n < 0 {
		n = 1
	}
	if ev.Sort >= 0 && (q.flags&kinds == 0 || ev.Timed && ev.At < d.kindAt) {
		q.flags |= kinds
		if d.tokenKind, d.kindAt = ev.Sort, Unknown; ev.Timed {
			d.kindAt = ev.At
		}
	}
	if ev.Sort == reasoning {
		d.reasoning += n
	}
	if q.flags&noMemory != 0 || ev.Tokens < 0 && q.flags&counted == 0 {
		return
	}
	ok := true
	if q.flags&counted == 0 {
		q.flags |= counted
		for i := uint32(1); i < q.chunks && ok; i++ {
			ok = a.nodes.push(&d.counts, 1)
		}
	}
	if !ok || !a.nodes.push(&d.counts, n) {
		a.giveUp(q)
	}
}

// giveUp frees the lists of a request that there is no memory for.
func (a *shard) giveUp(q *open) {
	a.nodes.drop(&q.gaps)
	a.nodes.drop(&q.counts)
	q.flags |= noMemory
	a.note(outOfMemory, q.offset)
}

// stage adds an event that is no token, and writes the request if it ended.
func (a *shard) stage(e *Events, ev *Event, q *open) {
	d := q.detail
	off := e.Base + int64(ev.Line)
	switch ev.Kind {
	case Finish, Failure, Abort:
		if ev.Timed {
			d.fields = append(d.fields, Field{Col: trace.Finished, Int: ev.At})
		}
		a.keep(d, e, ev)
		a.end(q, [...]trace.Status{trace.OK, trace.Failed, trace.Aborted}[ev.Kind-Finish])
		return
	case Arrival:
		if q.flags&hasArrival != 0 && ev.Timed && d.stages[Arrival] != ev.At {
			a.note(arrivedAgain, off)
			a.end(q, trace.Open)
			q = a.begin(e, ev, e.Bytes(ev.ID))
			d = q.detail
		}
		q.flags |= hasArrival
	}
	switch {
	case d.set>>ev.Kind&1 != 0:
		a.note(repeatedEvent, off)
		if ev.Timed {
			d.stages[ev.Kind] = min(d.stages[ev.Kind], ev.At)
		}
	case ev.Timed:
		d.set |= 1 << ev.Kind
		d.stages[ev.Kind] = ev.At
	}
	a.keep(d, e, ev)
}

// keep copies the further columns of an event. Of several that state a column
// the last counts.
func (a *shard) keep(d *detail, e *Events, ev *Event) {
	for _, f := range e.Fields[ev.Fields : ev.Fields+uint32(ev.NFields)] {
		i := slices.IndexFunc(d.fields, func(o Field) bool { return o.Col == f.Col })
		if f.Text {
			s := e.Bytes(f.Span)
			if i >= 0 && string(d.text(d.fields[i].Span)) == string(s) {
				continue
			}
			f.Span = d.keepText(s)
		}
		if i >= 0 {
			d.fields[i] = f
		} else {
			d.fields = append(d.fields, f)
		}
	}
	a.account(d)
}

func (d *detail) text(s Span) []byte { return d.texts[s.From:s.To] }

func (d *detail) keepText(s []byte) Span {
	from := uint32(len(d.texts))
	d.texts = append(d.texts, s...)
	return Span{from, uint32(len(d.texts))}
}

// byOffset returns the open requests, without their further choices, in the
// order of their first events.
func (a *shard) byOffset() (list []*open) {
	for _, s := range a.table.slots {
		if s.q != nil && s.q.of == nil {
			list = append(list, s.q)
		}
	}
	slices.SortFunc(list, func(x, y *open) int { return cmp.Compare(x.offset, y.offset) })
	return list
}

// expire writes the older half of the open requests as open.
func (a *shard) expire(why *Problem) {
	list := a.byOffset()
	for _, q := range list[:(len(list)+1)/2] {
		a.giveAway(q, why)
	}
}

// giveAway writes an open request as open before its end is known.
func (a *shard) giveAway(q *open, why *Problem) {
	a.note(why, q.offset)
	a.end(q, trace.Open)
}
