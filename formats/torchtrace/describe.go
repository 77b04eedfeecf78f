package torchtrace

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// describe fills the run's description and decides what the tables can hold,
// once all events are read and given to steps.
func (r *reader) describe() {
	m := &r.meta
	m.Engine, m.Version = r.producer()
	m.Config = r.head.config
	if r.c.tracks.merged() { // the header belongs to the first rank
		m.Config = slices.DeleteFunc(m.Config, func(p trace.Pair) bool { return p.Key == "rank" })
	}
	r.clock()
	names := r.c.names.names
	communicates := slices.ContainsFunc(names, func(n name) bool { return n.class == communication && n.count > 0 })
	ranksExpected := r.head.worldSize > 1 || r.c.tracks.merged()
	if ranksExpected && !communicates && len(r.lines) > 0 {
		r.report("comm_not_recognised", diag.Notice, -1, 1,
			"several ranks took part, but no communication kernel was recognised: communication is unknown, not 0", "")
	}
	hint := nameHint(r.src.Name())
	for _, t := range r.lines {
		p := place{ranks: r.c.tracks.layout(t.label), rank: r.head.rank, noSampling: !t.sampled,
			noScheduler: !r.c.labels.hasScheduler(t.label), noCollectives: ranksExpected && !communicates}
		if r.c.tracks.merged() {
			p.rank = -1
		} else if !p.known() && hint.known() {
			p.ranks = hint
			r.report("ranks_from_name", diag.Info, -1, 1, "the trace does not say which rank it is of; its file's name does", "")
		}
		if p.dp >= 0 {
			p.replica = "dp" + strconv.FormatInt(p.dp, 10)
		}
		r.place = append(r.place, p)
		r.judge(t)
	}
	switch {
	case len(r.lines) == 0 && r.Counts.Total > 0:
		r.report("no_device_event", diag.Notice, -1, 1, "the trace holds no work of a device: it gives no steps", "read the traces of the worker processes")
	case len(r.f.steps) == 0 && len(r.lines) > 0:
		msg := "the trace has neither step ranges nor graph launches: it gives no steps"
		if r.lost {
			msg = "the trace has no step range before it breaks off: it gives no steps"
		}
		r.report("no_step_range", diag.Notice, -1, 1, msg, "record with a version that marks its steps: vLLM v0.11.1, SGLang v0.5.11 or later")
	case r.f.inferred && len(r.f.steps) > 0:
		m.Notes = append(m.Notes, "the trace has no step ranges: each graph launch is taken for the start of a step, and kinds and batch sizes are unknown")
	}
}

// judge notes doubts about the steps of a device, or refuses the steps.
func (r *reader) judge(t *timeline) {
	if len(r.f.steps) == 0 {
		return
	}
	if proc := &r.c.tracks.processes[t.device]; !proc.kernels && r.kernels(t.label) {
		t.refused = "no kernel ran on it"
		r.report("device_without_kernel", diag.Info, -1, 1, "a further device took part in copies only: it gives no steps of its own", "")
		return
	}
	if r.f.inferred && t.piecewise() {
		t.refused = "the trace has no step ranges, and its graphs are parts of steps: attention runs outside of them"
		r.report("no_step_range", diag.Notice, -1, 1, t.refused, "record with a version that marks its steps")
		return
	}
	if len(t.bounds) == 1 {
		r.report("single_step", diag.Notice, -1, 1, "only one step was recorded: its interval begins before the trace does", "record at least two steps")
	}
	if t.empty > 0 {
		r.report("step_without_event", diag.Notice, -1, t.empty, "steps have no device event and get no row; their time is in the interval of the next", "")
	}
	if t.merged > 0 {
		r.report("step_merged", diag.Notice, -1, t.merged, "steps end on the device no later than the one before and are joined with it", "")
	}
	if t.early > 0 {
		r.report("before_first_step", diag.Info, -1, t.early, "device events were launched before the first step and belong to none", "")
	}
	if t.unlaunched > 0 {
		sev, msg := diag.Notice, "device events have no launching call and belong to no step; they count as busy time"
		if t.lostTime > t.time/100 {
			sev, msg = diag.DataLoss, msg+"; they are more than 1 % of the device's time, so the ends of steps may be wrong"
			r.meta.NoTPOT = "event_without_launch"
		}
		r.report("event_without_launch", sev, -1, t.unlaunched, msg, "")
	}
}

// kernels reports whether a device of the label ran kernels.
func (r *reader) kernels(label uint32) bool {
	return slices.ContainsFunc(r.c.tracks.processes, func(p process) bool { return p.label == label && p.kernels })
}

// producer guesses engine and version.
func (r *reader) producer() (engine, version string) {
	f := forms[r.c.form]
	engine, version = f.engine, f.version
	for i := range r.c.tracks.processes {
		switch name := strings.ToLower(r.c.tracks.processes[i].name); {
		case engine != "":
		case strings.HasPrefix(name, "vllm"):
			engine = "vllm"
		case strings.HasPrefix(name, "sglang"):
			engine = "sglang"
		}
	}
	if r.c.form == sglangStep && r.c.marked {
		version = "≥v0.5.14"
	}
	if r.head.version != "" {
		engine, version = cmp.Or(engine, "vllm"), r.head.version
	}
	return engine, version
}

// clock finds out what the trace's times are relative to. Since PyTorch 2.3 the
// base time stands beside the events; before, ts was in microseconds since the
// Unix epoch.
func (r *reader) clock() {
	earliest := int64(1<<63 - 1)
	for _, t := range r.lines {
		earliest = min(earliest, t.first)
	}
	switch {
	case r.head.hasBase:
		r.meta.Clock = trace.Clock{Kind: trace.Wall}
	case len(r.lines) > 0 && earliest > 1e18: // 2001 in ns
		r.meta.Clock = trace.Clock{Kind: trace.Wall}
		r.meta.Notes = append(r.meta.Notes, "the trace has no base time: its times are taken as Unix time, as PyTorch before 2.3 wrote them")
	default:
		r.meta.Clock = trace.Clock{Kind: trace.RunClock}
		r.meta.Notes = append(r.meta.Notes, "the trace has no base time: its times cannot be placed on the wall clock")
	}
}

// summary collects the notes about all devices together.
type summary struct{ steps, time, replayed int64 }

// device notes the facts about a device that has been swept, and after the last
// device the facts about all devices.
func (s *summary) device(r *reader, t *timeline, w *sweep) {
	r.sums(t, w)
	s.steps += int64(len(t.bounds))
	s.time += t.time
	s.replayed += t.replayed
	if r.line+1 == len(r.lines) {
		s.all(r)
	}
}

// sums notes the totals of a device.
func (r *reader) sums(t *timeline, w *sweep) {
	x, p := &w.total, &r.place[r.line]
	label := strings.TrimSpace(r.c.tracks.labels[t.label] + " " + r.c.tracks.processes[t.device].text)
	r.note("device %s: %d ns from the first event to the end of the last = compute %d ns + compute with overlapped communication %s + sampling %s + communication %s + host transfer %d ns + idle %d ns",
		label, t.last-t.first, x.compute-x.overlapped, either(!p.noCollectives, x.overlapped), either(!p.noSampling, x.sampling),
		either(!p.noCollectives, x.communication), x.hostTransfer, x.idle)
	if t.refused != "" {
		return
	}
	if n := len(t.bounds); n > 1 {
		y := &w.steps
		r.note("device %s: %d ns in %d intervals of steps = compute %d ns + compute with overlapped communication %s + sampling %s + communication %s + host transfer %d ns + launch wait %d ns + scheduling %s + host execution %d ns + host gap %d ns",
			label, t.bounds[n-1].end-t.bounds[0].end, n-1, y.compute-y.overlapped, either(!p.noCollectives, y.overlapped), either(!p.noSampling, y.sampling),
			either(!p.noCollectives, y.communication), y.hostTransfer, y.launchWait, either(!p.noScheduler || y.hostGap == 0, y.scheduling), y.hostExec, y.hostGap)
	}
	if p.noSampling && len(t.bounds) > 0 {
		r.note("device %s: sampling cannot be told from compute and is part of it", label)
	}
	if n := len(t.bounds); n > 1 && p.noScheduler && w.steps.hostGap > 0 {
		r.note("device %s: no range of a scheduler was recorded; scheduling, if any, is part of the host gap", label)
	}
}

// either returns a time, or that it is unknown.
func either(known bool, ns int64) string {
	if !known {
		return "unknown"
	}
	return strconv.FormatInt(ns, 10) + " ns"
}

func (r *reader) note(format string, args ...any) {
	r.meta.Notes = append(r.meta.Notes, fmt.Sprintf(format, args...))
}

// all notes the facts about kernels by name.
func (s *summary) all(r *reader) {
	if s.time == 0 {
		return
	}
	if s.replayed > 0 {
		r.note("graph replay: no operator information for %s of device time", percent(s.replayed, s.time))
	}
	families := make(map[string]int64)
	var unknown []name
	var lost int64
	for _, n := range r.c.names.names {
		switch {
		case n.class == communication && n.count > 0:
			families[n.family] += n.total
		case !n.known && n.count > 0:
			unknown = append(unknown, n)
			lost += n.total
		}
	}
	var list []string
	for family, total := range families {
		list = append(list, fmt.Sprintf("%s %d ns%s", family, total, perStep(total, s.steps)))
	}
	if slices.Sort(list); len(list) > 0 {
		r.note("communication, sums of durations: %s", strings.Join(list, ", "))
	}
	if len(unknown) == 0 {
		return
	}
	slices.SortFunc(unknown, func(a, b name) int { return cmp.Or(cmp.Compare(b.total, a.total), cmp.Compare(a.text, b.text)) })
	list = list[:0]
	for _, n := range unknown[:min(5, len(unknown))] {
		list = append(list, fmt.Sprintf("%s %d ns", n.text, n.total))
	}
	more := ""
	if len(unknown) > 5 {
		more = fmt.Sprintf(" and %d more", len(unknown)-5)
	}
	r.note("unclassified, counted as compute: %s of device time in kernels of names that no table holds: %s%s",
		percent(lost, s.time), strings.Join(list, ", "), more)
}

// perStep returns a time per step in brackets.
func perStep(total, steps int64) string {
	if steps == 0 {
		return ""
	}
	us := (total/steps + 500) / 1000
	return fmt.Sprintf(" (%d.%03d ms a step)", us/1000, us%1000)
}

// percent returns part of whole in percent, with one decimal.
func percent(part, whole int64) string {
	for whole > 1<<53 { // keeps the product below within an int64
		part, whole = part>>1, whole>>1
	}
	tenths := (part*1000 + whole/2) / whole
	return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
}
