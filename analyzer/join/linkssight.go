package join

import "servescope/analyzer/trace"

// stamp is a point on a clock in ns, or unknown.
type stamp struct {
	t     int64
	known bool
}

func stampAt(c trace.Ints, i int) stamp {
	t, ok := c.At(i)
	return stamp{t, ok}
}

// or returns the first of s and o that is known.
func (s stamp) or(o stamp) stamp {
	if s.known {
		return s
	}
	return o
}

// sight is what one side saw of a request: the events that messages order.
type sight struct {
	side        trace.Side
	clock       trace.Clock
	start       stamp // the request left the client, or came in
	admitted    stamp // taken up by the scheduler
	prefilled   stamp // its prompt was computed
	first, last stamp // tokens
	resolution  int64
}

// sight returns what the side of row r saw.
func (l *Links) sight(r int32) sight {
	v, i := l.at(r)
	c := &v.columns
	s := sight{
		side: l.Side(r), clock: v.Part.Batch.Run.Clock,
		admitted: stampAt(c.start[3], i), prefilled: stampAt(c.prefilled, i).or(stampAt(c.first, i)),
		first: stampAt(c.first, i), last: stampAt(c.last, i),
	}
	s.start = stampAt(c.start[1], i).or(stampAt(c.start[2], i)).or(s.admitted)
	if s.side == trace.Client {
		s.start = stampAt(c.start[0], i)
		s.last = s.last.or(stampAt(c.finished, i)) // no token comes after the end
	}
	if code, ok := c.clock.At(i); ok {
		if clock, ok := trace.ParseClock(c.clock.Values[code]); ok {
			s.clock = clock
		}
	}
	if step, ok := c.resolution.At(i); ok {
		s.resolution = step
	}
	return s
}
