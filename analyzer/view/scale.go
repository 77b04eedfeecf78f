package view

import "math/bits"

// logScale divides the whole numbers from 0 into buckets that grow with the
// value: those below 2^Bits have one each, above there are 2^Bits to each octave.
// With a negative number of bits a bucket holds 2^-Bits octaves. The edges are
// whole numbers, so that counts are exact.
type logScale struct{ Bits int }

// bucket returns the bucket of v ≥ 0.
func (s logScale) bucket(v int64) int64 {
	if s.Bits < 0 {
		return int64(bits.Len64(uint64(v)) >> -s.Bits)
	}
	shift := bits.Len64(uint64(v)) - 1 - s.Bits
	if shift <= 0 {
		return v
	}
	return int64(shift)<<s.Bits + v>>shift
}

// edge returns the least value of a bucket; beyond the last one, the greatest
// number there is.
func (s logScale) edge(bucket int64) int64 {
	const most = 1<<63 - 1
	if s.Bits < 0 {
		if bucket == 0 {
			return 0
		}
		if octave := bucket<<-s.Bits - 1; octave < 63 {
			return 1 << octave
		}
		return most
	}
	if bucket < 2<<s.Bits {
		return bucket
	}
	shift := bucket>>s.Bits - 1
	if shift+int64(s.Bits) > 62 {
		return most
	}
	return (bucket - shift<<s.Bits) << shift
}

// logScaleFor returns the finest scale that has at most n buckets from low to
// high.
func logScaleFor(low, high int64, n int) logScale {
	for b := 8; b > -5; b-- {
		if s := (logScale{b}); s.bucket(high)-s.bucket(low)+1 <= int64(n) {
			return s
		}
	}
	return logScale{-5}
}
