package stat

import "math"

// SampleLimit is the number of values that a Sample keeps before it counts. Set
// it before the first Sample exists. Tests lower it; it is higher where another
// pass costs more than memory.
var SampleLimit = 1 << 18

// staged is the number of values that a counting Sample collects before it
// counts them.
const staged = 1 << 12

// sampleChunk is the size from which raw is not copied to grow: more values go
// to a new chunk.
const sampleChunk = 1 << 12

// Sample holds one value for each request: an integer, or a float as its Key.
// Up to SampleLimit it keeps every value. Beyond the limit it counts values in
// buckets of relative width 2⁻¹², with exact sums. The counts tell which bucket
// an order statistic lies in; a second pass over the same values fetches the
// values of these buckets (see Wanted and Fetch).
//
// Samples merge in any order, with the same answers. The zero value is an empty
// sample of integers. A Sample is not safe for concurrent use.
type Sample struct {
	raw    []int64       // values that are in no part, not packed and not counted
	parts  [][]int64     // earlier chunks of raw; read-only, because merged samples share them
	before int           // number of values in parts
	sorted bool          // raw is sorted, and no values are in parts or packed
	summed bool          // mean and std are up to date
	packed *samplePacked // packed values; nil: none
	counts *sampleCounts // counts; nil while every value is kept. A counting sample packs nothing

	mean, std float64
}

// SampleOf returns a sample of integers, which owns the slice.
func SampleOf(values []int64) *Sample { return &Sample{raw: values} }

// Add adds a value. floats says that values are Keys of floats, and must be the
// same in all calls.
func (s *Sample) Add(v int64, floats bool) {
	if len(s.raw) == cap(s.raw) {
		s.grow(1)
	}
	s.raw = append(s.raw, v)
	s.added(floats)
}

// AddAll adds values; see Add.
func (s *Sample) AddAll(values []int64, floats bool) {
	if cap(s.raw)-len(s.raw) < len(values) {
		s.grow(len(values))
	}
	s.raw = append(s.raw, values...)
	s.added(floats)
}

// grow makes room for n more values in raw.
func (s *Sample) grow(n int) {
	if len(s.raw) < sampleChunk/2 {
		s.raw = append(make([]int64, 0, min(max(2*len(s.raw), 16), sampleChunk)+n), s.raw...)
		return
	}
	s.parts, s.before = append(s.parts, s.raw[:len(s.raw):len(s.raw)]), s.before+len(s.raw)
	s.raw = make([]int64, 0, max(sampleChunk, n))
}

// gather brings all values into raw.
func (s *Sample) gather() {
	if len(s.parts) == 0 {
		return
	}
	all := make([]int64, 0, s.before+len(s.raw))
	for _, p := range s.parts {
		all = append(all, p...)
	}
	s.raw, s.parts, s.before = append(all, s.raw...), nil, 0
}

// added counts the values in buckets if there are too many.
func (s *Sample) added(floats bool) {
	s.sorted, s.summed = false, false
	s.DropUnpacked()
	if s.counts != nil && len(s.raw) >= staged || s.held() > SampleLimit {
		s.count(floats)
	}
}

// count moves the kept values into buckets.
func (s *Sample) count(floats bool) {
	if s.counts == nil {
		s.counts = &sampleCounts{floats: floats, pages: make(map[int64]*page)}
	}
	s.eachPacked(s.counts.add)
	for _, p := range s.parts {
		s.counts.add(p)
	}
	s.parts, s.before, s.packed = nil, 0, nil
	s.counts.add(s.raw)
	if cap(s.raw) > 2*staged {
		s.raw = make([]int64, 0, staged)
	}
	s.raw = s.raw[:0]
}

// settle counts the values that are not counted yet.
func (s *Sample) settle() {
	if s.counts != nil && s.held() > 0 {
		s.count(s.counts.floats)
	}
}

// Merge adds the values of o, of the same kind, and leaves o unchanged.
func (s *Sample) Merge(o *Sample, floats bool) {
	s.MergeUncounted(o)
	if s.counts == nil && s.held() > SampleLimit {
		s.count(floats)
	}
}

// MergeUncounted adds the values of o and leaves o unchanged. If neither sample
// counts, the result keeps every value, even beyond SampleLimit.
func (s *Sample) MergeUncounted(o *Sample) {
	if o.counts != nil && s.counts == nil {
		s.count(o.counts.floats)
	}
	// Two sorted samples stay sorted; otherwise share the parts of o.
	switch {
	case o.held() == 0:
	case s.counts == nil && (s.sorted || s.held() == 0) && o.sorted:
		s.raw, s.sorted, s.summed = merged(s.raw, o.raw), true, false
	default:
		s.parts, s.before = append(s.parts, o.parts...), s.before+o.before
		s.raw, s.sorted, s.summed = append(s.raw, o.raw...), false, false
		s.share(o.packed)
	}
	s.settle()
	if o.counts != nil {
		s.counts.merge(o.counts)
	}
}

// N returns the number of values.
func (s *Sample) N() int64 {
	n := int64(s.held())
	if s.counts != nil {
		n += s.counts.N
	}
	return n
}

// Counted reports whether values are counted in buckets, so that an order
// statistic may be inexact.
func (s *Sample) Counted() bool { return s.counts != nil }

// At returns the k-th smallest value (0-based, k < N), and whether it is exact.
// Otherwise its relative error is up to 2⁻¹².
func (s *Sample) At(k int64) (v int64, exact bool) {
	if s.counts == nil {
		return s.inOrder()[k], true
	}
	s.settle()
	return s.counts.at(k)
}

func (s *Sample) sort() {
	if !s.sorted {
		s.gather()
		Sort(s.raw)
		s.sorted = true
	}
}

// Sort sorts the values. AppendTo and At sort when needed, but sorted samples
// merge faster.
func (s *Sample) Sort() {
	if s.counts == nil && s.packed == nil {
		s.sort()
	}
}

// Settle sorts the values and computes the moments, so that At and Moments need
// not.
func (s *Sample) Settle(floats bool) {
	if s.counts != nil {
		s.settle()
		return
	}
	if s.packed == nil { // sorting would unpack all values
		s.sort()
		s.Moments(floats)
	}
}

// Moments returns the mean and the population standard deviation. They do not
// depend on the order of the values.
func (s *Sample) Moments(floats bool) (mean, std float64) {
	switch {
	case s.counts != nil:
		s.settle()
		return s.counts.mean(), s.counts.std()
	case s.summed:
	case floats:
		s.mean, s.std = meanOf(s.inOrder())
	default:
		var m Moments
		s.eachPacked(m.Add)
		for _, p := range s.parts {
			m.Add(p)
		}
		m.Add(s.raw)
		s.mean, s.std = m.Mean(), m.Std()
	}
	s.summed = true
	return s.mean, s.std
}

// Size returns the approximate memory of the sample in bytes.
func (s *Sample) Size() int64 {
	n := 8*int64(s.before+cap(s.raw)) + s.packed.size()
	if s.counts != nil {
		n += int64(len(s.counts.pages))*pageSize + s.counts.fetched.size()
	}
	return n
}

// AppendTo appends the encoding of s to dst.
func (s *Sample) AppendTo(dst []byte) []byte {
	if s.counts == nil {
		defer s.DropUnpacked()
		return appendWords(append(dst, 0), s.inOrder())
	}
	s.settle()
	return s.counts.appendTo(append(dst, 1))
}

// Load replaces s by the encoding at the start of src and returns the rest.
func (s *Sample) Load(src []byte) (rest []byte, err error) {
	*s = Sample{}
	if len(src) == 0 || src[0] > 1 {
		return nil, ErrEncoding
	}
	if src[0] == 0 {
		s.raw, rest, err = loadWords(src[1:])
		s.sorted = true
		return rest, err
	}
	s.counts = new(sampleCounts)
	return s.counts.load(src[1:])
}

// AddFetched adds all values of the wanted buckets.
func (s *Sample) AddFetched(f *Fetch) {
	if s.counts != nil {
		s.counts.fetched.merge(&f.bag)
	}
}

// Wanted is a set of buckets whose values another pass has to fetch. The zero
// value is empty.
type Wanted struct {
	base   int64 // bucket of the first bit, a multiple of 64
	bits   []uint64
	floats bool
}

// Want adds the bucket of the k-th smallest value of s, unless the value is
// exact.
func (w *Wanted) Want(s *Sample, k int64) {
	if _, exact := s.At(k); exact {
		return
	}
	w.floats = s.counts.floats
	bucket, _ := s.counts.locate(k)
	w.set(bucket)
}

func (w *Wanted) set(b int64) {
	if len(w.bits) == 0 {
		w.base = b &^ 63
	}
	if first := b &^ 63; first < w.base {
		w.bits = append(make([]uint64, (w.base-first)/64), w.bits...)
		w.base = first
	}
	for int64(len(w.bits)) <= (b-w.base)/64 {
		w.bits = append(w.bits, 0)
	}
	w.bits[(b-w.base)/64] |= 1 << (b & 63)
}

// Empty reports whether nothing is wanted.
func (w *Wanted) Empty() bool { return len(w.bits) == 0 }

// has reports whether bucket b is wanted.
func (w *Wanted) has(b int64) bool {
	i := uint64(b-w.base) / 64
	return b >= w.base && i < uint64(len(w.bits)) && w.bits[i]>>(b&63)&1 != 0
}

// AppendTo appends the encoding of w to dst.
func (w *Wanted) AppendTo(dst []byte) []byte {
	dst = append(dst, 0)
	if w.floats {
		dst[len(dst)-1] = 1
	}
	var list []int64
	for i := range int64(len(w.bits)) * 64 {
		if w.has(w.base + i) {
			list = append(list, w.base+i)
		}
	}
	return AppendSorted(dst, list)
}

// Load replaces w by the encoding at the start of src and returns the rest.
func (w *Wanted) Load(src []byte) ([]byte, error) {
	*w = Wanted{}
	if len(src) == 0 || src[0] > 1 {
		return nil, ErrEncoding
	}
	list, rest, err := LoadSorted(nil, src[1:])
	for _, b := range list {
		if b < math.MinInt64>>bucketShift || b > math.MaxInt64>>bucketShift {
			return nil, ErrEncoding
		}
		w.set(b)
	}
	w.floats = src[0] == 1
	return rest, err
}

// Fetch collects the values of wanted buckets.
type Fetch struct{ bag bag }

// Add adds v if its bucket is wanted.
func (f *Fetch) Add(w *Wanted, v int64) {
	if len(w.bits) == 0 || !w.has(bucketFor(v, w.floats)) {
		return
	}
	if f.bag.tail = append(f.bag.tail, v); len(f.bag.tail) >= max(bagTail/8, len(f.bag.values)/2) {
		f.bag.settle()
	}
}

// Merge adds the values of o.
func (f *Fetch) Merge(o *Fetch) { f.bag.merge(&o.bag) }

// Size returns the approximate memory of f in bytes.
func (f *Fetch) Size() int64 { return f.bag.size() }

// AppendTo appends the encoding of f to dst.
func (f *Fetch) AppendTo(dst []byte) []byte { return f.bag.appendTo(dst) }

// Load replaces f by the encoding at the start of src and returns the rest.
func (f *Fetch) Load(src []byte) ([]byte, error) { return f.bag.load(src) }
