package trace

import (
	"fmt"
	"math"
	"testing"
)

// TestAbsurd: numbers of tokens that nobody can believe are null and counted;
// stamps and what is not tokens are as large as they like.
func TestAbsurd(t *testing.T) {
	b := NewBuilder(Requests)
	rows := []struct {
		prompt, output int64
		twice          bool
		chunks         []int64
		want           string
	}{
		{5, 7, false, []int64{3, 4}, "5 true 7 true [3 4] true"},
		{math.MaxInt64, 7, false, []int64{7}, "0 false 7 true [7] true"},
		{MaxTokenCount, -1, false, []int64{1, 9e18}, "10000000000 true 0 false [] false"},
		{MaxTokenCount + 1, 9e18, true, nil, "0 false 0 false [] true"},
		{1, 2, true, []int64{-1}, "1 true 2 true [] false"},
	}
	for i, r := range rows {
		b.Int(Received, 1764428000e9)
		if r.twice { // the later value counts, and that is unknown
			b.Int(PromptTokens, 1)
			b.List(ChunkTokens, []int64{8, 8})
		}
		b.Int(PromptTokens, r.prompt)
		b.Int(OutputTokens, r.output)
		b.List(ChunkTokens, r.chunks)
		b.Int(NChoices, math.MaxInt64)
		b.Int(Offset, [...]int64{0, 300, 100, 200, 400}[i]) // rows come as requests end
		b.EndRow()
	}
	batch := b.Take(&RunMeta{}, "f")
	if want := (Implausible{Count: 6, Offset: 100}); batch.Implausible != want {
		t.Errorf("absurd %+v, want %+v", batch.Implausible, want)
	}
	for i, r := range rows {
		prompt, p := batch.Ints(PromptTokens).At(i)
		output, o := batch.Ints(OutputTokens).At(i)
		chunks, c := batch.Lists(ChunkTokens).At(i)
		if got := fmt.Sprint(prompt, p, output, o, chunks, c); got != r.want {
			t.Errorf("row %d: %s, want %s", i, got, r.want)
		}
		if at, _ := batch.Ints(Received).At(i); at != 1764428000e9 {
			t.Errorf("row %d: received %d", i, at)
		}
	}
	b.List(ChunkTokens, []int64{9e18}) // all lists of a batch are null
	b.EndRow()
	b.EndRow()
	batch = b.Take(&RunMeta{}, "f")
	if _, ok := batch.Lists(ChunkTokens).At(1); ok || batch.Has(ChunkTokens) || batch.Implausible != (Implausible{1, -1}) {
		t.Errorf("a batch without lists has some, or %+v", batch.Implausible)
	}
}
