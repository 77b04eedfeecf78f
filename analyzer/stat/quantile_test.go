package stat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// TestP90Methods is worked vector D4 and case P90: one sample, three methods.
func TestP90Methods(t *testing.T) {
	x := []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 1000}
	want := map[float64][3]float64{
		0.5:  {55, 50, 60},
		0.9:  {181, 90, 1000},
		0.95: {590.5, 1000, 1000},
		0.99: {918.1, 1000, 1000},
	}
	for q, w := range want {
		for m := range w {
			if got := Method(m).Quantile(x, q); math.Abs(got-w[m]) > 1e-9 {
				t.Errorf("%v q%v: %v, want %v", Method(m), q, got, w[m])
			}
		}
	}
}

// TestNearestRank checks shares that a float product misses: 0.07·100 is
// 7.000000000000001, yet x[6] holds the share 0.07.
func TestNearestRank(t *testing.T) {
	for n := int64(1); n <= 300; n++ {
		for k := int64(1); k <= n; k++ {
			if lo, _, _ := Nearest.Ranks(n, float64(k)/float64(n)); lo != k-1 {
				t.Fatalf("share %d/%d: rank %d", k, n, lo)
			}
		}
	}
}

// TestRanksWithin checks that every method stays inside of the sample.
func TestRanksWithin(t *testing.T) {
	for _, n := range []int64{1, 2, 3, 10, 1e6, 1e15} {
		for _, q := range []float64{0, 1e-300, 0.5, 0.999, 1 - 1e-16, 1} {
			for m := range Method(3) {
				if lo, hi, f := m.Ranks(n, q); lo < 0 || hi >= n || lo > hi || f < 0 || f > 1 {
					t.Errorf("%v n=%d q=%v: %d, %d, %v", m, n, q, lo, hi, f)
				}
			}
		}
	}
}

// TestLerp holds numpy's form: from the nearer end, so that t = 1 gives b
// exactly and equal ends give themselves.
func TestLerp(t *testing.T) {
	r := rand.New(rand.NewPCG(2, 3))
	for range 1000 {
		a, b := r.NormFloat64()*1e9, r.NormFloat64()*1e-3
		if Lerp(a, b, 0) != a || Lerp(a, b, 1) != b || Lerp(a, a, r.Float64()) != a {
			t.Fatal("ends are not kept")
		}
	}
	// numpy.percentile([0.1, 0.7], 75): 0.7 - 0.6*0.25; the other form differs in the last bit.
	if got, want := Lerp(0.1, 0.7, 0.75), 0.7-float64((0.7-0.1)*0.25); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

// TestRankInterval compares with the binomial distribution summed exactly.
func TestRankInterval(t *testing.T) {
	for _, n := range []int64{1, 2, 5, 10, 59, 60, 100, 299, 1000} {
		for _, q := range []*big.Rat{big.NewRat(1, 2), big.NewRat(9, 10), big.NewRat(99, 100), big.NewRat(999, 1000)} {
			f, _ := q.Float64()
			lo, hi := RankInterval(n, f, 0.95)
			// cdf[k] = P(B ≤ k)·denominator^n in integers: C(n,k)·num^k·(denom-num)^(n-k).
			num, rest := q.Num(), new(big.Int).Sub(q.Denom(), q.Num())
			total := new(big.Int).Exp(q.Denom(), big.NewInt(n), nil)
			cdf, sum := make([]*big.Int, n+1), new(big.Int)
			for k := range n + 1 {
				term := new(big.Int).Binomial(n, k)
				term.Mul(term, new(big.Int).Exp(num, big.NewInt(k), nil))
				term.Mul(term, new(big.Int).Exp(rest, big.NewInt(n-k), nil))
				cdf[k] = new(big.Int).Set(sum.Add(sum, term))
			}
			small := func(p *big.Int) bool { return new(big.Int).Mul(p, big.NewInt(40)).Cmp(total) <= 0 }
			wantLo, wantHi := int64(-1), n
			for l := int64(0); l < n && small(cdf[l]); l++ {
				wantLo = l
			}
			for u := n - 1; u >= 0 && small(new(big.Int).Sub(total, cdf[u])); u-- {
				wantHi = u
			}
			if lo != wantLo || hi != wantHi {
				t.Errorf("n=%d q=%v: [%d, %d], want [%d, %d]", n, f, lo, hi, wantLo, wantHi)
			}
		}
	}
}

// TestMomentsExact compares with arbitrary precision, in any order and cut.
func TestMomentsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 1))
	for name, values := range streams(r, 5000) {
		sum, squares := new(big.Int), new(big.Int)
		for _, v := range values {
			b := big.NewInt(v)
			sum.Add(sum, b)
			squares.Add(squares, new(big.Int).Mul(b, b))
		}
		n := big.NewInt(int64(len(values)))
		mean, _ := new(big.Rat).SetFrac(sum, n).Float64()
		variance := new(big.Rat).SetFrac(squares, n)
		m2 := new(big.Rat).SetFrac(sum, n)
		variance.Sub(variance, m2.Mul(m2, m2))
		v, _ := variance.Float64()

		parts := make([]Moments, 4)
		for rest := values; len(rest) > 0; {
			k := min(1+r.IntN(1500), len(rest))
			p := &parts[r.IntN(4)]
			if r.IntN(3) == 0 {
				for _, v := range rest[:k] {
					p.AddN(v, 1)
				}
			} else {
				p.Add(rest[:k])
			}
			rest = rest[k:]
		}
		var all Moments
		for i := range parts {
			var p Moments
			if rest, err := p.Load(parts[i].AppendTo(nil)); err != nil || len(rest) > 0 {
				t.Fatal(err)
			}
			all.Merge(&p)
		}
		if all.Min != slices.Min(values) || all.Max != slices.Max(values) || all.N != int64(len(values)) {
			t.Errorf("%s: n %d min %d max %d", name, all.N, all.Min, all.Max)
		}
		if all.Mean() != mean || all.Std() != math.Sqrt(v) || all.Sum().Cmp(sum) != 0 {
			t.Errorf("%s: mean %v std %v, want %v %v", name, all.Mean(), all.Std(), mean, math.Sqrt(v))
		}
		var once, many Moments
		once.AddN(values[0], 1000)
		for range 1000 {
			many.Add(values[:1])
		}
		if once != many {
			t.Errorf("%s: AddN gives %+v, want %+v", name, once, many)
		}
	}
}

func TestMeanStdSorted(t *testing.T) {
	of := func(values ...float64) (mean, std float64) {
		var s Sample
		for _, v := range values {
			s.Add(Key(v), true)
		}
		return s.Moments(true)
	}
	if mean, _ := of(1, -1e16, 1e16, 1); mean != 0.5 {
		t.Errorf("mean %v, want 0.5: the small values were lost", mean)
	}
	if _, std := of(4, 4, 9, 4, 5, 2, 5, 7); std != 2 {
		t.Errorf("std %v, want 2 (ddof 0)", std)
	}
}

func TestSortAndKeys(t *testing.T) {
	r := rand.New(rand.NewPCG(4, 4))
	all := streams(r, 3000)
	far := []int64{math.MaxInt64, math.MinInt64} // so that the first bits tell nothing of the others
	for range 3000 {
		far = append(far, int64(1e9+1e8*r.NormFloat64()), r.Int64N(100))
	}
	all["far"] = far
	for name, values := range all {
		want := slices.Clone(values)
		slices.Sort(want)
		got := slices.Clone(values)
		if Sort(got); !slices.Equal(got, want) {
			t.Errorf("%s is not sorted", name)
		}
		code := AppendSorted(nil, got)
		if back, rest, err := LoadSorted(nil, code); err != nil || len(rest) > 0 || !slices.Equal(back, want) {
			t.Errorf("%s: round trip fails: %v", name, err)
		}
	}
	floats := []float64{math.Inf(-1), -1e300, -1.5, -1, -5e-324, 0, 5e-324, 1, 1.5, 1e300, math.Inf(1)}
	for i, f := range floats {
		if Unkey(Key(f)) != f || i > 0 && Key(f) <= Key(floats[i-1]) {
			t.Errorf("key of %v", f)
		}
	}
}
