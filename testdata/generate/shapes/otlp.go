package shapes

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
)

// spansPerLine is the largest export: the batch size of OpenTelemetry's SDK is
// 512, SGLang's 64.
const spansPerLine = 64

// spanWriter writes exports of spans as the collector's file exporter does, one
// per line.
type spanWriter struct {
	out     *bufio.Writer
	r       *rand.Rand
	service string
	scope   string
	written int64
	line    []byte
	spans   int // in line
	limit   int // of spans in line
}

func newSpanWriter(w io.Writer, seed uint64, service, scope string) *spanWriter {
	return &spanWriter{out: bufio.NewWriterSize(w, 1<<20), r: rand.New(rand.NewPCG(seed, 0x7370616e)), service: service, scope: scope}
}

// begin begins a span.
func (w *spanWriter) begin(trace, id, parent uint64, name string, from, to int64) {
	if w.spans == 0 {
		w.limit = 1 + w.r.IntN(spansPerLine)
		w.line = append(w.line, `{"resourceSpans":[{"resource":{"attributes":[{"key":"telemetry.sdk.language","value":{"stringValue":"python"}},{"key":"telemetry.sdk.name","value":{"stringValue":"opentelemetry"}},{"key":"telemetry.sdk.version","value":{"stringValue":"1.36.0"}},{"key":"service.name","value":{"stringValue":"`...)
		w.line = append(w.line, w.service...)
		w.line = append(w.line, `"}}]},"scopeSpans":[{"scope":{"name":"`...)
		w.line = append(w.line, w.scope...)
		w.line = append(w.line, `"},"spans":[`...)
	} else {
		w.line = append(w.line, ',')
	}
	w.line = append(w.line, `{"traceId":"0000000000000000`...)
	w.line = hex(w.line, trace)
	w.line = append(w.line, `","spanId":"`...)
	w.line = hex(w.line, id)
	w.line = append(w.line, `","parentSpanId":"`...)
	if parent != 0 {
		w.line = hex(w.line, parent)
	}
	w.line = append(w.line, `","flags":256,"name":"`...)
	w.line = append(w.line, name...)
	w.line = append(w.line, `","kind":1,"startTimeUnixNano":"`...)
	w.line = strconv.AppendInt(w.line, from, 10)
	w.line = append(w.line, `","endTimeUnixNano":"`...)
	w.line = strconv.AppendInt(w.line, to, 10)
	w.line = append(w.line, `","attributes":[`...)
}

// attribute adds an attribute; value is as it stands in JSON.
func (w *spanWriter) attribute(key, kind string, value []byte) {
	if w.line[len(w.line)-1] == '}' {
		w.line = append(w.line, ',')
	}
	w.line = append(w.line, `{"key":"`...)
	w.line = append(w.line, key...)
	w.line = append(w.line, `","value":{"`...)
	w.line = append(w.line, kind...)
	w.line = append(w.line, `":`...)
	w.line = append(w.line, value...)
	w.line = append(w.line, "}}"...)
}

func (w *spanWriter) text(key, value string) {
	w.attribute(key, "stringValue", append(append([]byte{'"'}, value...), '"'))
}

func (w *spanWriter) integer(key string, v int) {
	w.attribute(key, "intValue", append(strconv.AppendInt([]byte{'"'}, int64(v), 10), '"'))
}

func (w *spanWriter) seconds(key string, ns int64) {
	w.attribute("gen_ai.latency."+key, "doubleValue", strconv.AppendFloat(nil, float64(ns)/1e9, 'f', -1, 64))
}

// end ends a span; rest follows its attributes.
func (w *spanWriter) end(rest string) {
	w.line = append(w.line, ']')
	w.line = append(w.line, rest...)
	w.line = append(w.line, `,"status":{}}`...)
	if w.spans++; w.spans == w.limit {
		w.flush()
	}
}

func (w *spanWriter) flush() {
	if w.spans == 0 {
		return
	}
	w.line = append(w.line, "]}]}]}\n"...)
	w.written += int64(len(w.line))
	w.out.Write(w.line)
	w.line, w.spans = w.line[:0], 0
}

func (w *spanWriter) close() error {
	w.flush()
	return w.out.Flush() // reports what Write met, too
}

func hex(b []byte, v uint64) []byte {
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, "0123456789abcdef"[v>>shift&15])
	}
	return b
}

// OTLP writes the spans of a vLLM server, one per request.
func OTLP(out io.Writer, c Config) error {
	s := newSource(c)
	w := newSpanWriter(out, c.Seed, "vllm-server", "vllm.tracing.otel")
	for (c.Count == 0 || s.n < c.Count) && (c.Size == 0 || w.written < c.Size) {
		q := s.draw()
		first := q.next - q.arrival
		decode := int64(lognormal(s.r, meanGap, 0.1)) * int64(q.output-1)
		queue := first / 9
		w.begin(w.r.Uint64(), w.r.Uint64(), 0, "llm_request", q.arrival, q.next+decode+160_000)
		w.seconds("time_to_first_token", first)
		w.seconds("e2e", first+decode+1_000_000)
		w.seconds("time_in_queue", queue)
		w.integer("gen_ai.usage.prompt_tokens", q.prompt)
		w.integer("gen_ai.usage.completion_tokens", q.output)
		w.seconds("time_in_model_prefill", first/2)
		w.seconds("time_in_model_decode", decode)
		w.seconds("time_in_model_inference", first/2+decode)
		w.text("gen_ai.request.id", "cmpl-"+string(hex(nil, w.r.Uint64()))+string(id(nil, q.number)))
		w.attribute("gen_ai.request.top_p", "doubleValue", []byte{'1'})
		w.integer("gen_ai.request.max_tokens", 4096)
		w.integer("gen_ai.request.n", 1)
		w.end("")
	}
	return w.close()
}

// tree is a request of SGLang.
type tree struct {
	*request
	trace, root uint64
	steps       []int64 // ends, the first token's before the others
}

// Ids of the spans of a request, besides those of its steps.
const (
	spanFrontend = 1 + iota
	spanTokenize
	spanDispatch
	spanScheduler
	spanWaiting
	spanForward
	spanDecode
	spanSteps
)

// OTLPTree writes the spans of an SGLang server: a tree per request with a span
// per decode step, children before their parents, those of as many requests as
// are open at a time mixed.
func OTLPTree(out io.Writer, c Config) error {
	s := newSource(c)
	w := newSpanWriter(out, c.Seed, "sglang", "sglang server")
	for (c.Count == 0 || s.n < c.Count) && (c.Size == 0 || w.written < c.Size) {
		var group []*tree
		for range max(c.Open, 1) {
			if c.Count > 0 && s.n == c.Count {
				break
			}
			q := &tree{request: s.draw(), trace: w.r.Uint64(), root: w.r.Uint64() &^ 0xffff}
			q.steps = append(q.steps, q.next)
			for range q.output - 1 {
				q.next += s.gap()
				q.steps = append(q.steps, q.next)
			}
			group = append(group, q)
		}
		w.trees(group)
	}
	return w.close()
}

// trees writes a group of requests, a step of each in turn.
func (w *spanWriter) trees(group []*tree) {
	for round, left := 0, len(group); left > 0; round++ {
		for _, q := range group {
			switch {
			case round == 0:
				w.head(q)
			case round < len(q.steps):
				w.step(q, round)
			case round == len(q.steps):
				w.tail(q)
				left--
			}
		}
	}
}

func (w *spanWriter) slice(q *tree, id, parent int, name string, from, to int64, rest string) {
	w.begin(q.trace, q.root|uint64(id), q.root|uint64(parent), name, from, to)
	w.end(rest)
}

// head writes what happens up to the first token.
func (w *spanWriter) head(q *tree) {
	part := (q.steps[0] - q.arrival) / 10
	w.slice(q, spanTokenize, spanFrontend, "tokenize", q.arrival, q.arrival+part, "")
	w.slice(q, spanDispatch, spanFrontend, "api_server_dispatch", q.arrival+part, q.arrival+2*part, "")
	w.thread(q, spanFrontend, "Tokenizer", q.arrival, q.arrival+2*part)
	w.slice(q, spanWaiting, spanScheduler, "prefill_waiting", q.arrival+3*part, q.arrival+5*part, "")
	w.slice(q, spanForward, spanScheduler, "prefill_forward", q.arrival+5*part, q.steps[0], schedule(q.arrival+5*part, q.root, "prefill"))
}

// step writes decode step i.
func (w *spanWriter) step(q *tree, i int) {
	w.begin(q.trace, q.root|uint64(spanSteps+i), q.root|spanDecode, "decode_loop", q.steps[i-1], q.steps[i])
	w.integer("decode_ct", i-1)
	w.end(schedule(q.steps[i-1]+200_000, q.root+uint64(i), "decode") + `,"links":[{"traceId":"0000000000000000` + string(hex(nil, q.trace)) + `","spanId":"` + string(hex(nil, q.root|uint64(spanSteps+i-1))) + `"}]`)
}

// schedule writes the event that puts a request into a batch of its own.
func schedule(at int64, batch uint64, mode string) string {
	return `,"events":[{"timeUnixNano":"` + strconv.FormatInt(at, 10) + `","name":"schedule","attributes":[{"key":"bid","value":{"stringValue":"` + string(hex(nil, batch)) + `"}},{"key":"batch_size","value":{"intValue":"1"}},{"key":"forward_mode","value":{"stringValue":"` + mode + `"}}]}]`
}

// thread writes the span of a thread, which its slices lie in.
func (w *spanWriter) thread(q *tree, id int, label string, from, to int64) {
	w.begin(q.trace, q.root|uint64(id), q.root, label+" (host:abcd1234 | pid:123)", from, to)
	if label == "Scheduler" {
		w.integer("tp_rank", 0)
	}
	w.text("host_id", "abcd1234ef567890")
	w.integer("pid", 123)
	w.text("thread_label", label)
	w.end("")
}

// tail writes the spans that end with the request.
func (w *spanWriter) tail(q *tree) {
	last := q.steps[len(q.steps)-1]
	w.slice(q, spanDecode, spanScheduler, "decode_forward", q.steps[0], last, "")
	w.thread(q, spanScheduler, "Scheduler", q.arrival, last)
	rid := string(hex(hex(nil, q.root), q.trace))
	w.begin(q.trace, q.root, 0, " Req "+rid[:8], q.arrival, last+2_000_000)
	w.text("rid", rid)
	w.text("module", "sglang::request")
	w.integer("gen_ai.usage.prompt_tokens", q.prompt)
	w.integer("gen_ai.usage.completion_tokens", q.output)
	w.text("gen_ai.response.finish_reasons", `[\"length\"]`)
	w.seconds("time_to_first_token", q.steps[0]-q.arrival+3_000_000)
	w.seconds("e2e", last-q.arrival+2_000_000)
	w.end("")
}
