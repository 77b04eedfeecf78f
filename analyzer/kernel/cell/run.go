package cell

import (
	"strconv"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// Run holds the figures of a run that every state needs to choose sides and the
// interval of rates.
type Run struct {
	record   string                              // the record the run was read from; "" before the first
	several  bool                                // there is more than one
	duration int64                               // as the producer measured it, or none
	Limit    int64                               // the client's limit on concurrency, or 0
	Linked   bool                                // rows of several sides are linked
	met      origin                              // the latest record
	Sides    [request.NumSlots]*request.SideInfo // nil: as unseen
}

// origin names a record that a batch belongs to.
type origin struct {
	run  *trace.RunMeta
	file string
}

func newRunInfo() *Run { return &Run{duration: request.None} }

// Multiple reports whether a run has rows of more than one side.
func (r *Run) Multiple() bool {
	n := 0
	for s := range request.NumSides {
		if r.Side(s).Rows+r.Side(s+request.NumSides).Rows > 0 {
			n++
		}
	}
	return n > 1
}

// Side returns the figures of a side, which must not be changed: sides without rows
// share theirs.
func (r *Run) Side(slot int) *request.SideInfo {
	if s := r.Sides[slot]; s != nil {
		return s
	}
	return &request.Unseen
}

// Of returns the figures of a side, which the caller may change.
func (r *Run) Of(slot int) *request.SideInfo {
	if r.Sides[slot] == nil {
		own := request.Unseen
		r.Sides[slot] = &own
	}
	return r.Sides[slot]
}

// meet learns of the record that a batch belongs to.
func (r *Run) meet(v *kernel.View) {
	r.Linked = r.Linked || v.Links != nil
	if r.met == (origin{v.Run, v.File}) {
		return
	}
	r.met = origin{v.Run, v.File}
	record := v.File + "\x00" + strconv.FormatInt(v.Run.Key, 36)
	if r.record == record {
		return
	}
	if r.record != "" {
		r.record, r.several, r.duration, r.Limit = min(r.record, record), true, request.None, 0
		return
	}
	r.record = record
	if v.Run.HasDuration && v.Run.Duration > 0 {
		r.duration = v.Run.Duration
	}
	for _, p := range v.Run.Config {
		if p.Key == "max_concurrency" {
			r.Limit, _ = strconv.ParseInt(p.Value, 10, 64)
		}
	}
}

func (r *Run) Merge(o *Run) {
	r.Linked = r.Linked || o.Linked
	switch {
	case r.record == "":
		r.record, r.several, r.duration, r.Limit = o.record, o.several, o.duration, o.Limit
	case o.record == "" || o.record == r.record && !o.several && !r.several:
	default:
		r.record, r.several, r.duration, r.Limit = min(r.record, o.record), true, request.None, 0
	}
	for i, side := range o.Sides {
		if side != nil {
			r.Of(i).Merge(side)
		}
	}
}

// CountingSide returns the side by which the run's requests are counted.
func (r *Run) CountingSide() trace.Side {
	for _, s := range request.Outermost {
		if r.Side(int(s)).Rows > 0 {
			return s
		}
	}
	for _, s := range request.Outermost { // the query removes all
		if r.Side(int(s)).Seen > 0 {
			return s
		}
	}
	return trace.Client
}

// LatencySide returns the side whose stamps give the run's latencies.
func (r *Run) LatencySide(def *metric.Definition) trace.Side {
	order := [...]trace.Side{trace.Server, trace.Client, trace.Proxy}
	if def.Client {
		order = [...]trace.Side{trace.Client, trace.Server, trace.Proxy}
	}
	for _, s := range order {
		if r.Side(int(s)).Timed > 0 {
			return s
		}
	}
	for _, s := range order {
		if r.Side(int(s)).Rows > 0 {
			return s
		}
	}
	return r.CountingSide()
}

// over returns W of a run, with the length that rates under def divide by.
func (r *Run) over(def *metric.Definition, span metric.Span) Interval {
	side := r.Side(int(r.CountingSide()))
	x := &side.Selected
	var w Interval
	switch {
	case side.Rows == 0:
		w.Reason = metric.NoRequests
	case !side.Placed() || x.FirstSend == request.None:
		w.Reason = metric.Clock
		if side.Placed() {
			w.Reason = metric.NotRecorded
		}
	case x.LastToken == request.None:
		w.Reason = metric.NoToken
	case x.LastToken <= x.FirstSend:
		w.Reason = metric.NoSpan
	default:
		w = Interval{From: x.FirstSend, To: x.LastToken, Whole: max(x.LastEnd, x.LastToken), Placed: true, Length: x.LastToken - x.FirstSend}
	}
	switch d := side.Span(span); {
	case r.duration != request.None && (def.Reported || w.Reason == metric.Clock && span != metric.LongestSpan):
		w.Length, w.Reason = r.duration, metric.None
		w.Note = "over the duration that the producer measured"
	case span == metric.TokenSpan, side.Rows == 0:
	case span != metric.LongestSpan && !side.Placed():
	case d == request.None && w.Reason != metric.None:
	case d == request.None:
		w.Length, w.Reason = 0, metric.NotRecorded
	case d <= 0:
		w.Length, w.Reason = 0, metric.NoSpan
	default:
		w.Length, w.Reason = d, metric.None
		w.Note = "over the " + def.SpanName(span)
	}
	return w
}

// facts returns what later passes may learn of the run.
func (r *Run) facts() kernel.RunFacts {
	var f kernel.RunFacts
	for _, s := range request.Outermost {
		side := r.Side(int(s))
		if side.Clock == "" {
			continue
		}
		x := &side.All
		if side.Placed() && x.FirstSend != request.None {
			f = kernel.RunFacts{HasTimes: true, Clock: side.Clock, FirstSend: x.FirstSend, LastSend: x.LastSend, LastToken: max(x.LastToken, x.FirstSend)}
		}
		break
	}
	return f
}

func (r *Run) AppendTo(dst []byte) []byte {
	dst = AppendInts(AppendText(dst, r.record), Flag(r.several), Flag(r.Linked), r.duration, r.Limit)
	for i := range r.Sides {
		s := r.Side(i)
		dst = AppendInts(AppendText(dst, s.Clock), Flag(s.Mixed), Flag(s.Told), Flag(s.Single), s.Seen, s.Rows, s.Timed, s.Unplaced, s.Longest)
		for _, x := range []*request.Extent{&s.All, &s.Selected, &s.Good} {
			dst = AppendInts(dst, x.FirstSend, x.LastSend, x.LastToken, x.LastEnd)
		}
	}
	return dst
}

func (r *Run) Load(src *Reader) {
	r.record = src.Text()
	r.several, r.Linked = src.Int() != 0, src.Int() != 0
	src.Ints(&r.duration, &r.Limit)
	for i := range r.Sides {
		s := new(request.SideInfo)
		s.Clock = src.Text()
		s.Mixed, s.Told, s.Single = src.Int() != 0, src.Int() != 0, src.Int() != 0
		src.Ints(&s.Seen, &s.Rows, &s.Timed, &s.Unplaced)
		src.Ints(&s.Longest)
		for _, x := range []*request.Extent{&s.All, &s.Selected, &s.Good} {
			src.Ints(&x.FirstSend, &x.LastSend, &x.LastToken, &x.LastEnd)
		}
		if *s != request.Unseen {
			r.Sides[i] = s
		}
	}
}

// learn adds what rows tell.
func (r *Run) learn(s *request.Summary) {
	for i := range s.Sides {
		if s.Sides[i].Seen > 0 {
			r.Of(i).Merge(&s.Sides[i])
		}
	}
}
