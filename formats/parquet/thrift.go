package parquet

import "encoding/binary"

// Types of the compact protocol of Thrift, in which the metadata of Parquet is
// written: https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md
const (
	thriftTrue = iota + 1
	thriftFalse
	thriftI8
	thriftI16
	thriftI32
	thriftI64
	thriftDouble
	thriftBinary
	thriftList
	thriftSet
	thriftMap
	thriftStruct
)

// maxDepth bounds how deep structs are nested.
const maxDepth = 32

// thrift reads values of the compact protocol one after the other. It allocates
// nothing by a count that the data claim. Data that are not what they should be
// make it bad, and everything that is read then is zero.
type thrift struct {
	b     []byte
	bad   bool
	depth int
}

func (t *thrift) fail() {
	t.bad, t.b = true, nil
}

func (t *thrift) byte() byte {
	if len(t.b) == 0 {
		t.fail()
		return 0
	}
	v := t.b[0]
	t.b = t.b[1:]
	return v
}

func (t *thrift) uvarint() uint64 {
	v, n := binary.Uvarint(t.b)
	if n <= 0 {
		t.fail()
		return 0
	}
	t.b = t.b[n:]
	return v
}

// take returns the next n bytes.
func (t *thrift) take(n uint64) []byte {
	if n > uint64(len(t.b)) {
		t.fail()
		return nil
	}
	v := t.b[:n:n]
	t.b = t.b[n:]
	return v
}

// int reads a whole number of the given type.
func (t *thrift) int(typ byte) int64 {
	switch typ {
	case thriftI8:
		return int64(int8(t.byte()))
	case thriftI16, thriftI32, thriftI64:
		v := t.uvarint()
		return int64(v>>1) ^ -int64(v&1)
	}
	t.fail()
	return 0
}

// text reads a text or blob of the given type.
func (t *thrift) text(typ byte) string {
	if typ != thriftBinary {
		t.fail()
		return ""
	}
	return string(t.take(t.uvarint()))
}

// fields reads a struct: f reads the value of each field, all of it, or skips it.
func (t *thrift) fields(typ byte, f func(id int64, typ byte)) {
	if t.depth++; typ != thriftStruct || t.depth > maxDepth {
		t.fail()
	}
	for id := int64(0); !t.bad; {
		h := t.byte()
		typ := h & 15
		if typ == 0 {
			break
		}
		if h>>4 != 0 {
			id += int64(h >> 4)
		} else {
			id = t.int(thriftI16)
		}
		f(id, typ)
	}
	t.depth--
}

// list reads a list: f reads each element.
func (t *thrift) list(typ byte, f func(typ byte)) {
	if typ != thriftList && typ != thriftSet {
		t.fail()
		return
	}
	h := t.byte()
	n := uint64(h >> 4)
	if n == 15 {
		n = t.uvarint()
	}
	for ; n > 0 && !t.bad; n-- {
		f(h & 15)
	}
}

// skip reads a value of a field and forgets it.
func (t *thrift) skip(typ byte) {
	switch typ {
	case thriftTrue, thriftFalse: // the type is the value
	case thriftI8:
		t.byte()
	case thriftI16, thriftI32, thriftI64:
		t.uvarint()
	case thriftDouble:
		t.take(8)
	case thriftBinary:
		t.take(t.uvarint())
	case thriftList, thriftSet:
		t.nested(func() { t.list(typ, t.element) })
	case thriftMap:
		t.nested(t.skipMap)
	case thriftStruct:
		t.fields(typ, func(_ int64, typ byte) { t.skip(typ) })
	default:
		t.fail()
	}
}

// element skips an element of a list, where a truth value takes a byte.
func (t *thrift) element(typ byte) {
	if typ <= thriftFalse {
		typ = thriftI8
	}
	t.skip(typ)
}

func (t *thrift) skipMap() {
	n := t.uvarint()
	if n == 0 {
		return
	}
	for types := t.byte(); n > 0 && !t.bad; n-- {
		t.element(types >> 4)
		t.element(types & 15)
	}
}

func (t *thrift) nested(f func()) {
	if t.depth++; t.depth > maxDepth {
		t.fail()
	}
	f()
	t.depth--
}
