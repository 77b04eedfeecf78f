package assemble

import (
	"encoding/binary"
	"math"
	"math/bits"

	"servescope/analyzer/trace"
)

// Kind is what happened to a request.
type Kind uint8

// The kinds of events.
const (
	Arrival      Kind = iota // the observing side saw the request begin
	Dispatched               // the frontend handed it to the engine
	Queued                   // it entered the scheduler's queue
	Admitted                 // the scheduler took it up
	PrefillStart             // its first forward pass began
	PrefillEnd               // its last forward pass of the prompt ended
	FirstEvent               // the first data event was sent, with or without a token
	Token                    // a chunk with at least one token was emitted
	Finish                   // it ended
	Failure                  // it ended with an error
	Abort                    // it was cancelled
)

// stages are the columns of the kinds before Token. The earliest of several
// events of a kind counts.
var stages = [...]trace.Col{
	Dispatched: trace.Dispatched, Queued: trace.Queued, Admitted: trace.Admitted,
	PrefillStart: trace.PrefillStart, PrefillEnd: trace.PrefillEnd, FirstEvent: trace.FirstEvent,
}

// Event is one event of a block, small because there are millions. Its texts are
// ranges of the block's bytes.
type Event struct {
	Hash    uint64 // of the id
	At      int64  // stamp in ns, where Timed
	ID      Span
	Tokens  int64  // of a Token event; -1: not stated
	Line    uint32 // offset of its line in the block
	Fields  uint32 // index of its first further column in Events.Fields
	NFields uint16
	Kind    Kind
	Timed   bool
	Sort    int8  // kind of the token: code of the token_kind column; -1: not stated
	Choice  int32 // of several: 1 is choice 0, and so on; 0: not stated
}

// Tick is an event of a block in the fewest bytes: a Token event that states its
// time and no more, of a request whose id stands in the block's text; or where
// size is 0 the event at from in Events.List.
type Tick struct {
	hash uint64 // of the id
	at   int64  // stamp in ns
	name        // of the request
}

// name is where an id is: its offset in the block, and from bit 32 on the number of
// bytes of the line before it, and from bit 48 on its length.
type name uint64

func makeName(from, lead, size int) name { return name(from) | name(lead)<<32 | name(size)<<48 }

func (n name) from() uint32 { return uint32(n) }
func (n name) size() uint8  { return uint8(n >> 48) }

// line is the offset of the line.
func (n name) line() uint32 { return uint32(n) - uint32(uint16(n>>32)) }

// The longest id of a tick, and the most bytes of its line before it.
const (
	MaxTickID   = math.MaxUint8
	MaxTickLead = math.MaxUint16
)

// MakeTick returns the tick of a Token event at the given time. hash is that of
// the id, from and size are its place, 1 to MaxTickID bytes long, and lead, at most
// MaxTickLead, is the number of bytes of its line before it.
func MakeTick(hash uint64, at int64, from, lead, size int) Tick {
	return Tick{hash, at, makeName(from, lead, size)}
}

// Event returns the event of a tick.
func (e *Events) Event(t *Tick) Event {
	if t.size() == 0 {
		return e.List[t.from()]
	}
	return Event{Hash: t.hash, At: t.at, ID: Span{t.from(), t.from() + uint32(t.size())}, Line: t.line(),
		Tokens: -1, Kind: Token, Timed: true, Sort: -1}
}

// place tells where the event of a tick is in its block: later ones have greater
// numbers, also where a line has several.
func (e *Events) place(t *Tick) uint64 {
	if t.size() == 0 {
		return uint64(e.List[t.from()].Line)<<32 | uint64(t.from())
	}
	return uint64(t.line()) << 32
}

// Span is a range of a block's bytes.
type Span struct{ From, To uint32 }

// Field is a further column that an event states.
type Field struct {
	Col  trace.Col
	Text bool
	Int  int64
	Span Span
}

// Columns that a Field may name beside those of the table.
const (
	arrivalField = trace.Col(columns) + iota
	errorField
)

// Events is the events of one block.
type Events struct {
	Base   int64   // offset of the block in its source
	Text   []byte  // bytes of the block
	Own    []byte  // further bytes that spans may name, as if they stood behind Text
	List   []Event // events that are no ticks
	Fields []Field // of these

	ticks []Tick // all events: of each shard in file order, in room each
	room  int
	n     [Shards]int // ticks of the shards
}

// Reset empties e for the block at the given offset.
func (e *Events) Reset(base int64, text []byte) {
	e.Base, e.Text = base, text
	e.Own, e.List, e.Fields = e.Own[:0], e.List[:0], e.Fields[:0]
	e.n = [Shards]int{}
}

// Len returns the number of events.
func (e *Events) Len() (n int) {
	for _, k := range e.n {
		n += k
	}
	return n
}

// Shard returns the events of a shard, in file order.
func (e *Events) Shard(k int) []Tick { return e.ticks[k*e.room:][:e.n[k]] }

// AddTick appends a tick.
func (e *Events) AddTick(t Tick) {
	e.grow(1)
	k := shardOf(t.hash)
	e.ticks[k*e.room+e.n[k]] = t
	e.n[k]++
}

// AddTicks appends those of lines that have one layout: the id of the i-th, whose hash
// is hash[i], begins at from + i*step, and its stamp is at[i]; lead and size are as for
// MakeTick.
func (e *Events) AddTicks(hash []uint64, at []int64, from, step, lead, size int) {
	e.grow(len(hash))
	ticks, i, j := e.ticks, e.n[0], e.room+e.n[1]
	at = at[:len(hash)]
	id := makeName(from, lead, size)
	for n, h := range hash {
		second := shardOf(h)
		t := &ticks[i^(i^j)&-second] // i or j, without a branch
		t.hash, t.at, t.name = h, at[n], id
		i, j = i+1-second, j+second
		id += name(step)
	}
	e.n = [Shards]int{i, j - e.room}
}

// grow makes room for n more ticks of any shard.
func (e *Events) grow(n int) {
	if max(e.n[0], e.n[1])+n <= e.room {
		return
	}
	room := max(2*e.room, 64) + n
	ticks := make([]Tick, Shards*room)
	for k := range Shards {
		copy(ticks[k*room:], e.Shard(k))
	}
	e.ticks, e.room = ticks, room
}

// Bytes returns the bytes of a span.
func (e *Events) Bytes(s Span) []byte {
	if n := uint32(len(e.Text)); s.From >= n {
		return e.Own[s.From-n : s.To-n]
	}
	return e.Text[s.From:s.To]
}

// Keep copies a text and returns its span.
func (e *Events) Keep(s []byte) Span {
	from := uint32(len(e.Text) + len(e.Own))
	e.Own = append(e.Own, s...)
	return Span{from, from + uint32(len(s))}
}

// Add appends an event together with the columns that are set in r, the
// request's id apart.
func (e *Events) Add(ev Event, r *Row) {
	ev.Fields = uint32(len(e.Fields))
	for half, set := range r.ints {
		for ; set != 0; set &= set - 1 {
			c := trace.Col(half<<6 + bits.TrailingZeros64(set))
			e.Fields = append(e.Fields, Field{Col: c, Int: r.int[c]})
		}
	}
	for half, set := range r.texts {
		for ; set != 0; set &= set - 1 {
			if c := trace.Col(half<<6 + bits.TrailingZeros64(set)); c != trace.RequestID {
				e.Fields = append(e.Fields, Field{Col: c, Text: true, Span: e.Keep(r.text[c])})
			}
		}
	}
	if r.HasArrival {
		e.Fields = append(e.Fields, Field{Col: arrivalField, Int: r.Arrival})
	}
	if r.Error {
		e.Fields = append(e.Fields, Field{Col: errorField})
	}
	ev.NFields = uint16(len(e.Fields) - int(ev.Fields))
	e.AddPlain(ev)
}

// AddPlain appends an event without further columns.
func (e *Events) AddPlain(ev Event) {
	e.AddTick(Tick{hash: ev.Hash, name: name(len(e.List))})
	e.List = append(e.List, ev)
}

// HashSeed is the hash of nothing, to begin a chain of Mix with. Both constants
// are odd numbers with well spread bits; any would do.
const (
	HashSeed   uint64 = 0x2d358dccaa6c78a5
	hashFactor uint64 = 0x8bb84b93962eacc9
)

// Mix returns the hash of what has hash h followed by the eight bytes of x.
func Mix(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^x, hashFactor)
	return hi ^ lo
}

// Hash returns the hash of an id: Mix over its bytes, eight at a time, the last
// word filled up with zeros, then over its length.
func Hash(id []byte) uint64 { return hashFrom(HashSeed, id) }

// hashFrom is Hash with another hash of nothing.
func hashFrom(h uint64, id []byte) uint64 {
	n := len(id)
	for ; len(id) >= 8; id = id[8:] {
		h = Mix(h, binary.LittleEndian.Uint64(id))
	}
	var last [8]byte
	copy(last[:], id)
	return Mix(Mix(h, binary.LittleEndian.Uint64(last[:])), uint64(n))
}
