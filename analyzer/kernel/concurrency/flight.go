package concurrency

import (
	"math"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
)

// flight holds the requests of a place as intervals from send to end.
type flight struct {
	starts, ends stat.Instants
	open         []int64 // when the requests that the log leaves open were last seen; they have a start and no end
	endless      int64   // requests without an end, left out
	unended      int64   // of all, those without a residence
	residence    stat.Moments
}

func (f *flight) Merge(o *flight) {
	f.starts.Merge(&o.starts)
	f.ends.Merge(&o.ends)
	f.open = append(f.open, o.open...)
	f.endless += o.endless
	f.unended += o.unended
	f.residence.Merge(&o.residence)
}

func (f *flight) Weight() int64 { return 0 } // is never in a window

func (f *flight) Size() int64 { return f.starts.Size() + f.ends.Size() + 8*int64(cap(f.open)) }

func (f *flight) AppendTo(dst []byte) []byte {
	dst = cell.AppendValues(f.ends.AppendTo(f.starts.AppendTo(dst)), f.open)
	return f.residence.AppendTo(cell.AppendInts(dst, f.endless, f.unended))
}

func (f *flight) Load(src *cell.Reader) {
	src.Part(f.starts.Load)
	src.Part(f.ends.Load)
	f.open = src.Sorted()
	src.Ints(&f.endless, &f.unended)
	src.Moments(&f.residence)
	if f.starts.N() != f.ends.N()+int64(len(f.open)) {
		src.Fail()
	}
}

// add adds a request.
func (f *flight) add(w *request.Row, def *metric.Definition) {
	start, end := w.Enter, request.Or(w.Finished, w.LastToken)
	d, why := request.Between(start, end)
	if def.OKOnly {
		d, why = request.Between(w.Start, w.End(def))
	}
	switch {
	case def.OKOnly && w.Cohort(def) != metric.None: // tools forget them
	case why != metric.None, w.Status == trace.Open, w.Status == trace.HeadMissing:
		f.unended++
	default:
		f.residence.AddN(d, 1)
	}
	switch w.Status {
	case trace.Open: // in flight until the log ends, or until an engine's log says that it is not
		if start != request.None && w.Placed {
			f.starts.Add(start)
			f.open = append(f.open, max(start, w.FirstEvent, w.FirstToken, w.LastToken))
		}
		if start == request.None {
			f.endless++
		}
		return
	case trace.HeadMissing: // in flight since before it began
		start = math.MinInt64 + 1
	}
	if start == request.None || end == request.None || end < start {
		f.endless++
		return
	}
	if def.Buckets && w.Cohort(def) != metric.None {
		return
	}
	if w.Placed {
		f.starts.Add(start)
		f.ends.Add(end)
	}
}

// sweep returns the number of requests in flight. Those that the log leaves open
// are so until the end of time, or until the engines are idle.
func (f *flight) sweep(idle kernel.Idle) *stat.Sweep {
	if len(f.open) == 0 {
		return stat.NewSweep(&f.starts, &f.ends)
	}
	ends := new(stat.Instants)
	ends.Merge(&f.ends)
	for _, seen := range f.open {
		end, ok := idle.End(seen)
		if !ok {
			end = math.MaxInt64
		}
		ends.Add(end)
	}
	return stat.NewSweep(&f.starts, ends)
}

// inferred returns how many requests end by what engines say, and the last of
// these ends.
func (f *flight) inferred(idle kernel.Idle) (n, last int64) {
	last = request.None
	for _, seen := range f.open {
		if end, ok := idle.End(seen); ok {
			n, last = n+1, max(last, end)
		}
	}
	return n, last
}
