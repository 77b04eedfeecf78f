package wire

import (
	"encoding/binary"
	"math"
	"reflect"
	"slices"
	"strings"
)

// Append appends a value, or what a pointer points to: numbers, texts, truth values, and structs, slices,
// pointers and maps by text of these. Nil and empty are the same. It panics for
// anything else, and for structs with fields that are not exported.
func Append(dst []byte, v any) []byte {
	return appendValue(dst, reflect.Indirect(reflect.ValueOf(v)))
}

func appendValue(dst []byte, v reflect.Value) []byte {
	switch v.Kind() {
	case reflect.Bool:
		if v.Bool() {
			return append(dst, 1)
		}
		return append(dst, 0)
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return binary.AppendVarint(dst, v.Int())
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return binary.AppendUvarint(dst, v.Uint())
	case reflect.Float64:
		return binary.LittleEndian.AppendUint64(dst, math.Float64bits(v.Float()))
	case reflect.String:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		return append(dst, v.String()...)
	case reflect.Slice:
		dst = binary.AppendUvarint(dst, uint64(v.Len()))
		for i := range v.Len() {
			dst = appendValue(dst, v.Index(i))
		}
		return dst
	case reflect.Map:
		keys := v.MapKeys()
		slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
		dst = binary.AppendUvarint(dst, uint64(len(keys)))
		for _, k := range keys {
			dst = appendValue(appendValue(dst, k), v.MapIndex(k))
		}
		return dst
	case reflect.Pointer:
		if v.IsNil() {
			return append(dst, 0)
		}
		return appendValue(append(dst, 1), v.Elem())
	case reflect.Struct:
		for i := range v.NumField() {
			dst = appendValue(dst, v.Field(i))
		}
		return dst
	}
	panic("wire: no form for " + v.Type().String())
}

// Load sets the value that p points to, of the type that was appended. It returns
// false where src does not hold one, and nothing else.
func Load(src []byte, p any) bool {
	l := loader{src: src}
	l.value(reflect.ValueOf(p).Elem())
	return !l.bad && len(l.src) == 0
}

type loader struct {
	src []byte
	bad bool
}

func (l *loader) take(n int) []byte {
	if n < 0 || n > len(l.src) {
		l.bad, l.src = true, nil
		return nil
	}
	out := l.src[:n]
	l.src = l.src[n:]
	return out
}

func (l *loader) count() int {
	n, size := binary.Uvarint(l.src)
	if l.take(size); size <= 0 || n > math.MaxInt32 {
		l.bad = true
		return 0
	}
	return int(n)
}

func (l *loader) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Bool:
		if b := l.take(1); b != nil {
			v.SetBool(b[0] == 1)
		}
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		n, size := binary.Varint(l.src)
		if l.bad = l.bad || size <= 0; !l.bad {
			l.take(size)
			v.SetInt(n)
		}
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		n, size := binary.Uvarint(l.src)
		if l.bad = l.bad || size <= 0; !l.bad {
			l.take(size)
			v.SetUint(n)
		}
	case reflect.Float64:
		if b := l.take(8); b != nil {
			v.SetFloat(math.Float64frombits(binary.LittleEndian.Uint64(b)))
		}
	case reflect.String:
		v.SetString(string(l.take(l.count())))
	case reflect.Slice:
		for n := l.count(); n > 0 && !l.bad; n-- {
			e := reflect.New(v.Type().Elem()).Elem()
			l.value(e)
			v.Set(reflect.Append(v, e))
		}
	case reflect.Map:
		for n := l.count(); n > 0 && !l.bad; n-- {
			k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
			l.value(k)
			l.value(e)
			if v.IsNil() {
				v.Set(reflect.MakeMap(v.Type()))
			}
			v.SetMapIndex(k, e)
		}
	case reflect.Pointer:
		if b := l.take(1); b != nil && b[0] == 1 {
			v.Set(reflect.New(v.Type().Elem()))
			l.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			l.value(v.Field(i))
		}
	}
}
