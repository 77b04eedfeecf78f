package wire

import (
	"bytes"
	"io"
	"os"
	"reflect"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// fill sets every field of a value to something that is not zero.
func fill(v reflect.Value, n *int64) {
	*n++
	switch v.Kind() {
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(float64(*n) / 3)
	case reflect.String:
		v.SetString(string(rune('a'+*n%26)) + "\x00é")
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		v.SetUint(uint64(*n % 200))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		v.SetInt(-*n % 100)
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Map:
		k, e := reflect.New(v.Type().Key()).Elem(), reflect.New(v.Type().Elem()).Elem()
		fill(k, n)
		fill(e, n)
		v.Set(reflect.MakeMap(v.Type()))
		v.SetMapIndex(k, e)
	case reflect.Pointer:
		v.Set(reflect.New(v.Type().Elem()))
		fill(v.Elem(), n)
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	default:
		panic(v.Type().String())
	}
}

// TestCarried: whatever is said of runs, diagnostics and accounts comes back.
func TestCarried(t *testing.T) {
	for _, p := range []any{new(trace.RunMeta), new(diag.Diag), new(formats.Account)} {
		for _, full := range []bool{false, true} {
			var n int64
			if full {
				fill(reflect.ValueOf(p).Elem(), &n)
			}
			var w Writer
			if err := w.End(p); err != nil {
				t.Fatal(err)
			}
			got := reflect.New(reflect.TypeOf(p).Elem())
			ended, err := new(Reader).Parts(bytes.NewReader(w.Take()), nil, got.Interface())
			if err != nil || !ended || !reflect.DeepEqual(got.Interface(), p) {
				t.Errorf("%T: %v, got %+v, want %+v", p, err, got.Elem(), p)
			}
		}
	}
}

// TestStream sends what a reader of the sample gives, in pieces.
func TestStream(t *testing.T) {
	text, err := os.ReadFile("../../testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	f, err := all.Set().Lookup("tokenlog")
	if err != nil {
		t.Fatal(err)
	}
	r, err := f.Open(t.Context(), source.FromBytes("a", text), formats.Whole, formats.Options{Workers: 1, Block: 1000, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var want []*trace.Batch
	var w Writer
	var stream []byte
	for r.Next() {
		want = append(want, r.Batch().Clone(true))
		if len(want)%2 > 0 {
			w.Batch(r.Batch())
		} else {
			w.Folded(r.Batch())
		}
		stream = append(stream, w.Take()...)
	}
	end := struct{ N int64 }{7}
	w.End(&end)
	stream = append(stream, w.Take()...)
	n, got := 0, struct{ N int64 }{}
	reader := new(Reader)
	ended, err := reader.Parts(io.Reader(bytes.NewReader(stream)), func(b *trace.Batch) error {
		if again := b.AppendWire(nil); !bytes.Equal(again, want[n].AppendWire(nil)) || !reflect.DeepEqual(b.Run, want[n].Run) || reader.Folded == (n%2 == 0) {
			t.Errorf("batch %d differs", n)
		}
		n++
		return nil
	}, &got)
	if err != nil || !ended || n != len(want) || n < 2 || got != end {
		t.Errorf("%d batches of %d, %+v, %v", n, len(want), got, err)
	}
	for _, bad := range [][]byte{stream[:len(stream)-1], []byte("x1234"), {batchPart, 1, 0, 0, 0, 9}} {
		if _, err := new(Reader).Parts(bytes.NewReader(bad), func(*trace.Batch) error { return nil }, &got); err == nil {
			t.Error("a bad stream was taken")
		}
	}
}
