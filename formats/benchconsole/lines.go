package benchconsole

import (
	"bytes"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/numx"
)

// line takes one line with its end.
func (r *reader) line(line []byte, at int64) {
	whole := bytes.HasSuffix(line, []byte("\n"))
	line = bytes.TrimSpace(line)
	figures := throughput(line)
	switch {
	case len(line) == 0:
		r.count(&r.Counts.Noise, "blank")
	case bytes.Contains(line, title):
		r.begin(at)
	case r.table != nil:
		r.inside(line, at, whole)
	case whole && (r.printed(line, at) || r.pass(line, at) || r.unframed(line, at)):
	case bytes.Contains(line, []byte("Namespace(")):
		r.arguments(line)
	case whole && figures != nil:
		r.throughput(figures, at)
	case !whole && (r.one != nil || r.section != nowhere || len(r.asked) > 0):
		r.count(&r.Counts.Diagnosed, "unknown")
		r.add("truncated", diag.DataLoss, at, "the text ends in the middle of a line: it was skipped")
	default:
		r.count(&r.Counts.Noise, "other text")
	}
}

// begin begins a table.
func (r *reader) begin(at int64) {
	if r.table != nil {
		r.add("truncated", diag.DataLoss, at, "a table begins within another one")
		r.table = nil
	}
	if len(r.List) >= maxRuns {
		r.tooMany(at)
		return
	}
	if r.table = r.serving; r.table == nil {
		r.table = r.newRun(at)
	} else {
		r.detach()
	}
	r.count(&r.Counts.Parsed, "table")
}

func (r *reader) tooMany(at int64) {
	r.count(&r.Counts.Diagnosed, "unknown")
	r.add("too_many_tables", diag.DataLoss, at, "the text has more tables than are kept")
}

func (r *reader) newRun(at int64) *trace.RunMeta {
	m := &trace.RunMeta{Key: at, Format: formatName, Side: trace.Client, Clock: trace.Clock{Kind: trace.RunClock},
		NoRequests: "a printed table holds no per-request data; save a result file with details"}
	for _, p := range r.args {
		switch p.Key {
		case "model":
			m.Model = p.Value
		case "backend":
			m.Engine = engine(p.Value)
		}
		m.Config = append(m.Config, p)
	}
	r.args = nil
	m.Notes = []string{rounded}
	r.List = append(r.List, m)
	return m
}

const rounded = "rounded: the figures were printed with two decimals"

// engine returns the engine that a backend names, or "" where it may be any.
func engine(backend string) string {
	for _, e := range []string{"sglang", "vllm", "lmdeploy"} {
		if strings.HasPrefix(backend, e) {
			return e
		}
	}
	return ""
}

// arguments takes the settings of the command.
func (r *reader) arguments(line []byte) {
	r.args = nil
	for at := 0; len(r.args) < maxArguments; {
		name, value, next := argument(line, at)
		if next < 0 {
			break
		}
		if v := strings.Trim(strings.ToValidUTF8(value, "\uFFFD"), "'"); v != "None" && v != "" {
			r.args = append(r.args, trace.Pair{Key: name, Value: v})
		}
		at = next
	}
	r.count(&r.Counts.Parsed, "arguments")
}

// inside takes a line of a table.
func (r *reader) inside(line []byte, at int64, whole bool) {
	switch {
	case len(line) >= 40 && len(bytes.Trim(line, "=")) == 0:
		r.table = nil
		r.count(&r.Counts.Parsed, "table end")
		return
	case bytes.HasPrefix(line, []byte("--")) && bytes.HasSuffix(line, []byte("--")):
		r.count(&r.Counts.Noise, "heading")
		return
	}
	label, text, ok := row(line)
	if !ok || !whole { // the value may be cut off
		r.count(&r.Counts.Diagnosed, "unknown")
		r.add("unknown_line", diag.DataLoss, at, "a line in a table is none of its rows")
		return
	}
	r.count(&r.Counts.Parsed, "row")
	switch problem := figure(r.table, label, text); problem {
	case nothing:
		if label == "Backend" {
			r.table.Engine = engine(text)
		}
		r.table.Config = append(r.table.Config, trace.Pair{Key: label, Value: text})
	case impossible:
		r.add("impossible_figure", diag.Notice, at, "a latency is printed as zero or negative, as when a run without streaming is summed up as one with it: it counts as unknown")
	}
}

// outcome says what became of a row.
type outcome uint8

const (
	taken outcome = iota
	nothing
	impossible
)

// latencies maps the names in labels to our metrics.
var latencies = map[string]string{"TTFT": "ttft", "TPOT": "tpot", "ITL": "chunk_gap", "E2EL": "e2e", "E2E Latency": "e2e"}

// figures are labels without the unit in brackets, in lower case.
var figures = map[string]struct {
	metric string
	unit   unit.Unit
}{
	"successful requests":                  {"", unit.Request},
	"failed requests":                      {"", unit.Request},
	"total input tokens":                   {"", unit.Token},
	"total input text tokens":              {"", unit.Token},
	"total input vision tokens":            {"", unit.Token},
	"total generated tokens":               {"", unit.Token},
	"request throughput":                   {"request_rate_ok", unit.PerSecond},
	"request goodput":                      {"goodput", unit.PerSecond},
	"input token throughput":               {"tps_prompt", unit.TokenRate},
	"output token throughput":              {"tps_ok", unit.TokenRate},
	"total token throughput":               {"tps_end_to_end", unit.TokenRate},
	"peak output token throughput":         {"", unit.TokenRate}, // counts chunks
	"peak concurrent requests":             {"", unit.Request},   // of one-second buckets
	"concurrency":                          {"concurrency_little", unit.None},
	"accept length":                        {"", unit.Token},
	"acceptance length":                    {"", unit.Token},
	"acceptance rate":                      {"", unit.Ratio},
	"drafts":                               {"", unit.None},
	"draft tokens":                         {"", unit.Token},
	"accepted tokens":                      {"", unit.Token},
	"total generated tokens (retokenized)": {"", unit.Token},
}

// figure takes a row as a figure of the run.
func figure(m *trace.RunMeta, label, text string) outcome {
	name, measure := label, ""
	if i := strings.LastIndex(label, " ("); i > 0 && strings.HasSuffix(label, ")") && !strings.HasSuffix(label, "(retokenized)") {
		name, measure = label[:i], label[i+2:len(label)-1]
	}
	exp := map[string]string{"ms": "e6", "s": "e9", "%": "e-2"}[measure]
	if text == "nan" && measure == "ms" { // nothing was measured
		return taken
	}
	v, n, ok := numx.ParseFloat([]byte(text + exp))
	if !ok || n != len(text+exp) {
		return nothing
	}
	if name == "Benchmark duration" && measure == "s" {
		ns, _, ok := numx.Seconds([]byte(text))
		if ok && ns > 0 {
			m.Duration, m.HasDuration = ns, true
		}
		return taken
	}
	if f, ok := figures[strings.ToLower(name)]; ok {
		m.Reported = append(m.Reported, trace.Reported{Key: label, Metric: f.metric, Stat: "value", Value: v, Unit: f.unit, Step: rounding(text, exp)})
		return taken
	}
	first, rest, _ := strings.Cut(name, " ")
	stat := statistic(first)
	if stat == "" || measure != "ms" {
		return nothing
	}
	if v <= 0 && stat != "std" {
		return impossible
	}
	m.Reported = append(m.Reported, trace.Reported{Key: label, Metric: latencies[rest], Stat: stat, Value: v, Unit: unit.Nanosecond, Step: rounding(text, exp)})
	return taken
}

// rounding is half a unit of the last decimal of a text, 0 without decimals:
// whole numbers are counts.
func rounding(text, exp string) float64 {
	_, decimals, _ := strings.Cut(text, ".")
	if decimals == "" {
		return 0
	}
	v, _, _ := numx.ParseFloat([]byte("0." + strings.Repeat("0", len(decimals)) + "5" + exp))
	return v
}

// statistic returns our name of the first word of a label, or "".
func statistic(word string) string {
	switch word {
	case "Mean", "Std", "Min", "Max":
		return strings.ToLower(word)
	case "Median":
		return "0.5"
	}
	p, ok := strings.CutPrefix(word, "P")
	whole, fraction, _ := strings.Cut(p, ".")
	if !ok || len(whole) == 0 || len(whole) > 2 || strings.Trim(whole+fraction, "0123456789") != "" {
		return ""
	}
	if len(whole) == 1 {
		whole = "0" + whole
	}
	return strings.TrimRight("0."+whole+fraction, "0")
}

// throughput takes the figures of a throughput line.
func (r *reader) throughput(figures []trace.Reported, at int64) {
	run := r.newRun(at)
	run.Engine, run.Reported = "vllm", figures
	r.count(&r.Counts.Parsed, "throughput")
}

// throughput reads the last line of vllm bench throughput, such as "Throughput:
// 12.34 requests/s, 5678.90 total tokens/s, 1234.56 output tokens/s". It returns
// nil for any other line.
func throughput(line []byte) []trace.Reported {
	text, ok := bytes.CutPrefix(bytes.TrimSpace(line), []byte("Throughput: "))
	parts := bytes.SplitN(text, []byte(", "), len(rates)+1)
	if !ok || len(parts) < 2 || len(parts) > len(rates) {
		return nil
	}
	figures := make([]trace.Reported, len(parts))
	for i, part := range parts {
		number, name, _ := bytes.Cut(part, []byte(" "))
		v, n, ok := numx.ParseFloat(number)
		if !ok || n != len(number) || string(bytes.TrimPrefix(name, []byte("total "))) != rates[i].name {
			return nil
		}
		figures[i] = trace.Reported{Key: rates[i].key, Stat: "value", Value: v, Unit: rates[i].unit}
	}
	return figures
}

// rates are the figures of a throughput line, in their order.
var rates = []struct {
	name, key string
	unit      unit.Unit
}{{"requests/s", "requests/s", unit.PerSecond}, {"tokens/s", "total tokens/s", unit.TokenRate}, {"output tokens/s", "output tokens/s", unit.TokenRate}}
