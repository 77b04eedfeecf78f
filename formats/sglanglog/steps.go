package sglanglog

import (
	"bytes"
	"fmt"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
	"servescope/formats/internal/pyrepr"
)

// load is what scheduler lines have shown so far.
type load struct {
	ranks []*rank
}

// rank is one scheduler.
type rank struct {
	dp, pp   int64
	t        int64 // of its last line
	timed    bool
	decoded  bool // a decode line came
	prefills int  // prefill lines since the last decode line
	drained  bool // one of them found no running requests
	last     line
}

// line is the last line of a scheduler, which others of its ranks may repeat.
type line struct {
	ranks  []byte
	values []value
	t      int64
	kind   *linelog.Kind
}

// value is a number of a line.
type value struct {
	slot int
	n    int64
	num  float64
}

// maxRanks bounds how many schedulers are kept apart.
const maxRanks = 1 << 16

// rank returns the scheduler with the given ranks.
func (l *load) rank(at place) *rank {
	dp, pp := at[0], at[2]
	for i := range l.ranks {
		if l.ranks[i].dp == dp && l.ranks[i].pp == pp {
			return l.ranks[i]
		}
	}
	if len(l.ranks) == maxRanks {
		return l.ranks[0]
	}
	k := &rank{dp: dp, pp: pp}
	l.ranks = append(l.ranks, k)
	return k
}

// place is the ranks DP, TP, PP and EP of a line, -1 where one is not written:
// since v0.4.7 the ones of a size of one are left out.
type place [4]int64

// placeOf reads " DP1 PP0 ATTN_CP0 MOE_DP0 TP0 EP0"; the ranks in a part of the
// model, as MOE_DP, are others.
func placeOf(ranks []byte) place {
	at := place{-1, -1, -1, -1}
	for i := 0; i+3 < len(ranks); i++ {
		if ranks[i] != ' ' || ranks[i+2] != 'P' || ranks[i+3]-'0' > 9 {
			continue
		}
		n := int64(0)
		j := i + 3
		for ; j < len(ranks) && ranks[j]-'0' <= 9 && n < 1<<30; j++ {
			n = n*10 + int64(ranks[j]-'0')
		}
		switch ranks[i+1] {
		case 'D':
			at[0] = n
		case 'T':
			at[1] = n
		case 'P':
			at[2] = n
		case 'E':
			at[3] = n
		}
		i = j - 1
	}
	return at
}

// missingRanks tells when the log is of a part of the deployment: each node logs
// the ranks it runs.
func (f *fold) missingRanks() {
	seen := make(map[int64]bool)
	for _, k := range f.load.ranks {
		if k.dp >= 0 {
			seen[k.dp] = true
		}
	}
	if n, size := int64(len(seen)), f.facts.data; n > 0 && n < size {
		f.run.Notes = append(f.run.Notes, fmt.Sprintf("%d of %d data-parallel ranks report: cluster totals not computed; per-rank values only", n, size))
		f.log.Note(ranksMissing, -1)
	}
}

var ranksMissing = &linelog.Problem{Code: "engines_missing", Severity: diag.Notice,
	Msg: "fewer data-parallel ranks print statistics than were started: totals over the lines are not totals of the server",
	Fix: "add the logs of the other nodes"}

// repeated reports whether r is the line before once more, of another rank that
// works on the same batch: attention context parallel ranks all log it, and with
// --enable-metrics-for-all-schedulers so do tensor parallel ones.
func (p *line) repeated(r *linelog.Record) bool {
	same := p.kind == r.Kind && p.t == r.T && len(p.values) == len(r.Values) && !bytes.Equal(p.ranks, r.Ranks)
	for i := 0; same && i < len(r.Values); i++ {
		a, b := &p.values[i], &r.Values[i]
		same = a.slot == b.Slot && a.n == b.Int && a.num == b.Num
	}
	if same {
		return true
	}
	p.kind, p.t = r.Kind, r.T
	p.ranks = append(p.ranks[:0], r.Ranks...)
	p.values = p.values[:0]
	for i := range r.Values {
		v := &r.Values[i]
		p.values = append(p.values, value{v.Slot, v.Int, v.Num})
	}
	return false
}

var repeatedLine = &linelog.Problem{Code: "repeated_rank_line", Severity: diag.Info,
	Msg: "several ranks log the same batch: it counts once, for the first of them"}

// pause is the time between two lines of a scheduler from which it counts as idle:
// a chunk of a prompt takes a few seconds at most, 40 decode steps as well.
const pause = 10e9

// begin begins a row, unless it is a repeated one.
func (f *fold) begin(r *linelog.Record) (b *trace.Builder, k *rank, idle bool) {
	at := placeOf(r.Ranks)
	b, k = f.steps, f.load.rank(at)
	if k.last.repeated(r) {
		f.log.Note(repeatedLine, r.Offset)
		return nil, nil, false
	}
	f.place(r, at)
	if r.Timed {
		idle = !k.timed || r.T-k.t >= pause
		k.t, k.timed = r.T, true
	}
	return b, k, idle
}

// placeColumns are the columns of a place.
var placeColumns = [...]trace.Col{trace.StepDP, trace.StepTP, trace.StepPP, trace.StepEP}

// place sets when and where a step was.
func (f *fold) place(r *linelog.Record, at place) {
	b := f.steps
	for i, n := range at {
		if n >= 0 {
			b.Int(placeColumns[i], n)
		}
	}
	if at[0] >= 0 {
		b.Dict(trace.StepReplica, strconv.AppendInt(f.digits[:0], at[0], 10))
	}
	if r.Timed {
		b.Int(trace.StepT, r.T)
		if r.Resolution > 1 {
			b.Int(trace.StepResolution, r.Resolution)
		}
	}
	b.Int(trace.StepOffset, r.Offset)
}

// prefill takes the line of one forward pass of prompts. The throughput on it is
// of the batch before until v0.5.10: its tokens over the time between the two
// lines. Since v0.5.11, which brought #pending-token, it is this batch's tokens
// over that time. Neither is the rate of a batch, since decode steps and pauses are
// in the time.
func (f *fold) prefill(r *linelog.Record) {
	b, k, idle := f.begin(r)
	if b == nil {
		return
	}
	kind := trace.StepPrefill
	if bytes.HasPrefix(r.Message, []byte("Prefill batch(mixed")) {
		kind = trace.StepMixed
	}
	b.Code(trace.StepKindCol, int32(kind))
	b.Bool(trace.StepAfterIdle, idle)
	copyInt(b, r, trace.StepIndex, index)
	copyInt(b, r, trace.StepContext, newSequences)
	copyInt(b, r, trace.StepPrefillTokens, newTokens)
	copyInt(b, r, trace.StepCachedTokens, cached)
	f.common(b, r)
	if tps, ok := r.Float(inputTPS); ok {
		if _, ok := r.Int(pending); ok {
			f.facts.since("v0.5.11")
			b.Float(trace.StepPromptTPS, tps)
		} else {
			b.Float(trace.StepInputTPSBefore, tps)
		}
	}
	b.EndRow()
	n, ok := r.Int(running)
	k.prefills++
	k.drained = k.drained || idle || ok && n == 0
}

// common sets what both kinds of lines have.
func (f *fold) common(b *trace.Builder, r *linelog.Record) {
	copyInt(b, r, trace.StepRunning, running)
	copyInt(b, r, trace.StepWaiting, waiting)
	if v, ok := r.Float(usage); ok {
		b.Float(trace.StepKVUsage, v)
	}
	if on, ok := r.Int(graph); ok {
		b.Bool(trace.StepGraph, on != 0)
	}
}

// decode takes the line of the decode steps since the one before. Their mean is
// running × accept length / throughput where nothing else ran in the window: no
// prefill of this scheduler, and no pause. Running requests are those of the last
// step, so it is an estimate.
func (f *fold) decode(r *linelog.Record) {
	b, k, idle := f.begin(r)
	if b == nil {
		return
	}
	idle = idle || !k.decoded || k.drained
	b.Code(trace.StepKindCol, int32(trace.StepWindow))
	b.Bool(trace.StepAfterIdle, idle)
	f.common(b, r)
	tps, ok := r.Float(generationTPS)
	if ok {
		b.Float(trace.StepGenerationTPS, tps)
	}
	accept := 1.0
	if a, ok := r.Float(acceptLength); ok {
		accept = a
		b.Float(trace.StepAcceptLength, a)
	}
	if f.facts.interval > 0 {
		b.Int(trace.StepCount, f.facts.interval)
	}
	if n, _ := r.Int(running); ok && tps > 0 && n > 0 && accept >= 1 && !idle && k.prefills == 0 {
		if mean := float64(float64(n)*accept) / tps; mean < pause/1e9 {
			b.Int(trace.StepDuration, int64(float64(mean*1e9)))
			b.Code(trace.StepQuantity, int32(trace.Mean))
		}
	}
	b.EndRow()
	k.decoded, k.prefills, k.drained = true, 0, false
}

// retraction takes the line of requests that lost their place in the KV cache.
func (f *fold) retraction(r *linelog.Record) {
	f.place(r, placeOf(r.Ranks))
	f.steps.Code(trace.StepKindCol, int32(trace.StepWindow))
	copyInt(f.steps, r, trace.StepPreemptions, retracted)
	f.steps.EndRow()
}

// schedulerStatus takes the record of which requests run and wait.
func (f *fold) schedulerStatus(r *linelog.Record) *linelog.Problem {
	lists := [2]int64{-1, -1}
	whole := pyrepr.Walk(r.Object, func(path, value []byte, kind pyrepr.Kind) {
		for i, name := range [...]string{"running_rids", "queued_rids"} {
			if kind == pyrepr.List && string(path) == name {
				lists[i] = 0
				pyrepr.Texts(value, func([]byte) { lists[i]++ })
			}
		}
	})
	if !whole || lists[0] < 0 {
		return torn
	}
	f.place(r, placeOf(r.Ranks))
	f.steps.Code(trace.StepKindCol, int32(trace.StepWindow))
	f.steps.Int(trace.StepRunning, lists[0])
	if lists[1] >= 0 {
		f.steps.Int(trace.StepWaiting, lists[1])
	}
	f.steps.EndRow()
	return nil
}

func copyInt(b *trace.Builder, r *linelog.Record, c trace.Col, slot int) {
	if v, ok := r.Int(slot); ok {
		b.Int(c, v)
	}
}
