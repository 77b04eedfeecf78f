package trace

import (
	"slices"
	"testing"
)

// TestKeep holds a batch while its builder goes on, and gives its memory back.
func TestKeep(t *testing.T) {
	b := NewBuilder(Requests)
	take := func(v int64) *Batch {
		b.Int(Sent, v)
		b.Dict(Model, []byte{'m', byte('0' + v)})
		b.List(ChunkGaps, []int64{v, v + 1})
		b.EndRow()
		return b.Take(nil, "f")
	}
	check := func(batch *Batch, v int64) {
		t.Helper()
		sent, _ := batch.Ints(Sent).At(0)
		if names := batch.Dicts(Model).Values; sent != v || !slices.Equal(names, []string{string([]byte{'m', byte('0' + v)})}) || !slices.Equal(batch.Lists(ChunkGaps).Values, []int64{v, v + 1}) {
			t.Errorf("batch %d holds %d %v %v", v, sent, names, batch.Lists(ChunkGaps).Values)
		}
	}
	first := take(1)
	if !first.Keep(nil) {
		t.Fatal("the batch of a builder cannot be kept")
	}
	second := take(2)
	third := take(3)
	if second.Keep(nil) {
		t.Error("a batch is kept whose builder has gone on")
	}
	check(third, 3)
	fourth := take(4)
	check(first, 1)
	check(fourth, 4)
	if !fourth.Keep(first) {
		t.Fatal("the batch of a builder cannot be kept for another")
	}
	for v := range int64(3) {
		check(take(5+v), 5+v)
	}
	check(fourth, 4)
}

// TestKeepShared refuses to keep what shares memory with others.
func TestKeepShared(t *testing.T) {
	b := NewBuilder(Requests)
	b.Int(Sent, 1)
	b.EndRow()
	batch := b.Take(nil, "f")
	if batch.Clone(true).Keep(nil) || batch.With(Sent, batch).Keep(nil) || NewBatch(Requests, nil, "f", 1).Keep(nil) {
		t.Error("a batch is kept that is not the builder's")
	}
	batch.SetInts(Finished, Ints{Values: []int64{2}})
	if batch.Keep(nil) {
		t.Error("a batch is kept that holds a column of somebody else")
	}
}
