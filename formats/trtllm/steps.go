package trtllm

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/records"
)

// The values of a step, those of time_events_rank*.jsonl behind the others.
const (
	tokenTime = iota
	stepForward
	stepSample
	iteration
	forwardStart
	sampleEnd
	contexts
	generations
)

var stepMembers = map[string]int{
	"token_time": tokenTime, "gpu_forward_time": stepForward, "gpu_sample_time": stepSample, "iter": iteration, "iter_counter": iteration,
	"forward_start_time": forwardStart, "sample_end_time": sampleEnd, "num_ctx_requests": contexts, "num_gen_requests": generations,
}

// maxSteps bounds the steps that are kept until the end of a source.
const maxSteps = 1 << 19

// step is an iteration of the engine, put together from what the requests in it say.
type step struct {
	rank, iter, from, till, offset int64 // rank and iter: -1 where it is not known
	contexts, generations          int64 // as stated, else -1
	context, generation            bool  // a request says that it was prefilled in it, or decoded
	apart                          bool  // on another clock than the requests
}

// iterations are the steps of a source by rank and beginning: every request of a batch
// tells of the same ones.
type iterations struct {
	list []step
	at   map[[2]int64]int
}

// iterate takes the steps that a record tells of. apart says that their clock may have
// another zero than that of the requests.
func (f *fold) iterate(text []byte, rank int64, at int64, apart bool) {
	for _, list := range [...]string{"ctx_chunk_metrics", "step_metrics"} {
		records.Elements(text, list, func(element []byte, i int) {
			if !f.step.Read(element) {
				return
			}
			from, begun := stamp(f.step, forwardStart)
			till, ended := stamp(f.step, sampleEnd)
			if !begun || !ended || till < from {
				return
			}
			s := f.iterations.of(rank, from)
			if s == nil {
				f.Note(tooManySteps, at)
				return
			}
			if s.till == 0 {
				*s = step{rank: rank, iter: count(f.step, iteration), from: from, offset: at + int64(i), apart: apart}
				s.contexts, s.generations = count(f.step, contexts), count(f.step, generations)
			}
			s.till = max(s.till, till)
			s.context = s.context || list == "ctx_chunk_metrics"
			s.generation = s.generation || list == "step_metrics"
		})
	}
}

func count(v *records.Fields, slot int) int64 {
	if n, ok := v.Count(slot); ok {
		return n
	}
	return -1
}

// of returns the step that begins at a time, a new one if there is none, or nil where
// there are too many.
func (it *iterations) of(rank, from int64) *step {
	if it.at == nil {
		it.at = make(map[[2]int64]int)
	}
	k, ok := it.at[[2]int64{rank, from}]
	if !ok {
		if k = len(it.list); k == maxSteps {
			return nil
		}
		it.list = append(it.list, step{})
		it.at[[2]int64{rank, from}] = k
	}
	return &it.list[k]
}

// Steps implements records.Stepper: in order of their end. What a step did is what the
// engine counts in it; else what the requests of the log did, of which others may be
// missing.
func (f *fold) Steps(b *trace.Builder, most int) {
	list := f.iterations.list
	list = list[:min(len(list), most)]
	f.iterations.list = f.iterations.list[len(list):]
	for i := range list {
		s := &list[i]
		set := func(c trace.Col, v int64) {
			if v >= 0 {
				b.Int(c, v)
			}
		}
		if s.apart {
			b.Dict(trace.StepClock, []byte("monotonic/steps"))
		}
		set(trace.StepRank, s.rank)
		set(trace.StepIndex, s.iter)
		b.Int(trace.StepT, s.till)
		b.Int(trace.StepDuration, s.till-s.from)
		b.Code(trace.StepQuantity, int32(trace.Elapsed))
		set(trace.StepContext, s.contexts)
		set(trace.StepRunning, s.generations)
		context, generation := s.context, s.generation
		if s.contexts >= 0 && s.generations >= 0 {
			context, generation = s.contexts > 0, s.generations > 0
		}
		kind := trace.StepDecode
		switch {
		case context && generation:
			kind = trace.StepMixed
		case context:
			kind = trace.StepPrefill
		}
		b.Code(trace.StepKindCol, int32(kind))
		b.Int(trace.StepOffset, s.offset)
		b.EndRow()
	}
}

// events makes the row of a record of time_events_rank*.jsonl, which has the steps of a
// request and no stamps of it. Every rank tells of the same request: its row is that of
// rank 0.
func (f *fold) events(v *records.Fields, text []byte, at int64) {
	rank := count(v, ranked)
	f.iterate(text, rank, at, false)
	if rank > 0 {
		f.Parsed("steps of another rank")
		return
	}
	n := f.steps(v, text)
	f.begin(v, trace.Engine, v.Text(id), own)
	if first, ok := f.prefilled(text); ok {
		f.Builder.Int(trace.FirstToken, first)
		if len(f.gaps) > 0 {
			f.Builder.Int(trace.LastToken, first+sum(f.gaps))
		}
	}
	f.count(n)
	if f.Lists && len(f.gaps) > 0 {
		f.Builder.List(trace.ChunkGaps, f.gaps)
	}
	f.EndRow(at)
	f.Parsed("steps of a request")
}

func sum(list []int64) (s int64) {
	for _, v := range list {
		s += v
	}
	return s
}

var tooManySteps = &assemble.Problem{Code: "too_many_steps", Severity: diag.DataLoss,
	Msg: "the log has more steps than are kept: those beyond are not in the table of steps", Fix: "split the log"}
