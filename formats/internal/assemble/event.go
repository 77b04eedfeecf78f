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
	from uint32 // offset of the id in the block
	lead uint16 // bytes of the line before the id
	size uint8  // length of the id
}

// The longest id of a tick, and the most bytes of its line before it.
const (
	MaxTickID   = math.MaxUint8
	MaxTickLead = math.MaxUint16
)

// MakeTick returns the tick of a Token event at the given time. hash is that of
// the id, from and size are its place, 1 to MaxTickID bytes long, and lead, at most
// MaxTickLead, is the number of bytes of its line before it.
func MakeTick(hash uint64, at int64, from, lead, size int) Tick {
	return Tick{hash, at, uint32(from), uint16(lead), uint8(size)}
}

// SetTime makes t's stamp at, in ns.
func (t *Tick) SetTime(at int64) { t.at = at }

// SetName makes t one of a Token event of a request, as MakeTick does, and leaves its
// stamp. Ticks made in a row by these two need not be copied.
func (t *Tick) SetName(hash uint64, from, lead, size int) {
	t.hash, t.from, t.lead, t.size = hash, uint32(from), uint16(lead), uint8(size)
}

// Event returns the i-th event in file order.
func (e *Events) Event(i int) Event { return e.event(&e.Ticks[i]) }

func (e *Events) event(t *Tick) Event {
	if t.size == 0 {
		return e.List[t.from]
	}
	return Event{Hash: t.hash, At: t.at, ID: Span{t.from, t.from + uint32(t.size)}, Line: t.from - uint32(t.lead),
		Tokens: -1, Kind: Token, Timed: true, Sort: -1}
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
	Ticks  []Tick  // all events, in file order
	List   []Event // those that are no ticks
	Fields []Field // of these
}

// Reset empties e for the block at the given offset.
func (e *Events) Reset(base int64, text []byte) {
	e.Base, e.Text = base, text
	e.Own, e.Ticks, e.List, e.Fields = e.Own[:0], e.Ticks[:0], e.List[:0], e.Fields[:0]
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
	e.Ticks = append(e.Ticks, Tick{hash: ev.Hash, from: uint32(len(e.List))})
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
func Hash(id []byte) uint64 {
	h := HashSeed
	n := len(id)
	for ; len(id) >= 8; id = id[8:] {
		h = Mix(h, binary.LittleEndian.Uint64(id))
	}
	var last [8]byte
	copy(last[:], id)
	return Mix(Mix(h, binary.LittleEndian.Uint64(last[:])), uint64(n))
}
