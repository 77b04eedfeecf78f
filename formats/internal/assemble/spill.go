package assemble

import (
	"fmt"
	"math/bits"

	"servescope/formats/source"
)

// With many requests open their memory may be larger than the budget. Then they
// go to a temporary file in parts by the hash of their ids: a part that has gone
// is a list of what is known of its requests, and of all their later events. When
// the log has been read, each part is assembled by itself, if need be in parts of
// its own. Since no two parts have an id in common, the rows are those that there
// would have been without; only their order is another.

// parts is how many there are at each of the levels, told by six bits of the
// hash each; sent go together.
const (
	partBits = 6
	parts    = 1 << partBits
	levels   = groupBits / partBits
	sent     = 8
	partSize = 32 << 10 // bytes of a part that are written together
)

// spill is where the parts are.
type spill struct {
	file  source.TempFile
	level int // of the parts below: those of the part that is being assembled
	parts [parts]*part
	away  uint64  // set of the parts that have gone
	todo  []*part // that have still to be assembled
	now   *part   // is being assembled
	kept  []Tick
	again Events
	read  []byte
	err   error
}

// part is a part that has gone: chunks of whole records in the file, then those
// in buf.
type part struct {
	level  int
	chunks []chunk
	buf    []byte
}

type chunk struct {
	off  int64
	size int
}

// The kinds of records of a part.
const (
	usedRecord = iota
	openRecord
	eventRecord
)

// openBytes is what an open request takes apart from its tokens and texts.
const openBytes = 512

// held is the memory of the open requests. Where they cannot go anywhere it is
// without that of their gaps, which has a bound of its own.
func (a *shard) held() int64 {
	n := int64(a.table.n)*openBytes + a.texts
	if a.spill.file.Dir != "" {
		n += int64(a.nodes.live) * nodeBytes
	}
	return n
}

// relieve makes room where there is no memory for all open requests. It reports
// whether it had to.
func (a *shard) relieve() bool {
	if a.memory == 0 || a.held() <= a.memory || a.spill.err != nil {
		return false
	}
	s := &a.spill
	if s.file.Dir == "" || s.level == levels {
		return a.giveUpOldest()
	}
	for a.held() > a.memory && s.away != 1<<parts-1 {
		a.send((1<<sent - 1) << (bits.TrailingZeros64(^s.away)))
	}
	return true
}

// However little memory there is, fewOpen requests may be open if their texts are
// not longer than fewTexts.
const (
	fewOpen  = 256 / Shards
	fewTexts = 16 << 20 / Shards
)

// giveUpOldest writes the older half of the open requests as open.
func (a *shard) giveUpOldest() bool {
	if a.table.n <= fewOpen && (a.texts <= max(a.memory, fewTexts) || a.table.n < 2) {
		return false
	}
	a.expire(crowded)
	return true
}

// part returns the part of an id at the current level.
func (s *spill) part(hash uint64) int {
	return int(hash >> (64 - partBits - partBits*s.level) & (parts - 1))
}

// isAway reports whether the part of an id has gone.
func (s *spill) isAway(hash uint64) bool { return s.away>>s.part(hash)&1 != 0 }

// send lets a set of parts go.
func (a *shard) send(set uint64) {
	s := &a.spill
	s.away |= set
	for k := range s.parts {
		if set>>k&1 != 0 {
			s.parts[k] = &part{level: s.level + 1}
		}
	}
	for g, uses := range a.recent.groups {
		if len(uses) > 0 && set>>s.part(uint64(g)<<(64-groupBits))&1 != 0 {
			for i := range uses {
				s.put(uses[i].hash, usedRecord, func(c *codec) { c.use(&uses[i]) })
			}
			a.recent.groups[g] = nil
		}
	}
	var list []*open // a slot may move when another is removed
	for _, sl := range a.table.slots {
		if sl.q != nil && sl.q.of == nil && set>>s.part(sl.hash)&1 != 0 {
			list = append(list, sl.q)
		}
	}
	for _, q := range list {
		a.sendRequest(q)
	}
}

// sendRequest writes an open request to its part and forgets it.
func (a *shard) sendRequest(q *open) {
	a.spill.put(q.hash, openRecord, func(c *codec) {
		c.request(&a.nodes, q)
		n := len(q.choices)
		number(c, &n)
		for _, other := range q.choices {
			c.request(&a.nodes, other)
		}
	})
	for _, other := range q.choices {
		a.leave(other)
		a.drop(other)
	}
	a.leave(q)
	a.drop(q)
}

// put adds a record to the part of an id.
func (s *spill) put(hash uint64, kind int, write func(*codec)) {
	p := s.parts[s.part(hash)]
	c := codec{b: p.buf}
	number(&c, &kind)
	write(&c)
	if p.buf = c.b; len(p.buf) >= partSize {
		s.write(p)
	}
}

// putEvent adds an event to the part of its request.
func (s *spill) putEvent(e *Events, ev *Event) {
	s.put(ev.Hash, eventRecord, func(c *codec) {
		offset, id := e.Base+int64(ev.Line), e.Bytes(ev.ID)
		c.event(ev, &offset, &id)
		c.fields(e.Fields[ev.Fields:ev.Fields+uint32(ev.NFields)], e.Bytes, nil)
	})
}

// write moves the buffer of a part to the file.
func (s *spill) write(p *part) {
	if s.err == nil {
		off, err := s.file.Append(p.buf)
		if err != nil {
			s.fail(err)
		}
		p.chunks = append(p.chunks, chunk{off, len(p.buf)})
	}
	p.buf = p.buf[:0]
}

func (s *spill) fail(err error) {
	s.err = fmt.Errorf("there is no memory for all open requests: %w", err)
}

// sift leaves out the events whose part has gone, and keeps them there.
func (a *shard) sift(e *Events, list []Tick) []Tick {
	s := &a.spill
	s.kept = s.kept[:0]
	for i := range list {
		if !s.isAway(list[i].hash) {
			s.kept = append(s.kept, list[i])
			continue
		}
		ev := e.Event(&list[i])
		s.putEvent(e, &ev)
	}
	return s.kept
}

// next begins with another part, and reports whether there is one.
func (a *shard) next() bool {
	s := &a.spill
	for _, p := range s.parts {
		if p != nil {
			s.todo = append(s.todo, p)
		}
	}
	s.parts, s.away, s.now = [parts]*part{}, 0, nil
	n := len(s.todo) - 1
	if n < 0 || s.err != nil {
		return false
	}
	s.now, s.todo = s.todo[n], s.todo[:n]
	s.level = s.now.level
	a.recent = recent{}
	return true
}

// flushPart goes one step on with the parts that have gone, once no request is left
// of those before; it reports false when there are no more.
func (a *shard) flushPart() (more bool) {
	if a.resume() {
		return true
	}
	if a.spill.now != nil { // has been read
		a.spill.now = nil
		a.left = a.byOffset()
		return true
	}
	return a.next()
}

// resume assembles the next records of the part that is being assembled, and
// reports whether there were any.
func (a *shard) resume() bool {
	s := &a.spill
	switch p := s.now; {
	case p == nil || s.err != nil:
		return false
	case len(p.chunks) > 0:
		c := p.chunks[0]
		p.chunks = p.chunks[1:]
		s.read = append(s.read[:0], make([]byte, c.size)...)
		if err := s.file.Read(s.read, c.off); err != nil {
			s.fail(err)
			return false
		}
		a.records(s.read)
	case len(p.buf) > 0:
		a.records(p.buf)
		p.buf = nil
	default:
		return false
	}
	return true
}

// records assembles records of a part.
func (a *shard) records(b []byte) {
	s := &a.spill
	c := codec{b: b, reading: true}
	for len(c.b) > 0 && s.err == nil {
		var kind int
		number(&c, &kind)
		switch kind {
		case usedRecord:
			var u use
			c.use(&u)
			a.recent.put(u)
		case openRecord:
			a.receive(&c)
		default:
			a.event(&c)
		}
		if c.bad {
			s.fail(source.ErrChanged)
		}
	}
}

// receive takes an open request back.
func (a *shard) receive(c *codec) {
	q := a.received(c)
	var n int
	number(c, &n)
	for ; n > 0 && !c.bad; n-- {
		other := a.received(c)
		other.of = q
		q.choices = append(q.choices, other)
	}
	for _, q := range append([]*open{q}, q.choices...) {
		a.account(q.detail)
		a.table.insert(q.hash, q)
	}
	if a.spill.isAway(q.hash) {
		a.sendRequest(q)
	}
	a.relieve()
}

// received reads an open request, without its further choices.
func (a *shard) received(c *codec) *open {
	q := a.fresh()
	if !c.request(&a.nodes, q) {
		a.note(outOfMemory, q.offset)
	}
	return q
}

// event adds an event that was kept in a part.
func (a *shard) event(c *codec) {
	var ev Event
	var offset int64
	var id []byte
	e := &a.spill.again
	c.event(&ev, &offset, &id)
	e.Reset(offset, nil)
	ev.ID = e.Keep(id)
	e.Fields = c.fields(e.Fields, nil, e.Keep)
	ev.NFields = uint16(len(e.Fields))
	if a.spill.isAway(ev.Hash) {
		a.spill.putEvent(e, &ev)
		return
	}
	a.add(e, &ev, nil)
	a.relieve()
}
