package trace

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"
)

// row is the reference model of a row: what was set, nil where nothing was.
type row struct {
	i    *int64
	f    *float64
	b    *bool
	t    *string
	d    *string
	l    []int64
	hasL bool
}

var testTable = &Table{Name: "test", Fields: []Field{
	{Name: "i", Type: Int64}, {Name: "f", Type: Float64}, {Name: "b", Type: Bool},
	{Name: "t", Type: Text}, {Name: "d", Type: Dict}, {Name: "l", Type: List},
}}

func read(b *Batch, i int) row {
	var r row
	if v, ok := b.Ints(0).At(i); ok {
		r.i = &v
	}
	if v, ok := b.Floats(1).At(i); ok {
		r.f = &v
	}
	if v, ok := b.Bools(2).At(i); ok {
		r.b = &v
	}
	if v, ok := b.Texts(3).At(i); ok {
		s := string(v)
		r.t = &s
	}
	if c, ok := b.Dicts(4).At(i); ok {
		s := b.Dicts(4).Values[c]
		r.d = &s
	}
	if v, ok := b.Lists(5).At(i); ok {
		r.l, r.hasL = append([]int64{}, v...), true
	}
	return r
}

// TestBuilderAgainstModel sets random columns in random rows, drops some rows,
// and compares every batch with what was set.
func TestBuilderAgainstModel(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	b, united := NewBuilder(testTable), NewBuilder(testTable)
	var all []row
	for range 300 {
		var want []row
		density := r.Float64()
		for range r.IntN(40) {
			var w row
			for range 1 + r.IntN(2) { // the second round overwrites
				if r.Float64() < density {
					v := r.Int64()
					w.i = &v
					b.Int(0, v)
				}
				if r.Float64() < density {
					v := r.Float64()
					w.f = &v
					b.Float(1, v)
				}
				if r.Float64() < density {
					v := r.IntN(2) == 0
					w.b = &v
					b.Bool(2, v)
				}
				if r.Float64() < density {
					v := strings.Repeat("x", r.IntN(4))
					w.t = &v
					b.Text(3, []byte(v))
				}
				if r.Float64() < density {
					v := string(rune('a' + r.IntN(3)))
					w.d = &v
					b.Dict(4, []byte(v))
				}
				if r.Float64() < density {
					w.l, w.hasL = []int64{}, true
					for range r.IntN(4) {
						w.l = append(w.l, r.Int64())
					}
					b.List(5, w.l)
				}
			}
			if r.IntN(5) == 0 {
				b.Drop()
				continue
			}
			b.EndRow()
			want = append(want, w)
		}
		batch := b.Take(nil, "")
		kept := batch.Clone(true)
		if batch.Rows != len(want) {
			t.Fatalf("%d rows, want %d", batch.Rows, len(want))
		}
		for i := range want {
			if got := read(batch, i); !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("row %d: got %+v, want %+v", i, got, want[i])
			}
			if got := read(kept, i); !reflect.DeepEqual(got, want[i]) {
				t.Fatalf("clone, row %d: got %+v, want %+v", i, got, want[i])
			}
		}
		lean := batch.Clone(false)
		if lean.Has(5) {
			t.Fatal("a clone without lists has lists")
		}
		checkUnited(t, r, batch, want, united, &all)
		checkSelect(t, r, lean.WithLists(5, batch.Lists(5)), want)
	}
}

// TestWithNames renames the values of one batch and not of the other.
func TestWithNames(t *testing.T) {
	b := NewBuilder(testTable)
	b.Dict(4, []byte("x"))
	b.EndRow()
	batch := b.Take(nil, "")
	renamed := batch.WithNames(4, func(s string) string { return s + "!" })
	if got, old := *read(renamed, 0).d, *read(batch, 0).d; got != "x!" || old != "x" {
		t.Errorf("renamed %q, before %q", got, old)
	}
}

// checkUnited adds the batch to a builder, and now and then compares all that
// was added with the model.
func checkUnited(t *testing.T, r *rand.Rand, batch *Batch, rows []row, united *Builder, all *[]row) {
	t.Helper()
	united.AddBatch(batch)
	for _, w := range rows {
		w.l, w.hasL = nil, false
		*all = append(*all, w)
	}
	if r.IntN(5) > 0 {
		return
	}
	got := united.Take(nil, "")
	if got.Rows != len(*all) {
		t.Fatalf("%d rows united, want %d", got.Rows, len(*all))
	}
	for i := range *all {
		if g := read(got, i); !reflect.DeepEqual(g, (*all)[i]) {
			t.Fatalf("united row %d: got %+v, want %+v", i, g, (*all)[i])
		}
	}
	*all = nil
}

// checkSelect compares a random selection of a batch's rows with the model.
func checkSelect(t *testing.T, r *rand.Rand, batch *Batch, rows []row) {
	t.Helper()
	share := r.Float64()
	keep := make([]bool, len(rows))
	var want []row
	for i := range rows {
		if keep[i] = r.Float64() < share; keep[i] {
			want = append(want, rows[i])
		}
	}
	got := batch.Select(keep)
	if got.Rows != len(want) {
		t.Fatalf("%d rows selected, want %d", got.Rows, len(want))
	}
	for i := range want {
		if g := read(got, i); !reflect.DeepEqual(g, want[i]) {
			t.Fatalf("selected row %d: got %+v, want %+v", i, g, want[i])
		}
	}
}

func TestBuilderRepairsText(t *testing.T) {
	b := NewBuilder(testTable)
	b.Text(3, []byte("\xff\xfe ok"))
	b.EndRow()
	b.Text(3, []byte(strings.Repeat("é", MaxText)))
	b.EndRow()
	b.Float(1, -1/b2f(0))
	b.EndRow()
	batch := b.Take(nil, "")
	if v, _ := batch.Texts(3).At(0); string(v) != "\uFFFD ok" {
		t.Errorf("invalid UTF-8 became %q", v)
	}
	if v, _ := batch.Texts(3).At(1); len(v) != MaxText || !utf8.Valid(v) {
		t.Errorf("long text: %d bytes, valid %v", len(v), utf8.Valid(v))
	}
	if _, ok := batch.Floats(1).At(2); ok {
		t.Error("an infinity entered a column")
	}
	if b.Repaired != 2 {
		t.Errorf("repaired %d, want 2", b.Repaired)
	}
}

// TestBuilderCountsEachRepair: a value of a dictionary that was repaired counts
// for each row that has it, whether or not a batch ends between them.
func TestBuilderCountsEachRepair(t *testing.T) {
	for _, cut := range []bool{false, true} {
		b := NewBuilder(testTable)
		for _, v := range []string{"\xff", "\xff", "fine", "\xff"} {
			b.Dict(4, []byte(v))
			b.EndRow()
			if cut {
				b.Take(nil, "")
			}
		}
		if b.Repaired != 3 {
			t.Errorf("batches of one row %v: repaired %d, want 3", cut, b.Repaired)
		}
	}
}

func b2f(f float64) float64 { return f }

func TestSchemaIsComplete(t *testing.T) {
	for table, last := range map[*Table]Col{
		Requests: Offset, Steps: StepOffset, Collectives: CollectiveExposed, Histograms: HistogramOffset, ReportedTable: ReportedUnit,
	} {
		seen := map[string]bool{}
		for i, f := range table.Fields {
			if f.Name == "" || f.Doc == "" {
				t.Errorf("%s: column %d has no name or no meaning", table.Name, i)
			}
			if seen[f.Name] {
				t.Errorf("%s: column %q twice", table.Name, f.Name)
			}
			seen[f.Name] = true
		}
		if len(table.Fields) != int(last)+1 {
			t.Errorf("%s: %d fields for %d columns", table.Name, len(table.Fields), int(last)+1)
		}
	}
	for field, last := range map[*Field]int32{
		&Steps.Fields[StepKindCol]:  int32(StepDummy),
		&Steps.Fields[StepQuantity]: int32(Mean),
		&Requests.Fields[StatusCol]: int32(HeadMissing),
		&Requests.Fields[SideCol]:   int32(Decode),
	} {
		if len(field.Values) != int(last)+1 {
			t.Errorf("%s has %d values for %d codes", field.Name, len(field.Values), last+1)
		}
	}
}

// TestLeaves checks that every leaf has the column that holds it alone.
func TestLeaves(t *testing.T) {
	for i, leaf := range Leaves {
		c, ok := Requests.Lookup("d_" + leaf)
		if !ok || c != DProxy+Col(i) {
			t.Errorf("leaf %s is column %d, want %d", leaf, c, DProxy+Col(i))
		}
	}
	if got := Merged("ingress", "queue"); got != "ingress+queue" {
		t.Errorf("two leaves are called %s", got)
	}
}

// TestCancelList: a list that is given up is null, whatever came before it.
func TestCancelList(t *testing.T) {
	b := NewBuilder(Requests)
	cancel := func() {
		_ = append(b.OpenList(ChunkGaps), 9, 9)
		b.CancelList(ChunkGaps)
		b.EndRow()
	}
	cancel()
	if batch := b.Take(nil, ""); batch.Has(ChunkGaps) {
		t.Error("a column of lists that are given up is not null")
	}
	cancel()
	b.List(ChunkGaps, []int64{1, 2})
	b.EndRow()
	b.List(ChunkGaps, []int64{3}) // in the same row
	cancel()
	b.List(ChunkGaps, []int64{4})
	b.EndRow()
	lists := b.Take(nil, "").Lists(ChunkGaps)
	for i, want := range [][]int64{nil, {1, 2}, nil, {4}} {
		if got, ok := lists.At(i); ok != (want != nil) || !slices.Equal(got, want) {
			t.Errorf("row %d: %v %v, want %v", i, got, ok, want)
		}
	}
}
