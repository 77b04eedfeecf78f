package stat

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

var testQuantiles = []float64{0.5, 0.9, 0.95, 0.99, 0.999}

// streams are sequences that a digest must not be fooled by: the order in which
// values come must not matter.
func streams(r *rand.Rand, n int) map[string][]int64 {
	make1 := func(f func(i int) int64) []int64 {
		s := make([]int64, n)
		for i := range s {
			s[i] = f(i)
		}
		return s
	}
	out := map[string][]int64{
		"constant": make1(func(int) int64 { return 12_345_678 }),
		"zero":     make1(func(int) int64 { return 0 }),
		"gaps":     make1(func(int) int64 { return int64(12e6 + 3e5*r.NormFloat64() + 5e6*r.ExpFloat64()) }),
		"tight":    make1(func(int) int64 { return int64(12e6 + 2e4*r.NormFloat64()) }),
		"micro":    make1(func(int) int64 { return 1000 * int64(12e3+300*r.NormFloat64()) }),
		"milli":    make1(func(int) int64 { return 1e6 * int64(12+3*r.NormFloat64()) }),
		"tenths":   make1(func(int) int64 { return 100 * int64(400+20*r.NormFloat64()) }),
		"mostly": make1(func(i int) int64 { // some off the grid, in other words or far out
			return []int64{1e6 * int64(r.IntN(30)), int64(r.IntN(30e6)), -1e6, 1e15}[max(0, 4-r.IntN(400))%4]
		}),
		"leaving": make1(func(i int) int64 { // the grid
			if i < n/2 {
				return 1e5 * int64(r.IntN(100))
			}
			return int64(r.IntN(10e6))
		}),
		"ramp": make1(func(i int) int64 { return int64(i) * 997 }),
		"fall": make1(func(i int) int64 { return int64(n-i) * 1001 }),
		"shift": make1(func(i int) int64 { // another mode once the buckets are chosen
			if i < n/2 {
				return int64(5e6 + 1e5*r.NormFloat64())
			}
			return int64(80e6 + 1e6*r.NormFloat64())
		}),
		"signed": make1(func(int) int64 { return int64(1e6 * r.NormFloat64()) }),
		"any":    make1(func(int) int64 { return int64(r.Uint64()) }),
		"ends":   make1(func(i int) int64 { return []int64{math.MinInt64, math.MaxInt64, 0, -1}[i%4] }),
		"mixed": make1(func(int) int64 { // clocks of several steps, and a tail beyond any grid
			v := int64(4e5 + 2e4*r.NormFloat64())
			if r.IntN(50) == 0 {
				v *= 100
			}
			return v - v%[]int64{1, 100, 1000, 1000, 1000}[r.IntN(5)]
		}),
	}
	sorted := slices.Clone(out["gaps"])
	slices.Sort(sorted)
	out["sorted"] = sorted
	return out
}

// memory is a store.
type memory []byte

func (m *memory) Append(p []byte) (int64, error) {
	*m = append(*m, p...)
	return int64(len(*m) - len(p)), nil
}

func (m *memory) Read(p []byte, off int64) error {
	copy(p, (*m)[off:])
	return nil
}

// digestOf folds values into digests cut at random, encodes and decodes some,
// and merges them in random order.
func digestOf(t *testing.T, r *rand.Rand, values []int64, parts int, fresh func() *Digest) *Digest {
	t.Helper()
	var store memory
	all := make([]*Digest, parts)
	for i := range all {
		all[i] = fresh()
	}
	for len(values) > 0 {
		n := min(1+r.IntN(2000), len(values))
		d := all[r.IntN(parts)]
		if r.IntN(4) > 0 {
			d.Add(values[:n])
		} else {
			for i := 0; i < n; {
				j := i + 1
				for j < n && values[j] == values[i] {
					j++
				}
				d.AddN(values[i], int64(j-i))
				i = j
			}
		}
		values = values[n:]
		if r.IntN(8) == 0 {
			d.Pack([]Store{nil, &store}[r.IntN(2)])
		}
		if r.IntN(8) == 0 && d.Moments().N > 0 { // someone looks, and more values come
			d.At(d.Moments().N / 2)
			d.DropUnpacked()
		}
	}
	for len(all) > 1 {
		i, j := r.IntN(len(all)), r.IntN(len(all))
		if i == j {
			continue
		}
		if r.IntN(2) == 0 {
			code := all[j].AppendTo([]byte("x"))
			loaded := fresh()
			rest, err := loaded.Load(append(code[1:], 7))
			if err != nil || len(rest) != 1 {
				t.Fatalf("load: %v, %d bytes left", err, len(rest))
			}
			all[j] = loaded
		}
		all[i].Merge(all[j])
		all = slices.Delete(all, j, j+1)
	}
	return all[0]
}

// TestDigestIsExact compares every quantile with that of the sorted stream.
func TestDigestIsExact(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 11))
	for name, values := range streams(r, 12_000) {
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		for round := range 8 {
			limit := []int{1, 100, 3000, 50_000}[round%4]
			parts := 1 + r.IntN(5)
			d := digestOf(t, r, values, parts, func() *Digest { return NewDigest(testQuantiles, limit) })
			for _, m := range []Method{Linear, Nearest, Index} {
				if d.Missing(m) {
					d.Refine(digestOf(t, r, values, parts, func() *Digest { return d.Refiner(m) }))
				}
				for _, q := range testQuantiles {
					lo, hi, f := m.Ranks(int64(len(sorted)), q)
					want := Lerp(float64(sorted[lo]), float64(sorted[hi]), f)
					if got, exact := d.Quantile(m, q); got != want || !exact {
						t.Fatalf("%s, limit %d, %v q%v: %v (exact %v), want %v", name, limit, m, q, got, exact, want)
					}
				}
			}
			if m := d.Moments(); m.N != int64(len(values)) || m.Min != sorted[0] || m.Max != sorted[len(sorted)-1] {
				t.Fatalf("%s: n %d min %d max %d", name, m.N, m.Min, m.Max)
			}
		}
	}
}

// TestDigestUnrefined checks that without the second pass an answer that is
// not exact says so and lies within its bucket.
func TestDigestUnrefined(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	inexact := 0
	for name, values := range streams(r, 8_000) {
		d := NewDigest(testQuantiles, 500)
		d.Add(values)
		sorted := slices.Clone(values)
		slices.Sort(sorted)
		for k := range int64(len(sorted)) {
			v, exact := d.At(k)
			want := sorted[k]
			if exact && v != want || bucketOf(v) != bucketOf(want) {
				t.Fatalf("%s: value %d is %d (exact %v), want %d", name, k, v, exact, want)
			}
			if !exact {
				inexact++
			}
		}
	}
	if inexact == 0 {
		t.Error("every value was kept: the test shows nothing")
	}
}

// TestDigestKeepsFew guards the memory promise on a stream of distinct values.
func TestDigestKeepsFew(t *testing.T) {
	d := NewDigest(testQuantiles, DefaultLimit)
	r := rand.New(rand.NewPCG(1, 1))
	block := make([]int64, 4096)
	for range 250 {
		for i := range block {
			block[i] = int64(20e6 + 1e9*r.ExpFloat64())
		}
		d.Add(block)
	}
	if d.Missing(Linear) {
		t.Error("a stationary stream needs a second pass")
	}
	if limit := int64(16 << 20); d.Size() > limit {
		t.Errorf("%d values take %d bytes, more than %d", d.Moments().N, d.Size(), limit)
	}
}

// TestDigestLetsGo checks that a long stream that goes on alike needs no second pass
// although the values that are kept at first come to be too many.
func TestDigestLetsGo(t *testing.T) {
	defer func(n int) { keptLimit = n }(keptLimit)
	keptLimit = 1 << 16
	r := rand.New(rand.NewPCG(2, 9))
	values := make([]int64, 1<<21)
	for i := range values {
		values[i] = int64(1e9 * r.ExpFloat64())
	}
	d := NewDigest(testQuantiles, 1<<12)
	d.Add(values)
	d.Settle()
	if n := len(d.kept.values); n > keptLimit {
		t.Errorf("%d values are kept", n)
	}
	slices.Sort(values)
	for _, q := range testQuantiles {
		lo, hi, f := Linear.Ranks(int64(len(values)), q)
		want := Lerp(float64(values[lo]), float64(values[hi]), f)
		if got, exact := d.Quantile(Linear, q); got != want || !exact {
			t.Errorf("q%v is %v (exact: %v), want %v", q, got, exact, want)
		}
	}
}

// TestPack guards what packing is for: gaps as logs have them, of whole
// microseconds, take less than two bytes each, those of nanoseconds three.
func TestPack(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for unit, most := range map[int64]int64{1000: 2, 1: 3} {
		d := NewDigest(testQuantiles, DefaultLimit)
		const n = 20_000
		for range n / 1000 {
			block := make([]int64, 1000)
			for i := range block {
				block[i] = int64(12e6+3e5*r.NormFloat64()) / unit * unit
			}
			d.Add(block)
			if d.RawCount() >= 4000 {
				d.Pack(nil)
			}
		}
		d.Pack(nil)
		if d.RawCount() != 0 || d.Size() > most*n+1000 {
			t.Errorf("%d values of %d ns: %d are not packed, and all take %d bytes", n, unit, d.RawCount(), d.Size())
		}
	}
}

func TestBuckets(t *testing.T) {
	last := int32(math.MinInt32)
	for _, v := range []int64{math.MinInt64, math.MinInt64 + 1, -1 << 40, -513, -512, -511, -2, -1, 0, 1, 2, 510, 511, 512, 513, 514, 1023, 1024, 1 << 40, math.MaxInt64} {
		b := bucketOf(v)
		if lo, hi := bucketRange(b); v != math.MinInt64 && (v < lo || v > hi) {
			t.Errorf("%d is not in [%d, %d] of its bucket", v, lo, hi)
		} else if v > 0 && float64(hi-lo) > float64(lo)/256 {
			t.Errorf("bucket of %d is wider than 2⁻⁸: [%d, %d]", v, lo, hi)
		}
		if b < last {
			t.Errorf("bucket %d of %d is below that of a smaller value", b, v)
		}
		last = b
	}
}

// TestDigestLoadRejects feeds truncated and altered encodings: an error or a
// digest, never a panic.
func TestDigestLoadRejects(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	d := NewDigest(testQuantiles, 100)
	for range 5000 {
		d.Add([]int64{int64(1e6 * r.NormFloat64())})
	}
	code := d.AppendTo(nil)
	for n := range code {
		if _, err := NewDigest(testQuantiles, 100).Load(code[:n]); err == nil {
			t.Fatalf("the first %d of %d bytes were accepted", n, len(code))
		}
	}
	for range 5_000 {
		bad := slices.Clone(code)
		for range 1 + r.IntN(3) {
			bad[r.IntN(len(bad))] = byte(r.Uint32())
		}
		other := NewDigest(testQuantiles, 100)
		if _, err := other.Load(bad); err == nil && other.Moments().N > 0 {
			other.Quantile(Linear, 0.5)
		}
	}
}

func benchmarkDigest(b *testing.B, values []int64) {
	b.SetBytes(int64(8 * len(values)))
	d := NewDigest(testQuantiles, DefaultLimit)
	for range 2 { // past the choice of buckets
		d.Add(values)
	}
	b.ResetTimer()
	for b.Loop() {
		d.Add(values)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/value")
}

func BenchmarkDigest(b *testing.B) {
	all := streams(rand.New(rand.NewPCG(1, 2)), 1<<18)
	for _, name := range []string{"gaps", "tight", "micro", "mixed", "constant"} {
		b.Run(name, func(b *testing.B) { benchmarkDigest(b, all[name]) })
	}
}

func BenchmarkMoments(b *testing.B) {
	values := streams(rand.New(rand.NewPCG(1, 2)), 1<<14)["gaps"]
	var m Moments
	for b.Loop() {
		m.Add(values)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/value")
}

func BenchmarkSort(b *testing.B) {
	values := streams(rand.New(rand.NewPCG(1, 2)), 1<<20)["gaps"]
	buf := make([]int64, len(values))
	for b.Loop() {
		copy(buf, values)
		Sort(buf)
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(values)), "ns/value")
}

// TestRefineNearLimit: what a second pass has found is not let go of again, however
// much is kept beside it.
func TestRefineNearLimit(t *testing.T) {
	defer func(n int) { keptLimit = n }(keptLimit)
	r := rand.New(rand.NewPCG(3, 4))
	values := make([]int64, 3000)
	for i := range values {
		values[i] = int64(1e7 * math.Exp(r.NormFloat64()+float64(i)/6000)) // grow while they come
	}
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	quantiles := []float64{0.25, 0.5, 0.75, 0.9, 0.99}
	d := NewDigest(quantiles, 2048)
	d.Add(values)
	d.Settle()
	keptLimit = len(d.kept.values)
	if !d.Missing(Linear) {
		t.Fatal("nothing has to be refined")
	}
	again := d.Refiner(Linear)
	again.Add(values)
	d.Refine(again)
	if len(d.kept.values) <= keptLimit {
		t.Error("the limit is not reached")
	}
	for _, q := range quantiles {
		lo, hi, x := Linear.Ranks(int64(len(sorted)), q)
		want := Lerp(float64(sorted[lo]), float64(sorted[hi]), x)
		if got, exact := d.Quantile(Linear, q); !exact || got != want {
			t.Errorf("the %v-quantile is %v, exact %v; want %v", q, got, exact, want)
		}
	}
}
