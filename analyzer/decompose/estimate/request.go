package estimate

// request is a Request with its place among the steps.
type request struct {
	Request
	perChunk    float64 // tokens of a chunk, on average
	first, last int32   // step of the first and last chunk
	away        int32   // index of its first absence
}

// span returns the decode span: the time from the first to the last chunk in ns.
func (x *request) span() (d int64) {
	for _, gap := range x.Gaps {
		d += gap
	}
	return d
}

// steps returns what the span of x is divided by: N − 1, or the gaps where N is
// unknown.
func (x *request) steps() int64 {
	if x.Output > 1 {
		return x.Output - 1
	}
	return int64(len(x.Gaps))
}
