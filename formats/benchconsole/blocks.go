package benchconsole

import (
	"bytes"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/servebench"
)

// section is a block of figures without a frame around it.
type section uint8

const (
	nowhere  section = iota
	iterated         // vllm bench latency: Avg latency: 1.47 seconds, 10% percentile latency: …
	turns            // SGLang bench_multiturn: behind "Performance metrics summary:"
	columns          // vLLM benchmark_serving_multi_turn.py: behind "Statistics summary:"
)

// figure of a section: what its label says, before and behind the statistic.
type sectionFigure struct {
	label string
	unit  unit.Unit
	exp   string // of ten that leads from what is printed to the unit
}

// turnFigures are the figures of SGLang's multi-turn benchmark, behind a statistic
// or alone. Its quantiles are sorted[int(p*n)].
var turnFigures = []sectionFigure{
	{"TTFT", unit.Nanosecond, "e9"}, {"ITL", unit.Nanosecond, "e9"}, {"latency", unit.Nanosecond, "e9"},
	{"Prompt Length", unit.Token, ""}, {"Output Length", unit.Token, ""},
	{"Total requests", unit.Request, ""}, {"Throughput", unit.PerSecond, ""}, {"Request Throughput", unit.PerSecond, ""},
	{"Input token throughput", unit.TokenRate, ""}, {"Output token throughput", unit.TokenRate, ""}, {"Cache Hit Rate", unit.Ratio, ""},
}

// columnFigures are the rows and settings of vLLM's multi-turn benchmark.
var columnFigures = []sectionFigure{
	{"ttft_ms", unit.Nanosecond, "e6"}, {"tpot_ms", unit.Nanosecond, "e6"}, {"latency_ms", unit.Nanosecond, "e6"}, {"time_between_user_turns_sec", unit.Nanosecond, "e9"},
	{"input_num_turns", unit.None, ""}, {"input_num_tokens", unit.Token, ""}, {"output_num_tokens", unit.Token, ""}, {"output_num_chunks", unit.None, ""},
	{"output_num_first_chunk_tokens", unit.Token, ""}, {"approx_cached_percent", unit.Ratio, "e-2"}, {"runtime_sec", unit.Nanosecond, "e9"}, {"requests_per_sec", unit.PerSecond, ""},
}

// sections are the lines that begin one, and what is said of its run.
var sections = map[string]struct {
	section section
	engine  string
	notes   []string
}{
	"Performance metrics summary:": {turns, "sglang", []string{"other_quantiles: quantiles are sorted[int(p*n)], without interpolation"}},
	"Statistics summary:":          {columns, "vllm", []string{"corrected_ttft: ttft_ms is less what the client thinks that further tokens of the first chunk took"}},
}

// unframed takes a line outside a table that belongs to another block of figures.
func (r *reader) unframed(line []byte, at int64) bool {
	text := string(line[:min(len(line), maxText)])
	if s, ok := sections[text]; ok && len(r.List) < maxRuns {
		r.enter(s.section, at)
		r.run.Engine, r.run.Notes = s.engine, append(r.run.Notes, s.notes...)
		r.count(&r.Counts.Parsed, "heading of figures")
		return true
	}
	taken := false
	switch {
	case strings.HasSuffix(text, " seconds") && (strings.HasPrefix(text, "Avg latency: ") || r.section == iterated && strings.Contains(text, "% percentile latency: ")):
		taken = r.iteration(text, at)
	case r.section == turns:
		taken = r.turn(text)
	case r.section == columns:
		taken = r.column(text)
	}
	if taken {
		r.count(&r.Counts.Parsed, "row")
	} else if r.section != columns || !bytes.HasPrefix(line, []byte("---")) { // rules stand around the rows
		r.section = nowhere
	}
	return taken
}

// enter begins the run of a section.
func (r *reader) enter(s section, at int64) {
	r.section, r.run, r.header = s, r.newRun(at), nil
}

// iteration takes the mean or a quantile of vllm bench latency.
func (r *reader) iteration(text string, at int64) bool {
	label, value, _ := strings.Cut(strings.TrimSuffix(text, " seconds"), ": ")
	percent, _, quantile := strings.Cut(label, "% percentile")
	stat := "mean"
	if quantile {
		stat = servebench.Statistic("p" + percent)
	}
	v, ok := scaled(value, "e9")
	if !ok || stat == "" {
		return false
	}
	if !quantile && len(r.List) == maxRuns {
		return false
	}
	if !quantile {
		r.enter(iterated, at)
		r.run.Engine = "vllm"
		r.run.Notes = []string{"whole_batches: a latency is that of one iteration over a whole batch, not of a request"}
	}
	r.report(label, stat, v, unit.Nanosecond)
	return true
}

// turn takes a line of SGLang's summary, as "P90 TTFT: 0.34".
func (r *reader) turn(text string) bool {
	label, value, ok := strings.Cut(text, ": ")
	first, name, some := strings.Cut(label, " ")
	stat := servebench.Statistic(strings.ToLower(first))
	if !some || stat == "" {
		stat, name = "value", label
	}
	f := find(turnFigures, name)
	number, _, _ := strings.Cut(value, " ")
	if f == nil || !ok {
		return false
	}
	v, ok := scaled(number, f.exp)
	if ok {
		r.report(label, stat, v, f.unit)
	}
	return ok || number == "nan"
}

// column takes a line of vLLM's summary: "runtime_sec = 215.810", the names of the
// columns, or a row of them.
func (r *reader) column(text string) bool {
	words := strings.Fields(text)
	if len(words) > 2 && words[0] == "count" && words[1] == "mean" {
		r.header = words
		return true
	}
	if len(words) < 2 {
		return false
	}
	f := find(columnFigures, words[0])
	switch {
	case f == nil:
		return false
	case len(words) == 3 && words[1] == "=":
		v, ok := scaled(words[2], f.exp)
		if ok {
			r.report(f.label, "value", v, f.unit)
		}
		return ok
	case len(words) != len(r.header)+1:
		return false
	}
	for i, name := range r.header {
		stat := servebench.Statistic(name)
		if percent, ok := strings.CutSuffix(name, "%"); ok {
			stat = servebench.Statistic("p" + percent)
		}
		if v, ok := scaled(words[i+1], f.exp); ok && stat != "" {
			r.report(f.label, stat, v, f.unit)
		}
	}
	return true
}

func find(list []sectionFigure, label string) *sectionFigure {
	for i := range list {
		if list[i].label == label {
			return &list[i]
		}
	}
	return nil
}

// scaled reads a whole text as a number times a power of ten.
func scaled(text, exp string) (float64, bool) {
	v, n, ok := numx.ParseFloat([]byte(text + exp))
	return v, ok && n == len(text+exp) && v-v == 0
}

// report adds a figure to the run of the section.
func (r *reader) report(key, stat string, v float64, u unit.Unit) {
	r.run.Reported = append(r.run.Reported, trace.Reported{Key: key, Stat: stat, Value: v, Unit: u})
}
