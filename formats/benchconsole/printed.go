package benchconsole

import (
	"bytes"
	"cmp"
	"maps"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/pyrepr"
	"servescope/formats/internal/records"
)

// SGLang's bench_serving --print-requests (v0.5.6.post2 to come, backend
// sglang-oai-chat) prints two lines per request, with time.time() in front and
// differences of time.perf_counter() in the objects:
//
//	rid=6f0c… time=1764662400.123 message="request start" request_func_input="RequestFuncInput(prompt='...', …)"
//	rid=6f0c… time=1764662401.456 time_delta=1.333 message="request end" output="RequestFuncOutput(generated_text='...', …)"
//
// The id is the client's own. The client takes its first stamp a moment before it
// sends, when the object of the request is still to be made. The count of output
// tokens is the server's if a chunk has it, and otherwise the length that was
// asked for: it counts where the two differ.

// started is a request whose end is still to come.
type started struct {
	at, offset    int64
	prompt, asked int64 // tokens; -1: unknown
	model         string
}

// maxStarted bounds them.
const maxStarted = 1 << 16

// printed takes a line about a request.
func (r *reader) printed(line []byte, at int64) bool {
	k := bytes.Index(line, []byte("rid=")) // a progress bar may stand before it
	if k < 0 {
		return false
	}
	rid, rest, ok := bytes.Cut(line[k+len("rid="):], []byte(" time="))
	t, n, known := numx.Scaled(rest, numx.Second)
	if !ok || !known || len(rid) == 0 || len(rid) > trace.MaxText || bytes.IndexByte(rid, ' ') >= 0 {
		return false
	}
	_, object, starts := bytes.Cut(rest[n:], []byte(` message="request start" request_func_input="`))
	if !starts {
		if _, object, ok = bytes.Cut(rest[n:], []byte(` message="request end" output="`)); !ok {
			return false
		}
	}
	var p printedRequest
	p.prompt, p.output = -1, -1
	whole := pyrepr.Walk(bytes.TrimSuffix(object, []byte(`"`)), p.take)
	switch {
	case !whole:
		r.count(&r.Counts.Diagnosed, "unknown")
		r.add("torn_record", diag.DataLoss, at, "the line of a request is cut off, or another writer's text is in it: it was skipped")
		return true
	case starts:
		r.start(string(rid), started{t, at, p.prompt, p.output, p.model})
	default:
		r.ended(rid, t, &p, at)
	}
	r.count(&r.Counts.Parsed, "request")
	return true
}

// start remembers a request.
func (r *reader) start(rid string, s started) {
	if r.asked == nil {
		r.asked = make(map[string]started)
	}
	if len(r.asked) >= maxStarted {
		r.add("too_many_open_requests", diag.DataLoss, s.offset, "so many requests have no end that some are not kept")
		return
	}
	r.asked[rid] = s
	r.requestRun(s.offset)
}

// requestRun returns the run of the requests that are printed now: that of the
// table that follows.
func (r *reader) requestRun(at int64) *trace.RunMeta {
	if r.serving == nil {
		r.serving = r.newRun(at)
		r.serving.Engine, r.serving.NoRequests = "sglang", ""
		r.serving.Clock.Kind = trace.Wall
		r.serving.DefaultDefinition = "sglang"
		r.serving.Notes = nil
	}
	return r.serving
}

// printedRequest is what an object says.
type printedRequest struct {
	ok, failed     bool
	latency, ttft  int64 // ns
	prompt, output int64
	cached         int64
	gaps           []int64
	listed         bool
	model, class   string
}

// take takes a value.
func (p *printedRequest) take(path, value []byte, kind pyrepr.Kind) {
	whole := func(to *int64) {
		if n, _, ok := numx.ParseInt(value); ok && n >= 0 {
			*to = n
		}
	}
	switch string(path) {
	case "success":
		p.ok, p.failed = string(value) == "True", string(value) == "False"
	case "latency":
		p.latency, _, _ = numx.Scaled(value, numx.Second)
	case "ttft":
		p.ttft, _, _ = numx.Scaled(value, numx.Second)
	case "prompt_len":
		whole(&p.prompt)
	case "output_len":
		whole(&p.output)
	case "cached_tokens":
		whole(&p.cached)
	case "model":
		p.model = string(value)
	case "error":
		if len(value) > 0 {
			p.class = records.ErrorClass(value)
		}
	case "itl":
		if kind == pyrepr.List && len(value) > 1 {
			var stop numx.Stop
			p.gaps, _, stop = numx.List(nil, value[1:], numx.Second, false)
			p.listed = stop == numx.End
		}
	}
}

// ended makes the row of a request.
func (r *reader) ended(rid []byte, t int64, p *printedRequest, at int64) {
	s, known := r.asked[string(rid)]
	delete(r.asked, string(rid))
	r.requestRun(at)
	if !known { // the log begins later
		s = started{at: t - p.latency, offset: at, prompt: -1, asked: -1}
	}
	b := r.requests
	r.request(rid, &s)
	status := trace.OK
	switch {
	case p.failed || !p.ok:
		status = trace.Failed
		if p.class != "" {
			b.Dict(trace.ErrorClass, []byte(p.class))
		}
	case p.ttft <= 0 && len(p.gaps) == 0:
		status = trace.Empty
	}
	b.Code(trace.StatusCol, int32(status))
	if p.latency > 0 {
		b.Int(trace.Finished, s.at+p.latency)
	}
	if p.ttft > 0 {
		b.Int(trace.FirstToken, s.at+p.ttft)
	}
	if p.listed {
		last := s.at + p.ttft
		for _, g := range p.gaps {
			last += g
		}
		if p.ttft > 0 && last >= s.at {
			b.Int(trace.LastToken, last)
		}
		if r.opt.Lists {
			b.List(trace.ChunkGaps, p.gaps)
		}
	}
	switch {
	case status != trace.OK || p.output < 0:
	case s.asked >= 0 && p.output != s.asked:
		b.Int(trace.OutputTokens, p.output)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	default:
		b.Int(trace.MaxTokens, p.output)
		b.Code(trace.OutputTokensSource, int32(trace.FromRequested))
	}
	if p.cached > 0 { // 0 stands for unknown
		b.Int(trace.CachedTokens, p.cached)
	}
	b.Bool(trace.Stream, true)
	b.EndRow()
}

// detach ends the run of the requests: its table has come.
func (r *reader) detach() {
	r.open()
	if r.requests.Rows() > 0 {
		r.Current = r.requests.Take(r.serving, r.src.Name())
	}
	r.serving.Notes = append(r.serving.Notes, rounded)
	r.serving = nil
}

// open makes rows of the requests that did not end, in order of the text.
func (r *reader) open() {
	ids := slices.SortedFunc(maps.Keys(r.asked), func(a, b string) int { return cmp.Compare(r.asked[a].offset, r.asked[b].offset) })
	for _, rid := range ids {
		s := r.asked[rid]
		r.request([]byte(rid), &s)
		r.requests.Code(trace.StatusCol, int32(trace.Open))
		r.requests.EndRow()
	}
	clear(r.asked)
}

// request sets what the start of a request tells.
func (r *reader) request(rid []byte, s *started) {
	b := r.requests
	b.Text(trace.RequestID, rid)
	b.Code(trace.SideCol, int32(trace.Client))
	b.Int(trace.Sent, s.at)
	b.Int(trace.Offset, s.offset)
	if s.model != "" {
		b.Dict(trace.Model, []byte(s.model))
	}
	if s.prompt >= 0 {
		b.Int(trace.PromptTokens, s.prompt)
	}
}
