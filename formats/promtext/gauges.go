package promtext

import (
	"servescope/analyzer/trace"
)

// Gauges of the load become rows of the steps table: a window that ends with the
// scrape, of which only its last moment is known. A row has what one process, or
// rank, says at one time.

// loadGauges are these gauges, by engine and name without prefix.
var loadGauges = map[[2]string]trace.Col{
	{"vllm", "num_requests_running"}:                 trace.StepRunning,
	{"vllm", "num_requests_waiting"}:                 trace.StepWaiting,
	{"vllm", "kv_cache_usage_perc"}:                  trace.StepKVUsage,
	{"vllm", "gpu_cache_usage_perc"}:                 trace.StepKVUsage,
	{"vllm", "avg_prompt_throughput_toks_per_s"}:     trace.StepPromptTPS,
	{"vllm", "avg_generation_throughput_toks_per_s"}: trace.StepGenerationTPS,
	{"sglang", "num_running_reqs"}:                   trace.StepRunning,
	{"sglang", "num_queue_reqs"}:                     trace.StepWaiting,
	{"sglang", "token_usage"}:                        trace.StepKVUsage,
	{"sglang", "gen_throughput"}:                     trace.StepGenerationTPS,
	{"sglang", "spec_accept_length"}:                 trace.StepAcceptLength,
}

// moment is one row: what a replica says at one time.
type moment struct {
	replica string
	t       int64
	timed   bool
}

// loads collects the rows of a scrape, or of series that stand behind one another.
type loads struct {
	index map[moment]int
	rows  []load
}

type load struct {
	moment
	offset int64
	values [len(loadColumns)]float64
	have   [len(loadColumns)]bool
}

// loadColumns are the columns, those of whole numbers first.
var loadColumns = [...]trace.Col{trace.StepRunning, trace.StepWaiting, trace.StepKVUsage, trace.StepPromptTPS, trace.StepGenerationTPS, trace.StepAcceptLength}

const wholeColumns = 2

// maxLoads bounds the rows that are collected.
const maxLoads = 1 << 16

// add takes a sample of a gauge. Labels that tell no replica apart divide what a
// process counts: numbers add up, and of a share the greatest counts.
func (l *loads) add(s *series, v float64, m moment, offset int64) {
	i, ok := l.index[m]
	if !ok {
		if l.index == nil {
			l.index = make(map[moment]int)
		}
		i = len(l.rows)
		l.index[m] = i
		l.rows = append(l.rows, load{moment: m, offset: offset})
	}
	row := &l.rows[i]
	for c, col := range loadColumns {
		switch {
		case col != s.load:
		case c < wholeColumns || !row.have[c]:
			row.values[c] += v
			row.have[c] = true
		default:
			row.values[c] = max(row.values[c], v)
		}
	}
}

// flush makes rows of what is there.
func (l *loads) flush(b *trace.Builder) {
	for i := range l.rows {
		r := &l.rows[i]
		if r.replica != "" {
			b.Dict(trace.StepReplica, []byte(r.replica))
		}
		if r.timed {
			b.Int(trace.StepT, r.t)
		}
		b.Code(trace.StepKindCol, int32(trace.StepWindow))
		for c, col := range loadColumns {
			switch {
			case !r.have[c]:
			case c >= wholeColumns:
				b.Float(col, r.values[c])
			case r.values[c] >= 0 && r.values[c] < 1e15:
				b.Int(col, int64(r.values[c]))
			}
		}
		b.Int(trace.StepOffset, r.offset)
		b.EndRow()
	}
	l.rows = l.rows[:0]
	clear(l.index)
}

// ended follows the table, which may have found the given scrape to be over.
func (r *reader) ended(scrape int) {
	if r.table.scrape != scrape {
		r.timed = false
		r.endLoads()
	}
}

// endLoads makes rows of the gauges of a scrape. Where series stand behind one
// another they wait for those to come, of the same times.
func (r *reader) endLoads() {
	if !r.table.serial || len(r.loads.rows) > maxLoads {
		r.loads.flush(r.steps)
	}
}
