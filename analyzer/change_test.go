package analyzer

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
)

// TestChangeBetweenWindows: the queue of the second window is 11 times as long, its
// prefill a little shorter: the difference of the means says which of the two it was,
// and its parts add up to it.
func TestChangeBetweenWindows(t *testing.T) {
	var log strings.Builder
	request := func(at, queue, prefill int) { // ms
		fmt.Fprintf(&log, `{"request_id":"r%d","clock":"run","arrival":%[2]de-3,"queued":%[2]de-3,"admitted":%de-3,"prefill_done":%[4]de-3,"token_timestamps":[%[4]de-3]}`+"\n",
			log.Len(), at, at+queue, at+queue+prefill)
	}
	request(0, 10, 50)
	request(100, 20, 61)
	request(1000, 100, 40) // the window of 2 s to 3 s is empty
	request(1300, 150, 50)
	request(1500, 245, 60)
	request(3000, 100, 40)
	run, _ := ask(t, []string{"window=1s"}, textFile{name: "log.jsonl", text: log.String()})
	if len(run.Changes) != 2 {
		t.Fatalf("%+v", run.Changes)
	}
	c := run.Changes[0] // means of 15 and 165, 55.5 and 50
	if c.Of != "ttft" || c.Side != "server" || c.From != 0 || c.To != 1e9 || c.NFrom != 2 || c.NTo != 3 {
		t.Fatalf("%+v", c)
	}
	want := map[string][2]float64{"queue": {150e6, 150 / 144.5}, "prefill": {-5.5e6, -5.5 / 144.5}}
	for _, e := range c.Entries {
		is := want[strings.Join(e.Leaves, "+")]
		if e.Change.V != is[0] || e.Share.V-is[1] > 1e-12 || is[1]-e.Share.V > 1e-12 {
			t.Errorf("%+v, want %v", e, is)
		}
	}
	if c.Total.Change.V != 144.5e6 || c.Total.Before.V != 70.5e6 || c.Total.After.V != 215e6 || c.Total.Share.V != 1 || c.Residual.Change.V != 0 || c.Total.Numerator.Int != 2*3*144_500_000 {
		t.Errorf("%+v, residual %+v", c.Total, c.Residual)
	}
	if c := run.Changes[1]; c.From != 1e9 || c.To != 3e9 || c.Total.Change.V != -75e6 {
		t.Errorf("%+v", c)
	}
}

// TestChangesAddUp: of random logs, by group, the numerators of the parts add up to
// that of the total, and this one is what the requests give.
func TestChangesAddUp(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 4))
	for range 20 {
		var log strings.Builder
		totals := map[[2]int64][]int64{} // by group and second
		for i := range 60 {
			at, queue, prefill, rest := r.Int64N(5e9), r.Int64N(1e9), r.Int64N(1e8), r.Int64N(1e6)
			group := int64(i % 2)
			totals[[2]int64{group, at / 1e9}] = append(totals[[2]int64{group, at / 1e9}], queue+prefill+rest)
			sec := func(ns int64) string { return fmt.Sprintf("%d.%09d", ns/1e9, ns%1e9) }
			fmt.Fprintf(&log, `{"request_id":"r%d","tenant":"t%d","arrival":1764428%s,"queued":1764428%s,"admitted":1764428%s,"prefill_done":1764428%s,"token_timestamps":[1764428%s]}`+"\n",
				i, group, pad(sec(at)), pad(sec(at)), pad(sec(at+queue)), pad(sec(at+queue+prefill)), pad(sec(at+queue+prefill+rest)))
		}
		run, _ := ask(t, []string{"window=1s", "by=tenant"}, textFile{name: "log.jsonl", text: log.String()})
		if len(run.Groups) != 2 || len(run.Groups[0].Changes) == 0 || len(run.Groups[1].Changes) == 0 || len(run.Changes) == 0 {
			t.Fatalf("%d groups, %d changes", len(run.Groups), len(run.Changes))
		}
		for g := range run.Groups {
			of := int64(run.Groups[g].By["tenant"][1] - '0')
			var sizes []float64
			for _, c := range run.Groups[g].Changes {
				a, b := totals[[2]int64{of, c.From/1e9 - 1764428000}], totals[[2]int64{of, c.To/1e9 - 1764428000}]
				want := new(big.Int).Sub(times(b, len(a)), times(a, len(b)))
				if c.NFrom != int64(len(a)) || c.NTo != int64(len(b)) || !c.Total.Numerator.Whole || want.Cmp(big.NewInt(c.Total.Numerator.Int)) != 0 {
					t.Errorf("%+v, want %v of %d and %d", c.Total, want, len(a), len(b))
				}
				sum := c.Residual.Numerator.Int
				for _, e := range c.Entries {
					sum += e.Numerator.Int
				}
				if sum != c.Total.Numerator.Int {
					t.Errorf("the parts add up to %d, the total is %d", sum, c.Total.Numerator.Int)
				}
				sizes = append(sizes, -max(c.Total.Change.V, -c.Total.Change.V))
			}
			if !slices.IsSorted(sizes) {
				t.Error("the largest is not the first")
			}
		}
	}
	if run, _ := ask(t, nil, textFile{name: "log.jsonl", text: `{"request_id":"a","arrival":1,"token_timestamps":[2]}` + "\n"}); run.Changes != nil {
		t.Errorf("without windows: %+v", run.Changes)
	}
}

// pad makes seconds since the hundredth part of a stamp three digits long.
func pad(sec string) string { return strings.Repeat("0", 13-len(sec)) + sec }

func times(list []int64, n int) *big.Int {
	sum := int64(0)
	for _, v := range list {
		sum += v
	}
	return new(big.Int).Mul(big.NewInt(sum), big.NewInt(int64(n)))
}
