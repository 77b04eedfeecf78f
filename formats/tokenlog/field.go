package tokenlog

import (
	"encoding/binary"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/numx"
)

// kind is what is done with a key's value.
type kind uint8

const (
	stamp       kind = iota // number in the unit of scale → column, a stamp
	duration                // the same, a duration
	count                   // integer → column
	boolean                 // true or false → column
	text                    // text → column
	code                    // one of the column's listed values → column
	statusCode              // the same, but others are left to the rules
	arrival                 // stamp of the request's arrival
	tokenTimes              // list of stamps
	gapList                 // list of durations
	tokenCounts             // list of integers
	failure                 // anything that is not null, false or empty: the request failed
	eventTime               // ts of an event
	eventName               // event
	eventTokens             // tokens of a token event
	eventKind               // kind of a token event
)

// field is one key that a line may have.
type field struct {
	name  string
	kind  kind
	scale int8 // numx scale of stamps and durations
	col   trace.Col
}

// aliases are keys that are not the name of a column.
var aliases = []field{
	{name: "arrival", kind: arrival, scale: numx.Second},
	{name: "prefill_done", kind: stamp, scale: numx.Second, col: trace.PrefillEnd},
	{name: "token_timestamps", kind: tokenTimes, scale: numx.Second},
	{name: "chunk_gaps", kind: gapList, scale: numx.Second},
	{name: "chunk_tokens", kind: tokenCounts},
	{name: "error", kind: failure},
	{name: "ts", kind: eventTime, scale: numx.Second},
	{name: "event", kind: eventName},
	{name: "tokens", kind: eventTokens},
	{name: "kind", kind: eventKind},
}

// keys is the table of all fields by name, with open addressing.
var keys = makeKeys()

const keyBits = 10

type keyTable [1 << keyBits]*field

func makeKeys() *keyTable {
	t := new(keyTable)
	for _, f := range aliases {
		t.add(f)
	}
	for i, c := range trace.Requests.Fields {
		f := field{name: c.Name, col: trace.Col(i), scale: numx.Second}
		switch {
		case f.col == trace.Offset, c.Type == trace.List:
			continue // not the writer's to say, or among the aliases
		case f.col == trace.StatusCol:
			f.kind = statusCode
		case c.Values != nil:
			f.kind = code
		case c.Type == trace.Text, c.Type == trace.Dict:
			f.kind = text
		case c.Type == trace.Bool:
			f.kind = boolean
		case c.Stamp:
			f.kind = stamp
		case c.Unit == unit.Nanosecond:
			f.kind = duration
		default:
			f.kind = count
		}
		t.add(f)
	}
	return t
}

// unitSuffixes are the ends of the keys of times in other units than seconds.
var unitSuffixes = [...]struct {
	suffix string
	scale  int8
}{{"_ms", numx.Millisecond}, {"_us", numx.Microsecond}, {"_ns", numx.Nanosecond}}

// add adds a field, and for times the same name with each unit.
func (t *keyTable) add(f field) {
	t.insert(f)
	switch f.kind {
	case stamp, duration, arrival, tokenTimes, gapList, eventTime:
		name := f.name
		for _, u := range unitSuffixes {
			f.name, f.scale = name+u.suffix, u.scale
			t.insert(f)
		}
	}
}

func (t *keyTable) insert(f field) {
	padded := append([]byte(f.name), make([]byte, 8)...)
	h := keyHash(padded, 0, len(f.name))
	for t[h] != nil {
		h = (h + 1) % (1 << keyBits)
	}
	t[h] = &f
}

// lookup returns the field whose name is b[from:to], or nil. b must have eight
// bytes behind from.
func (t *keyTable) lookup(b []byte, from, to int) *field {
	for h := keyHash(b, from, to); t[h] != nil; h = (h + 1) % (1 << keyBits) {
		if t[h].name == string(b[from:to]) {
			return t[h]
		}
	}
	return nil
}

// keyHash mixes the first and the last eight bytes and the length of a name.
func keyHash(b []byte, from, to int) uint32 {
	n := to - from
	first := binary.LittleEndian.Uint64(b[from:])
	last := first
	if n < 8 {
		first &= 1<<(8*n) - 1
		last = first
	} else {
		last = binary.LittleEndian.Uint64(b[to-8:])
	}
	h := first*0x9e3779b97f4a7c15 ^ (last+uint64(n))*0xbf58476d1ce4e5b9
	return uint32(h * 0x94d049bb133111eb >> (64 - keyBits))
}
