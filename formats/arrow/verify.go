package arrow

import (
	"encoding/binary"

	"servescope/formats/internal/column"
	"servescope/formats/internal/flatbuffer"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// maxDepth bounds how deep fields are nested, and column.Most how many there are:
// they may refer to each other, so that a few bytes could describe any number.
const maxDepth = 32

// verifier checks the counts in the metadata of a message, for each of which
// arrow-go allocates memory. Its methods panic where an offset leads out of the
// metadata.
type verifier struct {
	b      []byte
	fields int
	texts  int // bytes
}

// views says how many columns of views there are, for each of which a batch has a
// count of buffers: in the columns of the file, and at most in a dictionary.
type views struct{ columns, dictionary int }

func viewsOf(s *arrow.Schema) (n views) {
	for _, f := range s.Fields() {
		n.add(f.Type, &n.columns)
	}
	return n
}

func (n *views) add(t arrow.DataType, count *int) {
	switch t := t.(type) {
	case *arrow.StringViewType, *arrow.BinaryViewType:
		*count++
	case *arrow.DictionaryType:
		own := 0
		n.add(t.ValueType, &own)
		n.dictionary = max(n.dictionary, own)
	case arrow.NestedType:
		for _, f := range t.Fields() {
			n.add(f.Type, count)
		}
	}
}

// verify reports whether the counts in the metadata are such as the metadata
// could hold.
func (m *message) verify(meta []byte, n views) (ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	v := &verifier{b: meta}
	at := flatbuffer.Slot(meta, flatbuffer.Root(meta), 2)
	if at == 0 {
		return false
	}
	header := flatbuffer.Table(meta, at)
	switch m.kind {
	case ipc.MessageSchema:
		return v.pairs(flatbuffer.Slot(meta, header, 2)) && v.all(flatbuffer.Slot(meta, header, 1), 0)
	case ipc.MessageDictionaryBatch:
		at := flatbuffer.Slot(meta, header, 1)
		return at > 0 && v.records(flatbuffer.Table(v.b, at), n.dictionary)
	case ipc.MessageRecordBatch:
		return v.records(header, n.columns)
	}
	return true
}

// pairs checks key-value metadata, whose texts are copied.
func (v *verifier) pairs(at int) bool {
	first, n, ok := flatbuffer.Vector(v.b, at, 4)
	for i := 0; i < n && ok; i++ {
		pair := flatbuffer.Table(v.b, first+4*i)
		for k := range 2 {
			_, size, fits := flatbuffer.Vector(v.b, flatbuffer.Slot(v.b, pair, k), 1)
			v.texts += size
			ok = ok && fits && v.texts <= len(v.b)
		}
	}
	return ok
}

// all checks a vector of fields and those within them.
func (v *verifier) all(at, depth int) bool {
	first, n, ok := flatbuffer.Vector(v.b, at, 4)
	if v.fields += n; !ok || v.fields > column.Most() || depth > maxDepth {
		return false
	}
	for i := range n {
		field := flatbuffer.Table(v.b, first+4*i)
		if !v.pairs(flatbuffer.Slot(v.b, field, 6)) || !v.all(flatbuffer.Slot(v.b, field, 5), depth+1) {
			return false
		}
		if at := flatbuffer.Slot(v.b, field, 3); at > 0 { // a union lists the ids of its types in slot 1
			if kind := flatbuffer.Slot(v.b, field, 2); kind > 0 && v.b[kind] == unionType {
				if _, _, ok := flatbuffer.Vector(v.b, flatbuffer.Slot(v.b, flatbuffer.Table(v.b, at), 1), 4); !ok {
					return false
				}
			}
		}
	}
	return true
}

const unionType = 14

// records checks a record batch: nodes, buffers, and the counts of those that
// views have further: arrow-go reads as many as there are columns of views.
func (v *verifier) records(at, views int) bool {
	_, _, ok := flatbuffer.Vector(v.b, flatbuffer.Slot(v.b, at, 1), 16)
	_, buffers, ok2 := flatbuffer.Vector(v.b, flatbuffer.Slot(v.b, at, 2), 16)
	first, n, ok3 := flatbuffer.Vector(v.b, flatbuffer.Slot(v.b, at, 4), 8)
	if !ok || !ok2 || !ok3 || flatbuffer.Slot(v.b, at, 4) > 0 && n < views {
		return false
	}
	for i := range n {
		if binary.LittleEndian.Uint64(v.b[first+8*i:]) > uint64(buffers) {
			return false
		}
	}
	return true
}
