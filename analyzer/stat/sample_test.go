package stat

import (
	"math"
	"math/big"
	"math/rand/v2"
	"slices"
	"testing"
)

// sampleKinds draw values of one kind: floats as their keys.
var sampleKinds = []struct {
	name   string
	floats bool
	draw   func(r *rand.Rand) int64
}{
	{"durations", false, func(r *rand.Rand) int64 { return int64(math.Exp(18 + r.NormFloat64())) }},
	{"small counts", false, func(r *rand.Rand) int64 { return r.Int64N(40) - 20 }},
	{"one value", false, func(r *rand.Rand) int64 { return 1 << 40 }},
	{"any integer", false, func(r *rand.Rand) int64 { return int64(r.Uint64()) >> r.IntN(64) }},
	{"neighbours", false, func(r *rand.Rand) int64 { return 1<<58 + r.Int64N(9) - 4 }},
	{"bounds of buckets", false, func(r *rand.Rand) int64 { return 1<<(10+r.IntN(8)) + r.Int64N(3) - 1 }},
	{"extremes", false, func(r *rand.Rand) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[r.IntN(4)] }},
	{"quotients", true, func(r *rand.Rand) int64 { return Key(float64(r.Int64N(1e9)) / float64(1+r.Int64N(999))) }},
	{"shares", true, func(r *rand.Rand) int64 { return Key(float64(r.IntN(11)) / 10) }},
	{"any float", true, func(r *rand.Rand) int64 {
		f := math.Ldexp(r.Float64()-0.5, r.IntN(600)-300)
		return Key(f)
	}},
	{"tiny floats", true, func(r *rand.Rand) int64 { return Key(float64(r.IntN(5)-2) * math.SmallestNonzeroFloat64) }},
}

// TestSample holds a sample that counts, cut and merged anyhow and sent through
// its encoding, to the sorted values and to sums of rationals.
func TestSample(t *testing.T) {
	defer func(limit int) { SampleLimit = limit }(SampleLimit)
	SampleLimit = 60
	r := rand.New(rand.NewPCG(3, 4))
	for _, kind := range sampleKinds {
		for _, n := range []int{1, 59, 60, 61, 500, 9000} {
			values := make([]int64, n)
			for i := range values {
				values[i] = kind.draw(r)
			}
			sum := sampled(t, r, values, kind.floats)
			if sum.Counted() != (n > SampleLimit) {
				t.Fatalf("%s: %d values, counted: %t", kind.name, n, sum.Counted())
			}
			w := new(Wanted)
			ranks := []int64{0, 1, int64(n / 2), int64(n / 3), int64(n) * 99 / 100, int64(n - 1)}
			for _, k := range ranks {
				if k = min(k, int64(n-1)); sum.Counted() {
					w.Want(sum, k)
				}
			}
			fetched := fetchedOf(t, r, w, values)
			sum.AddFetched(fetched)
			sorted := slices.Sorted(slices.Values(values))
			for _, k := range ranks {
				k = min(k, int64(n-1))
				if v, exact := sum.At(k); v != sorted[k] || !exact {
					t.Fatalf("%s: value %d of %d is %d, exact: %t, want %d", kind.name, k, n, v, exact, sorted[k])
				}
			}
			checkMoments(t, kind.name, sum, sorted, kind.floats)
		}
	}
}

// sampled puts values into several samples in random order and merges them.
func sampled(t *testing.T, r *rand.Rand, values []int64, floats bool) *Sample {
	t.Helper()
	values = slices.Clone(values)
	r.Shuffle(len(values), func(i, j int) { values[i], values[j] = values[j], values[i] })
	sum := new(Sample)
	var store memory
	for len(values) > 0 {
		part := new(Sample)
		n := 1 + r.IntN(len(values))
		for _, v := range values[:n] {
			part.Add(v, floats)
			if r.IntN(20) == 0 {
				part.Pack([]Store{nil, &store}[r.IntN(2)])
			}
		}
		if values = values[n:]; r.IntN(2) == 0 {
			code := part.AppendTo(nil)
			part = new(Sample)
			if rest, err := part.Load(code); err != nil || len(rest) > 0 {
				t.Fatalf("load: %v, %d bytes left", err, len(rest))
			}
		}
		sum.Merge(part, floats)
	}
	return sum
}

func fetchedOf(t *testing.T, r *rand.Rand, w *Wanted, values []int64) *Fetch {
	t.Helper()
	code := w.AppendTo(nil)
	w = new(Wanted)
	if rest, err := w.Load(code); err != nil || len(rest) > 0 {
		t.Fatalf("load: %v, %d bytes left", err, len(rest))
	}
	parts := [2]Fetch{}
	for _, v := range values {
		parts[r.IntN(2)].Add(w, v)
	}
	code = parts[1].AppendTo(nil)
	if _, err := parts[1].Load(code); err != nil {
		t.Fatal(err)
	}
	parts[0].Merge(&parts[1])
	return &parts[0]
}

// checkMoments compares with sums of rationals.
func checkMoments(t *testing.T, name string, s *Sample, sorted []int64, floats bool) {
	t.Helper()
	sum, squares, n := new(big.Rat), new(big.Rat), new(big.Rat).SetInt64(int64(len(sorted)))
	for _, v := range sorted {
		x := new(big.Rat).SetInt64(v)
		if floats {
			x.SetFloat64(Unkey(v))
		}
		sum.Add(sum, x)
		squares.Add(squares, new(big.Rat).Mul(x, x))
	}
	sum.Quo(sum, n)
	wantMean, _ := sum.Float64()
	squares.Quo(squares, n).Sub(squares, new(big.Rat).Mul(sum, sum))
	variance, _ := squares.Float64()
	mean, std := s.Moments(floats)
	if wantStd := math.Sqrt(variance); !near(mean, wantMean) || !near(std, wantStd) || s.Counted() && (mean != wantMean || std != wantStd) {
		t.Fatalf("%s: mean %v, std %v of %d values, want %v, %v", name, mean, std, len(sorted), wantMean, wantStd)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-12*math.Max(math.Abs(a), math.Abs(b)) }

// TestSampleEncoding holds encodings to be those of the values, whatever their
// order, and refuses what is none.
func TestSampleEncoding(t *testing.T) {
	defer func(limit int) { SampleLimit = limit }(SampleLimit)
	SampleLimit = 60
	r := rand.New(rand.NewPCG(5, 6))
	for _, kind := range sampleKinds {
		values := make([]int64, 300)
		for i := range values {
			values[i] = kind.draw(r)
		}
		code := string(sampled(t, r, values, kind.floats).AppendTo(nil))
		if again := string(sampled(t, r, values, kind.floats).AppendTo(nil)); again != code {
			t.Errorf("%s: another encoding", kind.name)
		}
		for n := 0; n < len(code); n += 1 + len(code)/50 {
			if _, err := new(Sample).Load([]byte(code[:n])); err == nil {
				t.Errorf("%s: %d of %d bytes are taken for a sample", kind.name, n, len(code))
			}
		}
	}
}
