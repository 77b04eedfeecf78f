package mapping

import (
	"bytes"

	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
)

// request makes a row of the record.
func (r *reader) request() *problem {
	row := &r.row
	row.Reset(r.offset(r.rec.off))
	r.setNames(row)
	for _, c := range [...]role{prompt, output, cached, reasoning} {
		if v, ok := r.count(c); ok {
			row.SetInt(roleInfo[c].col, v)
		}
	}
	measured := r.setTimes(row)
	if r.setLists(row) {
		measured = true
	}
	if !row.Measured() {
		return nothing
	}
	if _, stated := row.Int(trace.StatusCol); !stated && !row.Error && !measured && r.hasNoEnd() {
		row.SetInt(trace.StatusCol, int64(trace.Open))
		r.note(noEnd)
	}
	r.writer.Add(row)
	return nil
}

// hasNoEnd reports whether every column that would tell of the end is empty.
func (r *reader) hasNoEnd() bool {
	for _, role := range [...]role{lastToken, finished, e2e, ttft, times, gaps, output, status, failure} {
		if e := r.by[role]; e != nil && r.rec.cells[e.field].set {
			return false
		}
	}
	return true
}

// setNames sets the texts of a row: id, model, status, error and the like.
func (r *reader) setNames(row *assemble.Row) {
	for _, t := range [...]role{id, model, reason, tenant, replica} {
		if v := r.text(t); len(v) > 0 {
			row.SetText(roleInfo[t].col, v)
		}
	}
	if v := r.text(status); len(v) > 0 {
		s, ok := statusOf(v)
		if !ok && r.successStatus {
			s, ok = truthOf(v)
		}
		if !ok {
			r.note(unknownStatus)
		} else if row.SetInt(trace.StatusCol, int64(s)); s == trace.Failed {
			row.Error = true
			row.SetText(trace.ErrorClass, errorClass(v))
		}
	}
	switch v := r.text(failure); string(bytes.ToLower(v)) {
	case "", "0", "false", "none", "null", "[]", "{}":
	default:
		row.Error = true
		row.SetText(trace.ErrorClass, errorClass(v))
	}
	switch v := r.text(stream); string(bytes.ToLower(v)) {
	case "true", "1":
		row.SetInt(trace.Stream, 1)
	case "false", "0":
		row.SetInt(trace.Stream, 0)
	}
}

// point is a time that may be unknown.
type point struct {
	t  int64
	ok bool
}

func known(t int64, ok bool) point { return point{t, ok} }

// setTimes sets the stamps of a row. It reports whether any stamp behind the beginning is
// known.
func (r *reader) setTimes(row *assemble.Row) bool {
	start, first, last, end := known(r.stamp(arrival)), known(r.stamp(firstToken)), known(r.stamp(lastToken)), known(r.stamp(finished))
	if r.by[sent] != nil {
		if at := known(r.stamp(sent)); at.ok {
			start = at
		}
	}
	toFirst, whole := known(r.span(ttft)), known(r.span(e2e))
	if toFirst.ok && whole.ok && toFirst.t > whole.t {
		r.note(contradiction)
		toFirst.ok, whole.ok = false, false
	}
	for _, p := range [...]struct{ at, since point }{{end, whole}, {first, toFirst}} {
		if !start.ok && p.at.ok && p.since.ok {
			start = point{p.at.t - p.since.t, true}
		}
	}
	between := first.ok && (last.ok || end.ok)
	if !start.ok && !between && (toFirst.ok || whole.ok) { // no stamp tells where the latencies begin
		start, first, last, end = point{0, true}, point{}, point{}, point{}
		if r.run.Clock.Kind != trace.RequestClock {
			row.SetText(trace.ClockCol, []byte(trace.RequestClock.String()))
		}
	}
	r.fillStamp(&first, start, toFirst)
	if last.ok {
		r.fillStamp(&last, start, whole)
	} else {
		r.fillStamp(&end, start, whole)
	}
	r.checkPace(row, whole)
	r.perToken(row, start, first, &last, end)
	r.checkOrder(start, &first, &last, &end)
	any := false
	side := trace.Received
	if r.run.Side == trace.Client {
		side = trace.Sent
	}
	for _, p := range [...]struct {
		point
		col trace.Col
	}{{start, side}, {first, trace.FirstToken}, {last, trace.LastToken}, {end, trace.Finished}} {
		if p.ok {
			row.SetInt(p.col, p.t)
			any = any || p.col != side
		}
	}
	r.setResolution(row)
	return any
}

// fillStamp sets an unknown stamp from a duration, or compares the duration with a known
// stamp.
func (r *reader) fillStamp(p *point, start, d point) {
	if !start.ok || !d.ok {
		return
	}
	if !p.ok {
		*p = point{start.t + d.t, true}
		return
	}
	if off := p.t - start.t - d.t; max(off, -off) > d.t/100+2e6 {
		r.note(disagree)
	}
}

// checkPace notes a latency that is too short or too long for its tokens. A column may
// change its unit between records.
func (r *reader) checkPace(row *assemble.Row, whole point) {
	n, ok := row.Int(trace.OutputTokens)
	if ok && whole.ok && n >= 4 && n < 1e9 && (float64(whole.t) < minToken*1e9*float64(n) || float64(whole.t) > maxToken*1e9*float64(n)) {
		r.note(oddPace)
	}
}

// perToken sets the last token from the mean time per output token where no stamp tells
// the end. That mean is the time between the first and the last token over the number of
// tokens less one.
func (r *reader) perToken(row *assemble.Row, start, first point, last *point, end point) {
	if r.by[tpot] == nil || last.ok || end.ok || !first.ok {
		return
	}
	n, ok := row.Int(trace.OutputTokens)
	if !ok || n < 2 || n > 1e7 {
		return
	}
	if d, ok := r.span(tpot); ok && d < day/n {
		*last = point{first.t + d*(n-1), true}
	}
}

// checkOrder drops stamps that lie before the arrival or behind the end.
func (r *reader) checkOrder(start point, first, last, end *point) {
	for _, p := range [...]*point{first, last, end} {
		if start.ok && p.ok && p.t < start.t {
			r.note(beforeStart)
			p.ok = false
		}
	}
	for _, p := range [...]*point{last, end} {
		if first.ok && p.ok && first.t > p.t {
			r.note(contradiction)
			first.ok, p.ok = false, false
		}
	}
}

// setResolution sets the step of the stamps where latencies are differences of stamps.
func (r *reader) setResolution(row *assemble.Row) {
	step := int64(1)
	n := 0
	for _, role := range [...]role{arrival, sent, firstToken, lastToken, finished} {
		e := r.by[role]
		if e == nil {
			continue
		}
		n++
		own := int64(1e9)
		digits := e.digits
		if e.unit != written {
			digits += 9 - e.unit.scale()
		}
		for range min(digits, 9) {
			own /= 10
		}
		step = max(step, own)
	}
	if n > 1 && step > 1 {
		row.SetInt(trace.Resolution, step)
	}
}
