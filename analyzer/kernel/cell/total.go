package cell

import (
	"math/big"
	"math/bits"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// Total counts values and adds them up exactly.
type Total struct {
	N           int64
	Hi          int64
	Lo          uint64
	Least, Most int64
}

func (t *Total) Add(v int64) {
	if t.N == 0 || v < t.Least {
		t.Least = v
	}
	if t.N == 0 || v > t.Most {
		t.Most = v
	}
	t.N++
	t.Plus(v>>63, uint64(v))
}

func (t *Total) Plus(hi int64, lo uint64) {
	var carry uint64
	t.Lo, carry = bits.Add64(t.Lo, lo, 0)
	t.Hi += hi + int64(carry)
}

func (t *Total) Merge(o *Total) {
	switch {
	case o.N == 0:
		return
	case t.N == 0:
		t.Least, t.Most = o.Least, o.Most
	}
	t.Least, t.Most = min(t.Least, o.Least), max(t.Most, o.Most)
	t.N += o.N
	t.Plus(o.Hi, o.Lo)
}

// whole returns the sum and whether it fits.
func (t *Total) whole() (int64, bool) { return int64(t.Lo), t.Hi == int64(t.Lo)>>63 }

// Float returns the sum, rounded.
func (t *Total) Float() float64 {
	if v, ok := t.whole(); ok {
		return float64(v)
	}
	return float64(float64(t.Hi)*0x1p64) + float64(t.Lo)
}

// Sum returns the sum in ns.
func (t *Total) Sum() report.Value {
	switch v, ok := t.whole(); {
	case t.N == 0:
		return report.Null("not_recorded")
	case !ok:
		return report.Null("out_of_range")
	default:
		return report.KnownInt(v, unit.Nanosecond)
	}
}

// Gauge returns the mean and the greatest of values that were multiplied by
// scale.
func (t *Total) Gauge(scale float64, u unit.Unit) report.Gauge {
	if t.N == 0 {
		return report.Gauge{Mean: report.Null("not_recorded"), Max: report.Null("not_recorded")}
	}
	g := report.Gauge{N: t.N, Mean: report.Known(t.Float()/float64(t.N)/scale, u), Max: report.KnownInt(t.Most, u)}
	if scale != 1 {
		g.Max = report.Known(float64(t.Most)/scale, u)
	}
	return g
}

// Big returns the sum.
func (t *Total) Big() *big.Int {
	sum := new(big.Int).Lsh(big.NewInt(t.Hi), 64)
	return sum.Add(sum, new(big.Int).SetUint64(t.Lo))
}

func (t *Total) AppendTo(dst []byte) []byte {
	return AppendInts(dst, t.N, t.Hi, int64(t.Lo), t.Least, t.Most)
}

func (t *Total) Load(src *Reader) {
	var lo int64
	src.Ints(&t.N, &t.Hi, &lo, &t.Least, &t.Most)
	t.Lo = uint64(lo)
}
