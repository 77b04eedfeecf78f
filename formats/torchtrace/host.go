package torchtrace

// hosts follows what the threads of one label do, in the order of time: for
// the class of an instant at which the device is idle only the innermost range
// of the launching thread counts.
type hosts struct {
	c       *collector
	label   uint32
	in      *merge
	next    *item // the next range of the label
	threads [][]opened
	cpu     union // of the scheduler's ranges
}

// opened is a range that has begun.
type opened struct {
	end       int64
	scheduler bool
}

// maxOpen is how many ranges of one thread are held open. Real stacks have a
// hundred frames, of which few are recognised.
const maxOpen = 1024

func newHosts(c *collector, label uint32) *hosts {
	h := &hosts{c: c, label: label, in: newMerge(&c.ranges), threads: make([][]opened, len(c.tracks.owner)),
		cpu: union{from: none, to: none}}
	h.advance()
	return h
}

// advance reads the next range of the label.
func (h *hosts) advance() {
	for {
		h.next = h.in.pop()
		if h.next == nil || h.c.tracks.processes[h.c.tracks.owner[h.next.tag>>threadShift]].label == h.label {
			return
		}
	}
}

// take opens the next range.
func (h *hosts) take() {
	it := h.next
	thread, scheduler := it.tag>>threadShift, it.tag&schedulerBit != 0
	if scheduler {
		h.cpu.add(it.at, it.at+it.dur)
	}
	stack := closed(h.threads[thread], it.at)
	if len(stack) < maxOpen {
		stack = append(stack, opened{it.at + it.dur, scheduler})
	}
	h.threads[thread] = stack
	h.advance()
}

// closed drops the ranges at the top of a stack that have ended by the time at.
// When the stack is full it drops those further down as well.
func closed(stack []opened, at int64) []opened {
	for len(stack) > 0 && stack[len(stack)-1].end <= at {
		stack = stack[:len(stack)-1]
	}
	if len(stack) < maxOpen {
		return stack
	}
	kept := stack[:0]
	for _, o := range stack {
		if o.end > at {
			kept = append(kept, o)
		}
	}
	return kept
}

// share is the time of a part of the time line by what a thread did in it, ns.
type share struct{ scheduling, exec, gap int64 }

// split divides [from, to) by the innermost recognised range of the thread.
// Calls must come in the order of time.
func (h *hosts) split(thread uint32, from, to int64) (s share) {
	for h.next != nil && h.next.at <= from {
		h.take()
	}
	for from < to {
		until := to
		if h.next != nil && h.next.at < to {
			until = h.next.at
		}
		stack := h.threads[thread]
		for at := from; at < until; {
			stack = closed(stack, at)
			if len(stack) == 0 {
				s.gap += until - at
				break
			}
			top := stack[len(stack)-1]
			end := min(top.end, until)
			if top.scheduler {
				s.scheduling += end - at
			} else {
				s.exec += end - at
			}
			at = end
		}
		h.threads[thread] = stack
		for from = until; h.next != nil && h.next.at <= from; {
			h.take()
		}
	}
	return s
}

// schedulerUntil returns the time of the scheduler's ranges up to the time at
// that was not returned before.
func (h *hosts) schedulerUntil(at int64) int64 {
	for h.next != nil && h.next.at < at {
		h.take()
	}
	return h.cpu.until(at)
}

// union measures the union of intervals that come in the order of their start.
type union struct {
	from, to int64 // the part that is not measured yet
	sum      int64
}

func (u *union) add(from, to int64) {
	if from > u.to {
		u.sum += u.to - u.from
		u.from, u.to = from, to
		return
	}
	u.to = max(u.to, to)
}

// until returns the measure before the time at and starts again from there.
func (u *union) until(at int64) int64 {
	if end := min(u.to, at); end > u.from {
		u.sum += end - u.from
		u.from = end
	}
	sum := u.sum
	u.sum = 0
	return sum
}
