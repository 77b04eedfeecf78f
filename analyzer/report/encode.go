package report

import (
	"encoding"
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"servescope/analyzer/sorting"
)

// former is a type whose JSON form is that of another value.
type former interface{ form() any }

// MarshalJSON implements json.Marshaler: strict JSON with the keys in the order
// of the fields (maps: sorted), no null array or object, and null for a float
// that is NaN or infinite. encoding/json would write null for a nil slice and
// refuse the whole report for one NaN.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return Marshal(plain(r))
}

// Marshal returns the JSON form of a value by the same rules. The value consists
// of structs with json tags, maps by text, slices, texts, truth values, int,
// int32, int64 and float64.
func Marshal(v any) ([]byte, error) {
	var e encoder
	e.value(reflect.ValueOf(v))
	return e.buf, e.err
}

type encoder struct {
	buf []byte
	err error
}

func (e *encoder) value(v reflect.Value) {
	if v.IsValid() && v.Kind() != reflect.Pointer && v.CanInterface() {
		switch x := v.Interface().(type) {
		case former:
			e.value(reflect.ValueOf(x.form()))
			return
		case encoding.TextMarshaler:
			text, err := x.MarshalText()
			e.fail(err)
			e.text(string(text))
			return
		}
	}
	switch v.Kind() {
	case reflect.Invalid:
		e.raw("null")
	case reflect.Pointer, reflect.Interface:
		e.value(v.Elem())
	case reflect.Struct:
		e.raw("{")
		e.fields(v)
		e.raw("}")
	case reflect.Map:
		e.object(v)
	case reflect.Slice, reflect.Array:
		e.raw("[")
		for i := range v.Len() {
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

// fields writes the fields of a struct, those of embedded structs in place.
func (e *encoder) fields(v reflect.Value) {
	t := v.Type()
	for i := range t.NumField() {
		f := t.Field(i)
		if f.Anonymous {
			e.fields(v.Field(i))
			continue
		}
		name, option, _ := strings.Cut(f.Tag.Get("json"), ",")
		if option == "omitempty" && empty(v.Field(i)) {
			continue
		}
		e.comma()
		e.text(name)
		e.raw(":")
		e.value(v.Field(i))
	}
}

// object writes a map with text keys in sorted order.
func (e *encoder) object(v reflect.Value) {
	keys := v.MapKeys()
	sorting.By(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	e.raw("{")
	for _, k := range keys {
		e.comma()
		e.text(k.String())
		e.raw(":")
		e.value(v.MapIndex(k))
	}
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
	if last := e.buf[len(e.buf)-1]; last != '{' && last != '[' {
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
