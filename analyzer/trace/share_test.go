package trace

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"servescope/analyzer/unit"
)

// randomBatch returns a batch of testTable in which each column is present with
// the given density; some columns are left out altogether.
func randomBatch(r *rand.Rand, rows int) *Batch {
	b := NewBuilder(testTable)
	density := [6]float64{}
	for i := range density {
		density[i] = []float64{0, 0.5, 0.9, 1}[r.IntN(4)]
	}
	for range rows {
		set := func(i int) bool { return r.Float64() < density[i] }
		if set(0) {
			b.Int(0, r.Int64()-r.Int64())
		}
		if set(1) {
			b.Float(1, r.NormFloat64())
		}
		if set(2) {
			b.Bool(2, r.IntN(2) == 0)
		}
		if set(3) {
			b.Text(3, []byte("text é"[:r.IntN(6)]))
		}
		if set(4) {
			b.Dict(4, []byte{byte('a' + r.IntN(5))})
		}
		if set(5) {
			list := b.OpenList(5)
			for range r.IntN(4) {
				list = append(list, r.Int64())
			}
			b.CloseList(5, list)
		}
		b.EndRow()
	}
	return b.Take(nil, "")
}

// TestSharedBatch builds batches out of whole columns and compares them with
// the batch whose columns they are.
func TestSharedBatch(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for n := range 50 {
		src := randomBatch(r, n)
		set, shared := NewBatch(testTable, nil, "", n), NewBatch(testTable, nil, "", n)
		set.SetInts(0, src.Ints(0))
		set.SetFloats(1, src.Floats(1))
		set.SetBools(2, src.Bools(2))
		set.SetTexts(3, src.Texts(3))
		set.SetDicts(4, src.Dicts(4))
		set.SetLists(5, src.Lists(5))
		for c := range testTable.Fields {
			shared.Share(Col(c), src, Col(c))
		}
		for _, b := range []*Batch{set, shared} {
			for i := range n {
				if got, want := read(b, i), read(src, i); !reflect.DeepEqual(got, want) {
					t.Fatalf("row %d: got %+v, want %+v", i, got, want)
				}
			}
			for c := range testTable.Fields {
				if b.Has(Col(c)) != src.Has(Col(c)) || b.Nulls(Col(c)) != src.Nulls(Col(c)) {
					t.Fatalf("column %d: %d nulls, want %d", c, b.Nulls(Col(c)), src.Nulls(Col(c)))
				}
			}
		}
	}
}

func TestReportedBatch(t *testing.T) {
	run := &RunMeta{Reported: []Reported{
		{Key: "p99_ttft_ms", Metric: "ttft", Stat: "0.99", Value: 5e6, Unit: unit.Nanosecond},
		{Key: "num_prompts", Stat: "value", Value: 3, Unit: unit.Request},
	}}
	b := run.ReportedBatch("f")
	keys, metrics, values := b.Dicts(ReportedKey), b.Dicts(ReportedMetric), b.Floats(ReportedValue)
	if b.Rows != 2 || keys.Values[keys.Codes[1]] != "num_prompts" || values.Values[0] != 5e6 || b.File != "f" || b.Run != run {
		t.Errorf("%+v", b)
	}
	if _, ok := metrics.At(1); ok {
		t.Error("a figure without a counterpart has a metric")
	}
}
