package report

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
)

// former is a type whose JSON form is the form of another value.
type former interface{ form() any }

// Marshal returns the JSON form of a value by the same rules. The value consists
// of structs with json tags, maps by string, slices, texts, truth values, int,
// int32, int64 and float64.
func Marshal(v any) ([]byte, error) {
	var e encoder
	e.value(reflect.ValueOf(v))
	return e.buf, e.err
}

// partSize is the length from which a part of a stream is handed over.
const partSize = 64 << 10

type encoder struct {
	buf   []byte
	err   error
	forms map[reflect.Type]*typeForm
	keys  []string // of the objects that are being written, one behind the other

	write func([]byte) error // nil: buf takes everything
	last  byte               // the one before buf
}

// drain hands over the bytes written so far if they are longer than least.
func (e *encoder) drain(least int) {
	if e.write == nil || len(e.buf) <= least || e.err != nil {
		return
	}
	e.last = e.buf[len(e.buf)-1]
	e.fail(e.write(e.buf))
	e.buf = e.buf[:0]
}

// typeForm describes the JSON form of a type: deriving it again for each value would
// take most of the time.
type typeForm struct {
	former, texter bool
	fields         []fieldForm
}

// fieldForm is a field of a struct.
type fieldForm struct {
	key   []byte // with its colon; nil: an embedded struct, whose fields are in its place
	spare bool   // it is left out when empty
}

// formOf returns the form of a type.
func (e *encoder) formOf(t reflect.Type) *typeForm {
	f := e.forms[t]
	if f != nil {
		return f
	}
	if e.forms == nil {
		e.forms = make(map[reflect.Type]*typeForm)
	}
	f = new(typeForm)
	if t.Kind() != reflect.Pointer {
		zero := reflect.Zero(t).Interface()
		_, f.former = zero.(former)
		_, f.texter = zero.(encoding.TextMarshaler)
	}
	if t.Kind() == reflect.Struct {
		for i := range t.NumField() {
			field := t.Field(i)
			name, option, _ := strings.Cut(field.Tag.Get("json"), ",")
			x := fieldForm{spare: option == "omitempty"}
			if !field.Anonymous {
				x.key = append(appendText(nil, name), ':')
			}
			f.fields = append(f.fields, x)
		}
	}
	e.forms[t] = f
	return f
}

func (e *encoder) value(v reflect.Value) {
	switch v.Kind() {
	case reflect.Invalid:
		e.raw("null")
		return
	case reflect.Pointer, reflect.Interface:
		e.value(v.Elem())
		return
	}
	f := e.formOf(v.Type())
	if (f.former || f.texter) && v.CanInterface() {
		if f.former {
			e.value(reflect.ValueOf(v.Interface().(former).form()))
			return
		}
		text, err := v.Interface().(encoding.TextMarshaler).MarshalText()
		e.fail(err)
		e.text(string(text))
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		e.raw("{")
		e.fields(v, f)
		e.raw("}")
	case reflect.Map:
		e.object(v)
	case reflect.Slice, reflect.Array:
		e.raw("[")
		for i := range v.Len() {
			if i > 0 {
				e.drain(partSize)
			}
			e.comma()
			e.value(v.Index(i))
		}
		e.raw("]")
	case reflect.String:
		e.text(v.String())
	case reflect.Bool:
		e.buf = strconv.AppendBool(e.buf, v.Bool())
	case reflect.Int, reflect.Int32, reflect.Int64:
		e.buf = strconv.AppendInt(e.buf, v.Int(), 10)
	case reflect.Float64:
		e.float(v.Float())
	default:
		e.fail(fmt.Errorf("report: %s has no JSON form", v.Type()))
	}
}

// fields writes the fields of a struct; fields of embedded structs stand in their place.
func (e *encoder) fields(v reflect.Value, f *typeForm) {
	for i := range f.fields {
		x, field := &f.fields[i], v.Field(i)
		if x.key == nil {
			e.fields(field, e.formOf(field.Type()))
			continue
		}
		if x.spare && empty(field) {
			continue
		}
		e.comma()
		e.buf = append(e.buf, x.key...)
		e.value(field)
	}
}

// object writes a map with text keys in sorted order.
func (e *encoder) object(v reflect.Value) {
	from := len(e.keys)
	for all := v.MapRange(); all.Next(); {
		e.keys = append(e.keys, all.Key().String())
	}
	to := len(e.keys)
	slices.SortFunc(e.keys[from:to], strings.Compare)
	e.raw("{")
	for i := from; i < to; i++ {
		e.comma()
		e.text(e.keys[i])
		e.raw(":")
		e.value(v.MapIndex(reflect.ValueOf(&e.keys[i]).Elem()))
	}
	e.keys = e.keys[:from]
	e.raw("}")
}

func (e *encoder) text(s string) { e.buf = appendText(e.buf, s) }

func (e *encoder) float(f float64) {
	if !finite(f) {
		e.raw("null")
		return
	}
	e.buf = AppendFloat(e.buf, f)
}

func (e *encoder) raw(s string) { e.buf = append(e.buf, s...) }

// comma separates a member from the one before it.
func (e *encoder) comma() {
	last := e.last
	if n := len(e.buf); n > 0 {
		last = e.buf[n-1]
	}
	if last != '{' && last != '[' {
		e.buf = append(e.buf, ',')
	}
}

func (e *encoder) fail(err error) {
	if e.err == nil {
		e.err = err
	}
}

// empty reports whether omitempty leaves v out.
func empty(v reflect.Value) bool {
	switch v.Kind() {
	case reflect.Map, reflect.Slice, reflect.String:
		return v.Len() == 0
	}
	return v.IsZero()
}
