package collective

import (
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

func TestTransfers(t *testing.T) {
	a := []Kernel{{Name: "x", Duration: 10}, {Name: "send", Duration: 5, Paired: true}, {Name: "y", Duration: 7}}
	b := []Kernel{{Name: "x", Duration: 4}, {Name: "send", Duration: 9, Paired: true}, {Name: "y", Duration: 8}}
	got, err := Transfers(a, b)
	if err != nil || len(got) != 3 || got[0] != 4 || got[1] != -1 || got[2] != 7 {
		t.Fatalf("%v, %v", got, err)
	}
	if s := Durations(a, got); s != (Share{Transfer: 11, Wait: 6, Unsplit: 5}) {
		t.Errorf("%+v", s)
	}
	if s := Durations(b, got); s != (Share{Transfer: 11, Wait: 1, Unsplit: 9}) {
		t.Errorf("%+v", s)
	}
	for want, ranks := range map[string][][]Kernel{
		"on 1 rank":       {a},
		"different steps": {a, b[:2]},
		"kernel 2 is z":   {a, {b[0], b[1], {Name: "z"}}},
	} {
		if _, err := Transfers(ranks...); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

// TestExposed: waiting comes first. Two kernels overlap: x waits over [0,6) and
// transfers over [6,10), y waits over [4,9) and transfers over [9,12).
func TestExposed(t *testing.T) {
	kernels := []Kernel{
		{Start: 0, Duration: 10, Exposed: []int64{2, 8}},
		{Start: 4, Duration: 8, Exposed: []int64{0, 8}},
		{Start: 20, Duration: 4, Exposed: []int64{1, 1, 3, 1}},
		{Start: 30, Duration: 3, Exposed: []int64{0, 3}, Paired: true},
		{Start: 40, Duration: 3},
	}
	got := Exposed(kernels, []int64{4, 3, 2, -1, 1})
	// [2,6) wait, [6,12) transfer, [21,22) wait, [23,24) transfer, [30,33) pair
	if want := (Share{Transfer: 7, Wait: 5, Unsplit: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

// TestExposedAgainstInstants looks at every ns.
func TestExposedAgainstInstants(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for range 300 {
		var kernels []Kernel
		var transfers []int64
		var kinds [200]int // 1 wait, 2 pair, 3 transfer
		for range r.IntN(12) {
			k := Kernel{Start: r.Int64N(100), Duration: 1 + r.Int64N(60), Paired: r.IntN(5) == 0}
			transfer := r.Int64N(k.Duration + 1)
			if k.Paired {
				transfer = -1
			}
			for at := r.Int64N(10); at < k.Duration; at += 1 + r.Int64N(20) {
				length := min(1+r.Int64N(10), k.Duration-at)
				k.Exposed = append(k.Exposed, at, length)
				for i := at; i < at+length; i++ {
					kind := 1
					if k.Paired {
						kind = 2
					} else if i >= k.Duration-transfer {
						kind = 3
					}
					kinds[k.Start+i] = max(kinds[k.Start+i], kind)
				}
				at += length
			}
			kernels, transfers = append(kernels, k), append(transfers, transfer)
		}
		var want Share
		for _, kind := range kinds {
			switch kind {
			case 1:
				want.Wait++
			case 2:
				want.Unsplit++
			case 3:
				want.Transfer++
			}
		}
		if got := Exposed(kernels, transfers); got != want {
			t.Fatalf("%+v %v: %+v, want %+v", kernels, transfers, got, want)
		}
	}
}

func TestCollect(t *testing.T) {
	b := trace.NewBuilder(trace.Collectives)
	for i := range int64(4) {
		b.Int(trace.CollectiveTP, i%2)
		b.Int(trace.CollectiveIndex, 1-i/2)
		b.Dict(trace.CollectiveName, []byte{'a' + byte(i)})
		b.Bool(trace.CollectivePaired, i == 3)
		b.Int(trace.CollectiveT, 10*i)
		b.Int(trace.CollectiveDuration, i)
		b.List(trace.CollectiveExposed, []int64{0, i})
		b.EndRow()
	}
	ranks := make(map[Place][]Kernel)
	Collect(ranks, b.Take(new(trace.RunMeta), "x"))
	if len(ranks) != 2 {
		t.Fatalf("%+v", ranks)
	}
	one := ranks[Place{DP: -1, TP: 1, PP: -1, EP: -1, Rank: -1}]
	Order(one)
	if len(one) != 2 || one[0].Name != "d" || !one[0].Paired || one[0].Duration != 3 || one[0].Step != -1 || one[1].Name != "b" || one[1].Exposed[1] != 1 {
		t.Errorf("%+v", one)
	}
}
