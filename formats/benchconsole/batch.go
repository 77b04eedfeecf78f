package benchconsole

import (
	"bytes"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/numx"
)

// SGLang's bench_one_batch (bench_latency) prints how long its steps took, each
// measured with the device synchronised:
//
//	Prefill. latency: 0.28894 s, throughput:  28351.92 token/s
//	Decode 0. Batch size: 16, latency: 0.01533 s, throughput:   1043.71 token/s    v0.4.4 to come
//	Decode.  latency: 0.01952 s, throughput:     51.23 token/s                     before
//	Decode.  median latency: 0.01511 s, median throughput:   1058.90 token/s
//	Total. latency:  0.667 s, throughput:   3452.79 token/s
//
// Of the decode steps it prints the first five, and every further one of
// --log-decode-step. Each Prefill line begins a run; those behind "Warmup ..." are
// the warm-up.

// pass is one of these lines.
type pass struct {
	kind           string // Prefill, Decode, Total
	stat           string // median or avg, of all decode steps; or ""
	index, batch   int64  // -1: not written
	ns             int64
	latency, speed float64
}

// parsePass reads a line of bench_one_batch.
func parsePass(line []byte) (p pass, ok bool) {
	p.index, p.batch = -1, -1
	rest := line
	for _, kind := range [...]string{"Prefill", "Decode", "Total"} {
		if after, found := bytes.CutPrefix(line, []byte(kind)); found {
			p.kind, rest = kind, after
		}
	}
	if p.kind == "Decode" && len(rest) > 1 && rest[0] == ' ' {
		n := 0
		if p.index, n, ok = numx.ParseInt(rest[1:]); !ok {
			return p, false
		}
		rest = rest[1+n:]
	}
	rest, ok = bytes.CutPrefix(rest, []byte("."))
	if p.kind == "" || !ok {
		return p, false
	}
	for part := range bytes.SplitSeq(rest, []byte(",")) {
		name, value, _ := bytes.Cut(bytes.TrimSpace(part), []byte(":"))
		value = bytes.TrimSpace(value)
		if stat, after, found := bytes.Cut(name, []byte(" ")); found && (string(stat) == "median" || string(stat) == "avg") {
			p.stat, name = string(stat), after
		}
		number, measure, _ := bytes.Cut(value, []byte(" "))
		switch string(name) {
		case "Batch size":
			p.batch, _, ok = numx.ParseInt(number)
		case "latency":
			p.ns, _, ok = numx.Seconds(number)
			ok = ok && string(measure) == "s" && p.ns > 0
			p.latency = float64(p.ns)
		case "throughput":
			p.speed, _, ok = numx.ParseFloat(number)
			ok = ok && string(measure) == "token/s"
		default:
			ok = false
		}
		if !ok {
			return p, false
		}
	}
	return p, p.ns > 0
}

// pass takes a line of bench_one_batch. It reports false for another line, and for
// one of a run whose first line is missing.
func (r *reader) pass(line []byte, at int64) bool {
	switch string(line) {
	case "Warmup ...":
		r.warm = true
	case "Benchmark ...":
		r.warm = false
	}
	p, ok := parsePass(line)
	switch {
	case !ok || p.kind != "Prefill" && r.one == nil:
		return false
	case p.kind == "Prefill" && len(r.List) >= maxRuns:
		r.one = nil
		r.tooMany(at)
		return true
	}
	if p.kind == "Prefill" {
		if r.steps.Rows() > 0 {
			r.Current = r.steps.Take(r.one, r.src.Name())
		}
		r.one = r.newRun(at)
		r.one.Engine = "sglang"
		r.one.NoRequests = "it is one batch of fixed size without a server"
		r.one.Notes = []string{"some_steps: of the decode steps the first five are printed, and those that were asked for"}
		if r.warm {
			r.one.Notes = append(r.one.Notes, "warm_up: the steps are those of the warm-up")
		}
	}
	if p.kind == "Total" || p.stat != "" {
		stat := map[string]string{"median": "0.5", "avg": "mean", "": "value"}[p.stat]
		r.one.Reported = append(r.one.Reported, trace.Reported{Key: p.kind + " latency", Stat: stat, Value: p.latency, Unit: unit.Nanosecond},
			trace.Reported{Key: p.kind + " throughput", Stat: stat, Value: p.speed, Unit: unit.TokenRate})
	} else {
		r.step(&p, at)
	}
	r.count(&r.Counts.Parsed, "step")
	return true
}

// step adds the row of one step.
func (r *reader) step(p *pass, at int64) {
	b := r.steps
	kind, rate := trace.StepDecode, trace.StepGenerationTPS
	if p.kind == "Prefill" {
		kind, rate = trace.StepPrefill, trace.StepPromptTPS
	}
	b.Code(trace.StepKindCol, int32(kind))
	b.Int(trace.StepDuration, p.ns)
	b.Code(trace.StepQuantity, int32(trace.Elapsed))
	b.Float(rate, p.speed)
	if p.index >= 0 {
		b.Int(trace.StepIndex, p.index)
	}
	if p.batch >= 0 {
		b.Int(trace.StepRunning, p.batch)
	}
	b.Int(trace.StepOffset, at)
	b.EndRow()
}
