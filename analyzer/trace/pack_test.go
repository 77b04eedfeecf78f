package trace

import (
	"fmt"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"
)

// TestPack holds what comes out of the compact form to what went in: columns of
// every type and of every width, with nulls and without, and none.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		b := NewBuilder(Requests)
		rows, width := r.IntN(40), r.IntN(64)
		null := func() bool { return r.IntN(4) == round%4 }
		for range rows {
			if !null() {
				b.Text(RequestID, fmt.Append(nil, r.Uint64()>>r.IntN(64)))
			}
			if round%3 == 0 && !null() {
				b.Int(Sent, int64(r.Uint64()>>width)-int64(round)<<50)
			}
			if !null() {
				b.Int(PromptTokens, int64(r.IntN(1+round)))
			}
			if round%2 == 0 {
				b.Dict(Model, fmt.Append(nil, "m", r.IntN(5)))
				b.Code(StatusCol, int32(r.IntN(6)))
			}
			if round%5 == 0 && !null() {
				b.Bool(Stream, r.IntN(2) == 0)
			}
			b.EndRow()
		}
		meta := &RunMeta{Key: int64(round)}
		want := b.Take(meta, "x").Clone(false)
		code, packed := want.Pack([]byte("before"))
		got, ok := packed.Unpack(code[len("before"):])
		if !ok || !reflect.DeepEqual(got, want) && rows > 0 {
			t.Fatalf("round %d, ok: %t: got\n%+v\nwant\n%+v", round, ok, got, want)
		}
		if packed.Rows() != rows || packed.Has(PromptTokens) != want.Has(PromptTokens) || packed.Run() != meta {
			t.Fatalf("round %d: %+v", round, packed)
		}
		for n := len("before"); n < len(code); n++ {
			if _, ok := packed.Unpack(code[len("before"):n]); ok {
				t.Fatalf("round %d: a part of the form is taken for the whole", round)
			}
		}
	}
	extremes := NewBatch(Requests, nil, "", 3)
	extremes.SetInts(Sent, Ints{Values: []int64{math.MinInt64, 0, math.MaxInt64}})
	code, packed := extremes.Pack(nil)
	if got, ok := packed.Unpack(code); !ok || !reflect.DeepEqual(got, extremes) {
		t.Fatalf("got %+v", got)
	}
}
