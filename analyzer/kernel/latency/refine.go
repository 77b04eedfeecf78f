package latency

import (
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/stat"
)

// fetch holds, in a second pass, the values that order statistics need.
type fetch struct {
	wanted *[len(request.Measures)]stat.Wanted
	got    [len(request.Measures)]stat.Fetch
}

func (f *fetch) add(slot int, v int64) { f.got[slot].Add(&f.wanted[slot], v) }

func (f *fetch) Merge(o *fetch) {
	for i := range f.got {
		f.got[i].Merge(&o.got[i])
	}
}

func (f *fetch) Size() int64 {
	n := int64(0)
	for i := range f.got {
		n += f.got[i].Size()
	}
	return n
}

func (f *fetch) AppendTo(dst []byte) []byte {
	for i := range f.got {
		dst = f.got[i].AppendTo(dst)
	}
	return dst
}

func (f *fetch) Load(src *cell.Reader) {
	for i := range f.got {
		src.Part(f.got[i].Load)
	}
}

// mayBeCensored reports whether a measure is a TTFT, which some requests ended
// before.
func mayBeCensored(slot int) bool {
	return slot == request.MeasureTTFT || slot == request.MeasureTTFTEngine
}
