package trace

import (
	"reflect"
	"slices"
	"testing"
)

// TestWire sends batches with every kind of column, null and not, and of every
// table.
func TestWire(t *testing.T) {
	run := &RunMeta{Key: 3, Label: "a"}
	b := NewBuilder(Requests)
	for i := range 50 {
		if i%3 > 0 {
			b.Text(RequestID, []byte{'r', byte('0' + i%10), 0, 0xc3, 0xa9})
		}
		b.Dict(Model, []byte([]string{"x", "y", ""}[i%3]))
		b.Int(Sent, int64(i)*1e9-5)
		if i%4 == 0 {
			b.Int(PromptTokens, int64(i))
		}
		b.Code(StatusCol, int32(i%6))
		b.Bool(Stream, i%2 == 0)
		b.EndRow()
	}
	list := []*Batch{b.Take(run, "file.jsonl").Clone(true)}
	lists := Lists{Values: []int64{5, -7, 1 << 40, 9}, Offsets: make([]int32, 51), Valid: make(Bitmap, 7)}
	for i := range lists.Offsets {
		lists.Offsets[i] = int32(min(i, 4))
	}
	lists.Valid[0] = 0x0f
	list = append(list, list[0].WithLists(ChunkGaps, lists))
	for _, table := range wireTables {
		list = append(list, NewBatch(table, run, "", 2))
	}
	for n, want := range list {
		src := want.AppendWire(nil)
		got, ok := LoadWire(src, run)
		if !ok || got.Table != want.Table || got.Rows != want.Rows || got.File != want.File || got.Run != run {
			t.Fatalf("batch %d: %v %+v", n, ok, got)
		}
		for c := range want.Table.Fields {
			col := Col(c)
			same := got.Has(col) == want.Has(col)
			for i := range want.Rows {
				switch want.Table.Fields[c].Type {
				case Text:
					x, a := want.Texts(col).At(i)
					y, b := got.Texts(col).At(i)
					same = same && a == b && string(x) == string(y)
				case Dict:
					x, a := want.Dicts(col).At(i)
					y, b := got.Dicts(col).At(i)
					same = same && a == b && x == y && slices.Equal(want.Dicts(col).Values, got.Dicts(col).Values)
				case Bool:
					x, a := want.Bools(col).At(i)
					y, b := got.Bools(col).At(i)
					same = same && a == b && x == y
				case List:
					x, a := want.Lists(col).At(i)
					y, b := got.Lists(col).At(i)
					same = same && a == b && slices.Equal(x, y)
				case Float64:
					same = same && reflect.DeepEqual(want.Floats(col), got.Floats(col))
				default:
					x, a := want.Ints(col).At(i)
					y, b := got.Ints(col).At(i)
					same = same && a == b && x == y
				}
			}
			if !same {
				t.Errorf("batch %d: %s differs", n, want.Table.Fields[c].Name)
			}
		}
		for cut := range src {
			if _, ok := LoadWire(src[:cut], run); ok {
				t.Fatalf("batch %d: %d of %d bytes were taken", n, cut, len(src))
			}
		}
	}
}
