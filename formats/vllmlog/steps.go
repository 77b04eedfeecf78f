package vllmlog

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/linelog"
)

// load is what the periodic lines have shown so far.
type load struct {
	engines  map[int64]bool // that have printed a line
	hits     []hits
	last     window
	count    int64 // KV transfers
	transfer int64 // ns of them all, as far as lines give their mean
	timed    int64 // of how many

	preemptions int64 // V0's cumulative count
}

// window is the stats line before, for the lines that accompany it.
type window struct {
	t      int64
	timed  bool
	pid    int64
	engine int64
	known  bool
}

// hits is the prefix cache hit rate that an engine printed last.
type hits struct {
	engine int64
	known  bool // whether the engine is
	rate   float64
	key    string
}

// begin sets what all rows have.
func (f *fold) begin(r *linelog.Record, engine int64, known bool) *trace.Builder {
	b := f.steps
	if known {
		f.load.engines[engine] = true
		f.text = strconv.AppendInt(f.text[:0], engine, 10)
		b.Dict(trace.StepReplica, f.text)
		b.Int(trace.StepDP, engine)
	}
	if r.Timed {
		b.Int(trace.StepT, r.T)
		if r.Resolution > 1 {
			b.Int(trace.StepResolution, r.Resolution)
		}
	}
	b.Int(trace.StepOffset, r.Offset)
	return b
}

// engineOf returns the engine of a record: stated in it, or in the name of its
// process ("EngineCore_DP1", "EngineCore_0").
func engineOf(r *linelog.Record) (int64, bool) {
	if n, ok := r.Int(engine); ok {
		return n, true
	}
	name := r.Process.Name
	if !bytes.HasPrefix(name, []byte("EngineCore_")) {
		return 0, false
	}
	if n, ok := linelog.Rank(name, "DP"); ok {
		return n, true
	}
	n, err := strconv.ParseInt(string(name[len("EngineCore_"):]), 10, 32)
	return n, err == nil
}

// stats takes a line of throughputs, running and waiting requests. The window it
// is about is ten seconds or more, and its length is not printed.
func (f *fold) stats(r *linelog.Record) {
	n, known := engineOf(r)
	b := f.begin(r, n, known)
	b.Code(trace.StepKindCol, int32(trace.StepWindow))
	copyInt(b, r, trace.StepRunning, running)
	copyInt(b, r, trace.StepWaiting, waiting)
	copyInt(b, r, trace.StepPreemptions, preemptions)
	copyFloat(b, r, trace.StepPromptTPS, promptTPS)
	copyFloat(b, r, trace.StepGenerationTPS, generationTPS)
	copyFloat(b, r, trace.StepKVUsage, kvUsage)
	if _, all := r.Int(engines); all {
		b.Dict(trace.StepReplica, []byte("all"))
	}
	b.EndRow()
	f.load.last = window{r.T, r.Timed, r.Process.PID, n, known}
	if rate, ok := r.Float(hitRate); ok {
		f.load.hit(hits{n, known, rate, "hit_rate_last_1000_requests"})
	}
}

// prefixCache takes V0's line of cumulative hit rates.
func (f *fold) prefixCache(r *linelog.Record) {
	rate, _ := r.Float(hitRate)
	f.load.hit(hits{rate: rate, key: "hit_rate_since_start"})
}

func (l *load) hit(h hits) {
	i := slices.IndexFunc(l.hits, func(o hits) bool { return o.engine == h.engine && o.known == h.known && o.key == h.key })
	if i >= 0 {
		l.hits[i] = h
	} else if len(l.hits) < 1024 {
		l.hits = append(l.hits, h)
	}
}

// speculation takes a line about draft tokens. It does not name its engine, but
// follows that engine's stats line of the same process and stamp.
func (f *fold) speculation(r *linelog.Record) {
	w := &f.load.last
	n, known := engineOf(r)
	if !known && w.known && w.timed && r.Timed && w.t == r.T && w.pid == r.Process.PID {
		n, known = w.engine, true
	}
	b := f.begin(r, n, known)
	b.Code(trace.StepKindCol, int32(trace.StepWindow))
	copyInt(b, r, trace.StepAccepted, accepted)
	copyInt(b, r, trace.StepDrafted, drafted)
	copyFloat(b, r, trace.StepAcceptLength, acceptLength)
	b.EndRow()
}

// iteration takes the line of one engine step.
func (f *fold) iteration(r *linelog.Record) {
	n, known := engineOf(r)
	b := f.begin(r, n, known)
	copyInt(b, r, trace.StepIndex, step)
	copyInt(b, r, trace.StepDuration, elapsed)
	b.Code(trace.StepQuantity, int32(trace.Elapsed))
	copyInt(b, r, trace.StepContext, contextRequests)
	copyInt(b, r, trace.StepPrefillTokens, contextTokens)
	copyInt(b, r, trace.StepRunning, generationRequests)
	copyInt(b, r, trace.StepDecodeTokens, generationTokens)
	copyFloat(b, r, trace.StepKVUsage, kvUsage)
	b.Code(trace.StepKindCol, int32(stepKind(r)))
	b.EndRow()
}

// stepKind tells what a step did. More tokens than sequences in it means that
// draft tokens were verified.
func stepKind(r *linelog.Record) trace.StepKind {
	context, _ := r.Int(contextRequests)
	generation, _ := r.Int(generationRequests)
	tokens, _ := r.Int(generationTokens)
	isDummy, _ := r.Int(dummy)
	switch {
	case isDummy != 0 || context == 0 && generation == 0:
		return trace.StepDummy
	case context > 0 && generation > 0:
		return trace.StepMixed
	case context > 0:
		return trace.StepPrefill
	case tokens > generation:
		return trace.StepVerify
	}
	return trace.StepDecode
}

// transfer adds up KV transfers.
func (f *fold) transfer(r *linelog.Record) {
	n, _ := r.Int(transfers)
	f.load.count += n
	if mean, ok := r.Int(transferTime); ok && n > 0 && n < 1e6 && mean < 1e12 {
		f.load.transfer += n * mean
		f.load.timed += n
	}
}

func copyInt(b *trace.Builder, r *linelog.Record, c trace.Col, slot int) {
	if v, ok := r.Int(slot); ok {
		b.Int(c, v)
	}
}

func copyFloat(b *trace.Builder, r *linelog.Record, c trace.Col, slot int) {
	if v, ok := r.Float(slot); ok {
		b.Float(c, v)
	}
}

// finish reports what no row holds.
func (l *load) finish(f *fold) {
	for _, h := range l.hits {
		key := h.key
		if h.known && len(l.hits) > 1 {
			key = fmt.Sprintf("%s engine %d", key, h.engine)
		}
		f.run.Reported = append(f.run.Reported, trace.Reported{Key: key, Stat: "value", Value: h.rate, Unit: unit.Ratio})
	}
	if l.preemptions > 0 {
		f.run.Reported = append(f.run.Reported, trace.Reported{Key: "total_num_cumulative_preemption", Stat: "max", Value: float64(l.preemptions), Unit: unit.None})
	}
	if l.count > 0 {
		f.run.Reported = append(f.run.Reported, trace.Reported{Key: "kv_transfers", Stat: "value", Value: float64(l.count), Unit: unit.None})
	}
	if l.timed > 0 {
		f.run.Reported = append(f.run.Reported, trace.Reported{Key: "kv_transfer_time", Stat: "mean", Value: float64(l.transfer) / float64(l.timed), Unit: unit.Nanosecond})
	}
	if n, size := int64(len(l.engines)), f.facts.dataParallel; n > 0 && n < size {
		f.run.Notes = append(f.run.Notes, fmt.Sprintf("%d of %d engines report: cluster totals not computed; per-engine values only", n, size))
		f.log.Note(missingEngines, -1)
	}
}

var missingEngines = &linelog.Problem{Code: "engines_missing", Severity: diag.Notice,
	Msg: "fewer engines print statistics than data-parallel ranks were started: totals over the lines are not totals of the server",
	Fix: "add the logs or the metrics of the other engines"}
