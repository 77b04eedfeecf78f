package torchtrace

// parts is the time of one interval by class, in ns: the eight classes of the
// specification, which tile it, and the memos.
type parts struct {
	compute, sampling, communication, hostTransfer    int64
	launchWait, scheduling, hostExec, hostGap         int64
	overlapped, unclassified, routing, deviceGap, cpu int64
}

// busy tells which classes run on the device: it holds for each class the latest
// end of the events that have begun. Because events come in the order of their
// start, a class runs at an instant exactly if the instant lies before that end.
type busy struct {
	known, unknown, routing, sampling, communication, host int64
}

// sweep goes once through the events of one device in the order of their start
// and measures every interval of its timeline. At each instant the first class
// that runs counts: compute, sampling, communication, host transfer; else the
// device is idle, for the reason that its next event was not there yet.
type sweep struct {
	f     *folder
	t     *timeline
	in    *merge
	taken int64 // events of the device, so far
	hosts *hosts

	cur    int64 // all before is measured
	run    busy
	now    parts
	bound  int        // the interval that cur is in ends at t.bounds[bound]
	recent [8]uint64  // keys of the calls whose events began last
	ring   int        // the next place in recent
	open   []exposure // communication that is running
	index  int64      // communication kernels so far

	total totals
	steps parts // of all intervals
	// done takes the interval that ends at bound i when it is complete; the
	// first, which has no beginning, with nil. ended takes a communication kernel.
	done  func(i int, p *parts)
	ended func(x *exposure)
}

// add adds the time of another interval.
func (p *parts) add(q *parts) {
	p.compute += q.compute
	p.sampling += q.sampling
	p.communication += q.communication
	p.hostTransfer += q.hostTransfer
	p.launchWait += q.launchWait
	p.scheduling += q.scheduling
	p.hostExec += q.hostExec
	p.hostGap += q.hostGap
	p.overlapped += q.overlapped
}

// totals is the whole time line from the first start to the last end, in ns.
type totals struct {
	compute, overlapped, sampling, communication, hostTransfer, idle int64
}

// exposure is a communication kernel and the pieces of it that are exposed.
type exposure struct {
	name       uint32
	index      int64
	start, end int64
	pieces     []int64 // pairs: start after the kernel's, length
}

// maxOpenKernels is how many communication kernels are followed at a time.
const maxOpenKernels = 256

func newSweep(f *folder, t *timeline) *sweep {
	s := &sweep{f: f, t: t, in: newMerge(&f.c.device), hosts: newHosts(f.c, t.label), cur: t.first}
	for i := range s.recent {
		s.recent[i] = 1<<64 - 1
	}
	s.run = busy{t.first, t.first, t.first, t.first, t.first, t.first}
	return s
}

// next takes one event and reports whether there was one. After the last event it
// measures the remaining time.
func (s *sweep) next() bool {
	var it *item
	if s.taken < s.t.events { // else only events of other devices remain
		for it = s.in.pop(); it != nil && it.tag>>deviceShift != s.t.device; {
			it = s.in.pop()
		}
		s.taken++
	}
	if it == nil {
		s.measure(s.t.last, nil, launch{}, false)
		s.close()
		return false
	}
	l, launched := s.f.launch(it)
	s.measure(it.at, it, l, launched)
	s.begin(it, l, launched)
	return true
}

// begin marks an event as running.
func (s *sweep) begin(it *item, l launch, launched bool) {
	end := it.at + it.dur
	switch class(it.tag >> classShift & 3) {
	case communication:
		s.run.communication = max(s.run.communication, end)
		x := exposure{name: it.aux, index: s.index, start: it.at, end: end}
		s.index++
		if len(s.open) < maxOpenKernels {
			s.open = append(s.open, x)
		} else {
			s.ended(&x)
		}
	case hostTransfer:
		s.run.host = max(s.run.host, end)
	default:
		if launched {
			if k := s.f.step(l); k >= 0 && s.f.sampling(l, k) {
				s.run.sampling = max(s.run.sampling, end)
				break
			}
		}
		if it.tag&knownBit != 0 {
			s.run.known = max(s.run.known, end)
		} else {
			s.run.unknown = max(s.run.unknown, end)
		}
		if it.tag&routingBit != 0 {
			s.run.routing = max(s.run.routing, end)
		}
	}
	if it.tag&launchBit != 0 && s.recent[(s.ring+7)%8] != it.key {
		s.recent[s.ring] = it.key
		s.ring = (s.ring + 1) % 8
	}
}

// measure measures the time up to the given instant. next is the event that
// begins there.
func (s *sweep) measure(to int64, next *item, l launch, launched bool) {
	for {
		for s.bound < len(s.t.bounds) && s.t.bounds[s.bound].end == s.cur {
			s.complete()
		}
		if s.cur >= to {
			return
		}
		end := to
		if s.bound < len(s.t.bounds) {
			end = min(end, s.t.bounds[s.bound].end)
		}
		s.piece(end, next, l, launched)
	}
}

// piece measures from cur to where the class changes, at most to the given
// instant.
func (s *sweep) piece(to int64, next *item, l launch, launched bool) {
	from, r, p := s.cur, &s.run, &s.now
	switch {
	case max(r.known, r.unknown) > from:
		to = min(to, max(r.known, r.unknown))
		p.compute += to - from
		overlapped := max(0, min(r.communication, to)-from)
		p.overlapped += overlapped
		p.unclassified += max(0, to-max(from, r.known))
		p.routing += max(0, min(r.routing, to)-from)
		s.total.compute += to - from
		s.total.overlapped += overlapped
	case r.sampling > from:
		to = min(to, r.sampling)
		p.sampling += to - from
		s.total.sampling += to - from
	case r.communication > from:
		to = min(to, r.communication)
		p.communication += to - from
		s.total.communication += to - from
		for i := range s.open {
			s.open[i].expose(from, to)
		}
	case r.host > from:
		to = min(to, r.host)
		p.hostTransfer += to - from
		s.total.hostTransfer += to - from
	default:
		s.idle(to, next, l, launched)
		s.total.idle += to - from
	}
	s.cur = to
	s.end()
}

// idle measures a part of the time line in which the device does nothing: from
// the start of its next event's launch it is launch_wait, before that it
// belongs to what the launching thread does.
func (s *sweep) idle(to int64, next *item, l launch, launched bool) {
	from, p := s.cur, &s.now
	if s.bound == 0 || s.bound == len(s.t.bounds) { // in no interval
		return
	}
	if !launched {
		p.hostGap += to - from
		return
	}
	if wait := to - max(from, l.at); wait > 0 {
		p.launchWait += wait
		if l.at <= from && s.replaying(next.key) {
			p.deviceGap += wait
		}
	}
	if until := min(to, l.at); until > from {
		h := s.hosts.split(l.thread, from, until)
		p.scheduling += h.scheduling
		p.hostExec += h.exec
		p.hostGap += h.gap
	}
}

// replaying reports whether events of the same call began lately: the gap is
// inside one graph replay.
func (s *sweep) replaying(key uint64) bool {
	for _, k := range s.recent {
		if k == key {
			return true
		}
	}
	return false
}

// complete ends the interval at cur.
func (s *sweep) complete() {
	s.now.cpu = s.hosts.schedulerUntil(s.cur)
	if s.bound == 0 {
		s.done(0, nil)
	} else {
		s.done(s.bound, &s.now)
		s.steps.add(&s.now)
	}
	s.now = parts{}
	s.bound++
}

// expose notes that the kernel is exposed between the instants.
func (x *exposure) expose(from, to int64) {
	from, to = max(from, x.start), min(to, x.end)
	if from >= to {
		return
	}
	if n := len(x.pieces); n > 0 && x.start+x.pieces[n-2]+x.pieces[n-1] == from {
		x.pieces[n-1] += to - from
		return
	}
	x.pieces = append(x.pieces, from-x.start, to-from)
}

// end hands out the communication kernels that have ended.
func (s *sweep) end() {
	if len(s.open) == 0 {
		return
	}
	kept := s.open[:0]
	for i := range s.open {
		if x := &s.open[i]; x.end <= s.cur {
			s.ended(x)
		} else {
			kept = append(kept, *x)
		}
	}
	clear(s.open[len(kept):])
	s.open = kept
}

// close hands out the remaining intervals.
func (s *sweep) close() {
	for i := range s.open {
		s.ended(&s.open[i])
	}
	s.open = nil
}

// interval returns the step whose interval holds the instant, or -1.
func (t *timeline) interval(at int64) int {
	lo, hi := 0, len(t.bounds)
	for lo < hi {
		if mid := (lo + hi) / 2; t.bounds[mid].end < at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == 0 || lo == len(t.bounds) {
		return -1
	}
	return t.bounds[lo].step
}
