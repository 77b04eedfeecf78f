package benchresult

import (
	"context"
	"fmt"
	"io"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/servebench"
)

const (
	batchRows   = 4096
	maxRuns     = 10_000
	maxReported = 1000
)

// reader implements formats.Reader.
type reader struct {
	formats.Base
	ctx     context.Context
	src     formats.Source
	rc      io.ReadCloser
	c       *json.Cursor
	object  object
	builder *trace.Builder
	turns   *trace.RunMeta // of the multi-turn requests
	twins   *trace.RunMeta
	done    bool
}

func open(ctx context.Context, src formats.Source, opt formats.Options) (formats.Reader, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	r := &reader{ctx: ctx, src: src, rc: rc, builder: trace.NewBuilder(trace.Requests)}
	r.Counts.Kinds = make(map[string]int64)
	r.c = json.New(r, 0, max(opt.Block, 0))
	return r, nil
}

// Read is the cursor's reader: it ends when the context does.
func (r *reader) Read(b []byte) (int, error) {
	if err := r.ctx.Err(); err != nil {
		return 0, err
	}
	return r.rc.Read(b)
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	for !r.done && r.builder.Rows() < batchRows {
		if !r.value() {
			r.done = true
			r.finish()
		}
	}
	if r.builder.Rows() == 0 || r.Fail != nil {
		return false
	}
	r.Current = r.builder.Take(r.turns, r.src.Name())
	return true
}

// value reads the next object, element or whatever stands there. It reports
// false at the end.
func (r *reader) value() bool {
	switch r.c.Kind() {
	case json.EOF:
		return false
	case json.Object:
		r.object.read(r.c)
		r.result(&r.object)
	case json.Array: // of results: its brackets and commas are skipped
		r.c.Advance(1)
	case json.Broken:
		return r.stray()
	default:
		r.stray()
	}
	return r.c.Err() == nil
}

// stray skips a line that holds no object.
func (r *reader) stray() bool {
	at := r.c.Offset()
	r.c.SkipLine()
	r.skip("stray_text", at, "text that is no JSON object was skipped")
	return len(r.c.Window()) > 0
}

// result takes an object.
func (r *reader) result(o *object) {
	s := shapeOf(o.has)
	if o.cut {
		p, _ := r.c.Problem()
		r.c.SkipLine()
		if s == nil || s == multiTurn || s == twin {
			r.skip("truncated", o.offset, "a result breaks off ("+p.Msg+") and was skipped")
			return
		}
		r.add("truncated", diag.DataLoss, p.Offset, "a result breaks off: "+p.Msg+"; what stands before that is used")
	}
	switch {
	case s == nil:
		r.skip("not_a_result", o.offset, "an object has not the keys of a benchmark's result that is known here")
		return
	case s == multiTurn:
		r.turn(o)
	case s == twin:
		r.record(o)
	case len(r.List) >= maxRuns:
		r.skip("too_many_results", o.offset, "the file has more results than are kept")
		return
	default:
		r.aggregate(s, o)
	}
	r.Counts.Total++
	r.Counts.Parsed++
	r.Counts.Kinds[s.name]++
}

func (r *reader) newRun(s *shape, o *object) *trace.RunMeta {
	m := &trace.RunMeta{Key: o.offset, Format: formatName, Engine: s.engine, Side: trace.Client, Clock: trace.Clock{Kind: trace.RunClock}, NoRequests: s.why}
	if s.first != "" {
		m.Version = "≥" + s.first
	}
	if s.note != "" {
		m.Notes = append(m.Notes, s.note)
	}
	r.List = append(r.List, m)
	return m
}

// aggregate makes a run of a result.
func (r *reader) aggregate(s *shape, o *object) {
	m := r.newRun(s, o)
	m.Config = append(m.Config, trace.Pair{Key: "benchmark", Value: s.title})
	for i := range o.values {
		v := &o.values[i]
		if v.path == s.duration {
			if d, ok := v.ns(9); ok && d > 0 {
				m.Duration, m.HasDuration = d, true
			}
			continue
		}
		k, stat, figure := s.figureOf(v.path)
		if !figure {
			if !strings.Contains(v.path, "[") && !strings.HasPrefix(v.path, "round.") {
				m.Config = append(m.Config, trace.Pair{Key: v.path, Value: v.text})
			}
			continue
		}
		f, ok := v.number(units[k].exp)
		if !ok || s.sentinel && (f < 0 || v.path == "last_ttft" && f == 0) {
			continue
		}
		if len(m.Reported) < maxReported {
			m.Reported = append(m.Reported, trace.Reported{Key: v.path, Stat: stat, Value: f, Unit: units[k].unit})
		}
	}
}

// record takes one record of the PyTorch benchmark database: one metric.
func (r *reader) record(o *object) {
	if r.twins == nil {
		r.twins = r.newRun(twin, o)
		for _, path := range []string{"benchmark.name", "model.name"} {
			if v := o.find(path); v != nil {
				r.twins.Config = append(r.twins.Config, trace.Pair{Key: path, Value: v.text})
			}
		}
		if v := o.find("model.name"); v != nil {
			r.twins.Model = v.text
		}
	}
	name, v := o.find("metric.name"), o.find("metric.benchmark_values[0]")
	if name == nil || v == nil || len(r.twins.Reported) >= maxReported {
		r.add("no_figure", diag.Notice, o.offset, "a record has no name of a metric, or no value")
		return
	}
	k, stat := plain, "value"
	if base, ok := strings.CutSuffix(name.text, "_ms"); ok {
		what, _, _ := strings.Cut(base, "_")
		if s := servebench.Statistic(what); s != "" {
			k, stat = millis, s
		}
	}
	switch name.text {
	case "latency":
		k = seconds
	case "requests_per_second", "request_throughput":
		k = rate
	case "tokens_per_second", "output_throughput", "total_token_throughput":
		k = tokenRate
	}
	if f, ok := v.number(units[k].exp); ok {
		r.twins.Reported = append(r.twins.Reported, trace.Reported{Key: name.text, Stat: stat, Value: f, Unit: units[k].unit})
	}
}

// turn adds the row of a request of vLLM's multi-turn benchmark. It is a
// successful one: the others are dropped there. ttft_ms is measured when the
// first chunk has one token; otherwise the client has taken off what it thinks
// the others took, so the first token's time is not known.
func (r *reader) turn(o *object) {
	if r.turns == nil {
		r.turns = r.newRun(multiTurn, o)
		r.turns.Clock.Kind = trace.Monotonic
		r.turns.Notes = append(r.turns.Notes, "only_successful: failed requests are not in the file", "no_last_token: the end of a request is that of its stream")
	}
	b := r.builder
	start, timed := o.time("start_time_ms")
	if timed {
		b.Int(trace.Sent, start)
		if d, ok := o.time("latency_ms"); ok && d >= 0 {
			b.Int(trace.Finished, start+d)
		}
	}
	first := o.find("output_num_first_chunk_tokens")
	ttft, ok := o.time("ttft_ms")
	switch {
	case !ok || ttft < 0 || !timed: // -1: never set
	case first != nil && first.text != "1":
		r.add("corrected_ttft", diag.Notice, o.offset, "the first chunk of a request has several tokens and its ttft_ms was corrected for that: the time of its first token is not known")
	default:
		b.Int(trace.FirstToken, start+ttft)
	}
	for path, c := range map[string]trace.Col{"input_num_tokens": trace.PromptTokens, "output_num_tokens": trace.OutputTokens, "output_num_first_chunk_tokens": trace.FirstChunkTokens} {
		if v := o.find(path); v != nil {
			if n, ok := v.ns(0); ok && n >= 0 {
				b.Int(c, n)
			}
		}
	}
	status := trace.OK
	if v := o.find("output_num_tokens"); v != nil {
		b.Code(trace.OutputTokensSource, int32(trace.FromClient))
		if v.text == "0" {
			status = trace.Empty
		}
	}
	b.Code(trace.StatusCol, int32(status))
	b.Bool(trace.Stream, true)
	b.Int(trace.Offset, o.offset)
	b.EndRow()
}

func (o *object) time(path string) (int64, bool) {
	v := o.find(path)
	if v == nil {
		return 0, false
	}
	return v.ns(6)
}

func (r *reader) finish() {
	if err := r.c.Err(); err != nil {
		r.Fail = fmt.Errorf("%s: %w", r.src.Name(), err)
		return
	}
	if r.Counts.Parsed == 0 {
		r.add("no_results", diag.Error, -1, "the file holds no result of a benchmark")
	}
}

func (r *reader) skip(code string, at int64, msg string) {
	r.Counts.Total++
	r.Counts.Diagnosed++
	r.add(code, diag.DataLoss, at, msg)
}

func (r *reader) add(code string, sev diag.Severity, at int64, msg string) {
	r.Log.Add(diag.Diag{Code: code, Severity: sev, File: r.src.Name(), Offset: at, Msg: msg})
}

// Close implements formats.Reader.
func (r *reader) Close() error {
	if r.rc == nil {
		return nil
	}
	err := r.rc.Close()
	r.rc = nil
	return err
}
