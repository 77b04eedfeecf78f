package torchtrace

import (
	"bytes"
	"fmt"

	"servescope/analyzer/diag"
)

// Tags of stored device events.
const (
	namedBit    = auxBit // aux is the name: communication only
	classShift  = 1      // two bits
	knownBit    = 1 << 3
	routingBit  = 1 << 4
	attnBit     = 1 << 5
	launchBit   = 1 << 6 // key is the correlation id
	deviceShift = 7      // the device's process
)

// Tags of stored host ranges: bit 1 is set in the scheduler, the thread is above.
const schedulerBit = 2

// collector takes the events of a trace and keeps what the analysis needs.
type collector struct {
	b      []byte // the window's bytes during a call of event
	tracks *tracks
	names  *nameTable
	device store // device events, by start
	calls  store // launches, by label and correlation id
	ranges store // recognised ranges of host threads, by start
	steps  []step
	graphs []step    // graph launches, in case there are no steps
	scopes []section // where sampling is launched
	labels labelSet  // what was seen of each label
	form   form      // of the step names; sglangStep if any has it
	marked bool      // SGLang's scheduler marks its ranges

	counts   counts
	repaired int64
	firstBad int64 // offset of the first repaired event
	noTime   int64 // used events without a time, with the offset of the first
	firstNo  int64
	dropped  int64 // steps, launches or scopes beyond maxSteps
	err      error
}

// section is a part of a thread's time.
type section struct {
	thread     uint32
	start, end int64
}

// labelSet says what was seen of the processes with each label.
type labelSet struct{ scheduler []bool }

func (l *labelSet) sawScheduler(label uint32) {
	for len(l.scheduler) <= int(label) {
		l.scheduler = append(l.scheduler, false)
	}
	l.scheduler[label] = true
}

func (l *labelSet) hasScheduler(label uint32) bool {
	return int(label) < len(l.scheduler) && l.scheduler[label]
}

func newCollector(v *vault, limit int) *collector {
	s := store{vault: v, limit: limit}
	c := &collector{tracks: newTracks(), names: newNameTable(), device: s, calls: s, ranges: s}
	c.calls.byKey = true
	return c
}

func (c *collector) text(s span) []byte { return c.b[s.from:s.to] }

// event takes one event. Its verdict is counted under the event's category.
func (c *collector) event(e *event, offset int64) {
	v := noise
	switch e.ph {
	case 'X':
		v = c.complete(e, offset)
	case 'M':
		v = c.metadata(e)
	}
	if v == diagnosed {
		if c.noTime++; c.noTime == 1 {
			c.firstNo = offset
		}
	}
	c.counts.add(e.ph, c.text(e.cat), v)
	if e.repaired {
		if c.repaired++; c.repaired == 1 {
			c.firstBad = offset
		}
	}
}

// complete takes an event with a duration.
func (c *collector) complete(e *event, offset int64) verdict {
	switch string(c.text(e.cat)) {
	case "kernel", "Kernel":
		return c.deviceEvent(e, kernelName)
	case "gpu_memcpy", "Memcpy", "gpu_memset", "Memset":
		return c.deviceEvent(e, copyName)
	case "cuda_runtime", "cuda_driver", "hip_runtime", "xpu_runtime", "Runtime":
		return c.call(e, offset)
	case "user_annotation":
		return c.annotation(e, offset)
	case "python_function":
		id := c.names.find(frameName, c.text(e.name))
		if s := c.names.names[id].scope; s != noScope {
			return c.hostRange(e, s)
		}
	}
	return noise
}

func timed(e *event) bool {
	return e.hasTS && e.hasDur && e.dur >= 0 && e.ts <= maxTime && e.ts >= -maxTime && e.dur <= maxTime
}

// maxTime keeps sums of times within an int64: 2^61 ns are 73 years, and wall
// times of the present are below it.
const maxTime = 1 << 61

// deviceEvent keeps a kernel, copy or memset.
func (c *collector) deviceEvent(e *event, k kind) verdict {
	if !timed(e) {
		return diagnosed
	}
	p := c.tracks.process(c.text(e.pid))
	c.tracks.processes[p].device = true
	if k == kernelName {
		c.tracks.processes[p].kernels = true
	}
	id := c.names.find(k, c.text(e.name))
	n := &c.names.names[id]
	n.count++
	n.total += e.dur
	it := item{at: e.ts, dur: e.dur, tag: uint32(n.class)<<classShift | p<<deviceShift}
	if n.known {
		it.tag |= knownBit
	}
	if n.routing {
		it.tag |= routingBit
	}
	if n.attn {
		it.tag |= attnBit
	}
	if n.class == communication {
		it.tag |= namedBit
		it.aux = uint32(id)
	}
	if e.hasCorr {
		it.tag |= launchBit
		it.key = launchKey(c.tracks.processes[p].label, e.corr)
	}
	c.keep(&c.device, it)
	return parsed
}

// launchKey joins a correlation id with the label within which it is unique.
func launchKey(label uint32, corr uint64) uint64 { return uint64(label)<<48 ^ corr }

// call keeps a call of the runtime: as what launched device work, and as a
// range of its thread.
func (c *collector) call(e *event, offset int64) verdict {
	if !timed(e) {
		return diagnosed
	}
	p := c.tracks.process(c.text(e.pid))
	thread := c.tracks.thread(p, c.text(e.tid))
	id := c.names.find(runtimeName, c.text(e.name))
	tag := thread << threadShift
	if c.names.names[id].graph {
		tag |= graphBit
		if len(c.graphs) < maxSteps {
			c.graphs = append(c.graphs, step{start: e.ts, end: e.ts + e.dur, offset: offset, process: p,
				what: what{kind: unknownKind, decoding: -1, context: -1, prefill: -1, decode: -1}})
		}
	}
	if e.hasCorr {
		c.keep(&c.calls, item{at: e.ts, key: launchKey(c.tracks.processes[p].label, e.corr), tag: tag})
	}
	c.keep(&c.ranges, item{at: e.ts, dur: e.dur, tag: thread << threadShift})
	return parsed
}

// annotation keeps a range that an engine marked: a step, or a recognised scope.
func (c *collector) annotation(e *event, offset int64) verdict {
	name := c.text(e.name)
	w, isStep := parseStep(name)
	s := execution
	if !isStep {
		if s = annotationScope(name); s == noScope {
			return noise
		}
		c.marked = c.marked || bytes.HasPrefix(name, []byte("scheduler."))
	}
	if isStep && timed(e) {
		c.form = max(c.form, w.form)
		if len(c.steps) < maxSteps {
			c.steps = append(c.steps, step{start: e.ts, end: e.ts + e.dur, offset: offset,
				process: c.tracks.process(c.text(e.pid)), what: w})
		} else {
			c.dropped++
		}
	}
	return c.hostRange(e, s)
}

// hostRange keeps a range of a host thread.
func (c *collector) hostRange(e *event, s scope) verdict {
	if !timed(e) {
		return diagnosed
	}
	p := c.tracks.process(c.text(e.pid))
	thread := c.tracks.thread(p, c.text(e.tid))
	tag := thread << threadShift
	switch s {
	case scheduling:
		tag |= schedulerBit
		c.labels.sawScheduler(c.tracks.processes[p].label)
	case sampling:
		if len(c.scopes) < maxSteps {
			c.scopes = append(c.scopes, section{thread, e.ts, e.ts + e.dur})
		} else {
			c.dropped++
		}
	}
	c.keep(&c.ranges, item{at: e.ts, dur: e.dur, tag: tag})
	return parsed
}

// metadata takes the name of a process.
func (c *collector) metadata(e *event) verdict {
	if string(c.text(e.name)) != "process_name" {
		return noise
	}
	p := &c.tracks.processes[c.tracks.process(c.text(e.pid))]
	p.name = shown(c.text(e.argName))
	return parsed
}

func (c *collector) keep(s *store, it item) {
	if err := s.add(it); err != nil && c.err == nil {
		c.err = err
	}
}

// diags notes what went wrong with single events.
func (c *collector) diags(report func(code string, sev diag.Severity, offset, count int64, msg, fix string)) {
	if c.repaired > 0 {
		report("bad_text", diag.Notice, c.firstBad, c.repaired,
			"names hold control characters or invalid UTF-8, which are replaced", "")
	}
	if c.noTime > 0 {
		report("event_without_time", diag.DataLoss, c.firstNo, c.noTime, "events have no usable ts and dur, and are not used", "")
	}
	if c.dropped > 0 {
		report("too_many_steps", diag.DataLoss, -1, c.dropped, fmt.Sprintf("only the first %d step ranges are used", maxSteps),
			"record a shorter part of the run")
	}
	if c.tracks.overflow {
		report("too_many_threads", diag.Notice, -1, 1, "there are too many processes or threads to tell apart", "")
	}
}
