package simulate

import (
	"strconv"

	"servescope/analyzer/trace"
)

// lineResolution is the resolution of the stamps of engines' text logs in ns.
const lineResolution = 1e9

// line begins the row of a line of replica n at time t of the simulated clock.
func (w *world) line(b *trace.Builder, n int, t int64, kind trace.StepKind) {
	if w.s.Logging.Named {
		b.Dict(trace.StepReplica, strconv.AppendInt(nil, int64(n), 10))
	}
	t += epoch
	b.Int(trace.StepT, t-t%lineResolution)
	b.Int(trace.StepResolution, lineResolution)
	b.Code(trace.StepKindCol, int32(kind))
}

// iterations writes a row for every step.
func (w *world) iterations(run *trace.RunMeta) *trace.Batch {
	b := trace.NewBuilder(trace.Steps)
	for n, e := range w.engines {
		for i := range e.steps {
			k := &e.steps[i]
			kind := trace.StepMixed
			if k.contexts == 0 {
				kind = trace.StepDecode
			} else if k.decoding == 0 {
				kind = trace.StepPrefill
			}
			w.line(b, n, k.end, kind)
			b.Int(trace.StepIndex, int64(i))
			b.Int(trace.StepDuration, k.y-k.stall) // the host waits for the device
			b.Code(trace.StepQuantity, int32(trace.Elapsed))
			b.Int(trace.StepContext, int64(k.contexts))
			b.Int(trace.StepPrefillTokens, int64(k.prompts))
			b.Int(trace.StepRunning, int64(k.decoding))
			b.Int(trace.StepDecodeTokens, int64(k.decoding))
			b.EndRow()
		}
	}
	return b.Take(run, "simulated steps")
}

// windows writes a row for every period in which a step ended.
func (w *world) windows(run *trace.RunMeta) *trace.Batch {
	b, period := trace.NewBuilder(trace.Steps), w.s.Logging.Period
	for n, e := range w.engines {
		for i := 0; i < len(e.steps); {
			end := (e.steps[i].end/period + 1) * period
			var prompts, tokens int
			for ; i < len(e.steps) && e.steps[i].end < end; i++ {
				prompts += e.steps[i].prompts
				tokens += e.steps[i].b + e.steps[i].firsts
			}
			var now step // under way at the end of the period; nothing is when idle
			if i < len(e.steps) && e.steps[i].end-e.steps[i].y < end {
				now = e.steps[i]
			}
			w.line(b, n, end, trace.StepWindow)
			b.Int(trace.StepRunning, int64(now.running))
			b.Int(trace.StepWaiting, int64(now.waiting))
			b.Float(trace.StepKVUsage, float64(now.used)/float64(e.o.Blocks))
			b.Float(trace.StepPromptTPS, float64(prompts)*1e9/float64(period))
			b.Float(trace.StepGenerationTPS, float64(tokens)*1e9/float64(period))
			b.EndRow()
		}
	}
	return b.Take(run, "simulated engine log")
}
