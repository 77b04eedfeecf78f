package parquet

import (
	"encoding/base64"
	"encoding/binary"
	"time"

	"servescope/formats/internal/column"
	"servescope/formats/internal/flatbuffer"
)

// Parquet has no type for durations: writers that are based on Arrow (pandas,
// pyarrow, Polars) store whole numbers, and the schema of Arrow under this key of
// the metadata, as a message in base64. Only there is the unit.
const arrowSchema = "ARROW:schema"

// Types of Arrow, and the header of a message that is a schema; see
// https://github.com/apache/arrow/blob/main/format/Schema.fbs
const (
	arrowList      = 12
	arrowStruct    = 13
	arrowDuration  = 18
	arrowLargeList = 21
	isSchema       = 1
)

// durations sets the units of the leaves that are durations by the schema of
// Arrow, if the file has one that can be read.
func durations(leaves []leaf, schema string) {
	text, err := base64.StdEncoding.DecodeString(schema)
	if err != nil {
		return
	}
	s := arrowUnits{steps: make(map[string]int64)}
	if !s.message(text) {
		return
	}
	for i := range leaves {
		l := &leaves[i]
		plain := l.physical == int64s && l.Step == 0 && l.Scale == 0 && !l.Unsigned
		if step := s.steps[l.Name]; step > 0 && plain && (l.Kind == column.Int || l.Kind == column.IntList) {
			l.Step = step
		}
	}
}

// arrowUnits finds the units of durations, in ns, by the names that lead to them;
// -1 where columns of one name differ.
type arrowUnits struct {
	b      []byte
	fields int
	steps  map[string]int64
}

// message reads a message, and reports whether it is a whole schema.
func (s *arrowUnits) message(text []byte) (ok bool) {
	defer func() {
		if recover() != nil { // an offset leads out of the text
			ok = false
		}
	}()
	if binary.LittleEndian.Uint32(text) == 0xffffffff { // before the length; not in old files
		text = text[4:]
	}
	s.b = text[4:]
	root := flatbuffer.Root(s.b)
	kind, at := flatbuffer.Slot(s.b, root, 1), flatbuffer.Slot(s.b, root, 2)
	if kind == 0 || s.b[kind] != isSchema || at == 0 {
		return false
	}
	return s.all(flatbuffer.Slot(s.b, flatbuffer.Table(s.b, at), 1), 0, "", true)
}

// all reads a vector of fields within those that prefix names. The element of a
// list has no name of its own.
func (s *arrowUnits) all(at, depth int, prefix string, named bool) bool {
	first, n, ok := flatbuffer.Vector(s.b, at, 4)
	if s.fields += n; !ok || s.fields > column.Most() || depth > maxDepth {
		return false
	}
	for i := range n {
		field, name := flatbuffer.Table(s.b, first+4*i), prefix
		if named {
			name = joined([]string{prefix, s.text(flatbuffer.Slot(s.b, field, 0))})
		}
		kind := flatbuffer.Slot(s.b, field, 2)
		if kind == 0 {
			continue
		}
		switch t := s.b[kind]; t {
		case arrowStruct, arrowList, arrowLargeList:
			if !s.all(flatbuffer.Slot(s.b, field, 5), depth+1, name, t == arrowStruct) {
				return false
			}
		case arrowDuration:
			s.duration(name, flatbuffer.Slot(s.b, field, 3))
		}
	}
	return true
}

// duration notes the unit of a type of durations. That of milliseconds is the
// default.
func (s *arrowUnits) duration(name string, at int) {
	unit := uint16(1)
	if at > 0 {
		if at = flatbuffer.Slot(s.b, flatbuffer.Table(s.b, at), 0); at > 0 {
			unit = binary.LittleEndian.Uint16(s.b[at:])
		}
	}
	step := int64(-1)
	if unit < 4 {
		step = [...]int64{int64(time.Second), int64(time.Millisecond), int64(time.Microsecond), 1}[unit]
	}
	if before, ok := s.steps[name]; ok && before != step {
		step = -1
	}
	s.steps[name] = step
}

func (s *arrowUnits) text(at int) string {
	first, n, ok := flatbuffer.Vector(s.b, at, 1)
	if !ok {
		return ""
	}
	return string(s.b[first : first+n])
}
