package otlp

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"strings"
	"testing"

	"github.com/klauspost/compress/zstd"

	"servescope/formats"
	"servescope/formats/source"
)

// v is an attribute of a test's span: its value is as it stands in JSON.
type v struct{ key, kind, value string }

func seconds(key, value string) v { return v{"gen_ai.latency." + key, "doubleValue", value} }
func integerOf(key string, n int) v {
	return v{"gen_ai." + key, "intValue", fmt.Sprintf(`"%d"`, n)}
}
func textOf(key, s string) v { return v{key, "stringValue", `"` + s + `"`} }

// spanText returns a span of OTLP; start and end are as they stand in JSON.
func spanText(name, start, end string, attributes ...v) string {
	var b strings.Builder
	fmt.Fprintf(&b, `{"traceId":"9415cfcef2559733678f0328c9cc93f9","spanId":"%016x","name":%q,"kind":2,"startTimeUnixNano":%s,"endTimeUnixNano":%s,"attributes":[`,
		identity([]byte(fmt.Sprint(name, start, end, attributes))), name, start, end)
	for i, a := range attributes {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, `{"key":%q,"value":{%q:%s}}`, a.key, a.kind, a.value)
	}
	b.WriteString(`],"status":{}}`)
	return b.String()
}

// exportText returns a line of the collector's file.
func exportText(service, scope string, spans ...string) string {
	return fmt.Sprintf(`{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":%q}}]},"scopeSpans":[{"scope":{"name":%q},"spans":[%s]}]}]}`+"\n",
		service, scope, strings.Join(spans, ","))
}

// TestP27: stamps of the engine's monotonic clock are not in spans, only its
// durations, and no stamp is made of them: TTFT 850 = queue 300 + prefill 500 +
// rest 50. A difference to a milestone that is 0 is the host's uptime.
func TestP27(t *testing.T) {
	g := read(t, exportText("vllm", "vllm.tracing.otel",
		spanText("llm_request", `"1700000000000000000"`, `"1700000002000000000"`, seconds("time_to_first_token", "0.850"), seconds("e2e", "1.9"), seconds("time_in_queue", "0.3"),
			seconds("time_in_model_prefill", "0.5"), seconds("time_in_model_decode", "1.04"), textOf("gen_ai.request.id", "r1"), integerOf("usage.completion_tokens", 9)),
		spanText("llm_request", `"1700000010000000000"`, `"1700000012000000000"`, seconds("time_to_first_token", "0.850"), seconds("e2e", "1.9"), seconds("time_in_queue", "-1699994999.6"),
			seconds("time_in_model_prefill", "5000.9"), seconds("time_in_model_decode", "1.04"), textOf("gen_ai.request.id", "r2"), integerOf("usage.completion_tokens", 9))))
	want(t, g.rows[0], "received=1700000000000000000", "first_token=1700000000850000000", "d_queue=300000000", "d_prefill=500000000", "merged_leaves=input+ingress+egress", "d_merged=50000000",
		"d_decode=1040000000", "queued=null", "admitted=null", "prefill_end=null", "last_token=null")
	want(t, g.rows[1], "first_token=1700000010850000000", "d_queue=null", "d_prefill=null", "merged_leaves=input+ingress+queue+prefill+egress", "d_merged=850000000")
	if d := g.diag("milestone_missing"); d.Count != 2 {
		t.Errorf("diags %+v", g.diags)
	}
}

// TestP30: both engines write time_in_model_prefill; SGLang's holds the queue. It
// was dispatched at 5, queued until 305, and had its first token at 405.
func TestP30(t *testing.T) {
	common := []v{seconds("time_to_first_token", "0.405"), seconds("e2e", "0.5"), integerOf("usage.completion_tokens", 9)}
	vllm := append(common[:3:3], seconds("time_in_queue", "0.3"), seconds("time_in_model_prefill", "0.1"))
	sglang := append(common[:3:3], seconds("time_in_model_prefill", "0.4"))
	vllmWant := []string{"d_queue=300000000", "d_prefill=100000000", "merged_leaves=input+ingress+egress", "d_merged=5000000", "dispatched=null"}
	sglangWant := []string{"d_queue=null", "d_prefill=null", "d_input=5000000", "merged_leaves=ingress+queue+prefill+egress", "d_merged=400000000", "dispatched=1700000000005000000"}
	for _, c := range []struct {
		name, service, scope string
		attributes           []v
		engine               string
		want                 []string
	}{
		{"llm_request", "sglang-router", "x", vllm, "vllm", vllmWant},
		{" Req 1f0b0e6a", "unknown_service", "sglang server", sglang, "sglang", sglangWant},
		{"prefill Req 1f0b0e6a", "x", "x", append(sglang[:4:4], textOf("rid", "1f0b0e6a")), "sglang", []string{"side=prefill", "d_prefill=null"}},
		{"generate", "my-vllm", "x", vllm, "vllm", vllmWant},
		{"generate", "x", "vllm.llm_engine", vllm, "vllm", vllmWant},
		{"generate", "My-SGLang", "x", sglang, "sglang", sglangWant},
		{"generate", "x", "x", vllm, "vllm", vllmWant}, // only vLLM has time_in_queue
		{"generate", "x", "x", append(sglang[:4:4], integerOf("request.top_k", 1)), "sglang", sglangWant},
		{"generate", "x", "x", append(sglang[:4:4], textOf("gen_ai.response.finish_reasons", `[\"stop\"]`)), "sglang", sglangWant},
		{"generate", "x", "x", sglang, "", []string{"d_queue=null", "d_prefill=null", "d_input=null", "d_merged=null", "first_token=1700000000405000000"}},
	} {
		g := readWith(t, source.FromBytes("vllm-sglang.json", []byte(exportText(c.service, c.scope, spanText(c.name, `"1700000000000000000"`, `"1700000000500000000"`, c.attributes...)))), formats.Options{Workers: 1})
		if len(g.rows) != 1 || g.runs[0].Engine != c.engine {
			t.Errorf("%+v: %d rows, engine %q", c, len(g.rows), g.runs[0].Engine)
			continue
		}
		want(t, g.rows[0], c.want...)
		if c.engine == "" && g.diag("engine_unknown").Count != 1 {
			t.Errorf("%+v: %+v", c, g.diags)
		}
	}
}

// TestP31: -1 stands for unknown, and an end-to-end latency that is missing is
// that of the span, which is said.
func TestP31(t *testing.T) {
	g := read(t, exportText("vllm", "vllm.tracing.otel", spanText("llm_request", `"1700000000000000000"`, `"1700000002000000000"`,
		seconds("time_to_first_token", "-1"), seconds("time_in_queue", "0.1"), seconds("time_in_model_prefill", "-1.0"), textOf("gen_ai.request.id", "r1"), integerOf("usage.completion_tokens", 9))))
	want(t, g.rows[0], "first_token=null", "finished=1700000002000000000", "d_queue=100000000", "d_prefill=null", "d_merged=null", "status=ok", "output_tokens=9", "prompt_tokens=null")
	if g.diag("milestone_missing").Count != 2 || g.diag("end_from_span").Count != 1 {
		t.Errorf("diags %+v", g.diags)
	}
}

// TestP59: 64-bit nanoseconds in every spelling are the same integer.
func TestP59(t *testing.T) {
	const start = "1767225600123456789"
	for _, text := range []string{`"` + start + `"`, start, `{"low":-178926315,"high":411464273}`, `{"high":411464273,"low":4116040981,"unsigned":true}`, `{"high":"411464273","low":"-178926315"}`,
		`1.767225600123456789e18`, `"1.767225600123456789E+18"`, `17672256001234567.89e2`, ` 1767225600123456789 `, `1767225600123456789.0`} {
		g := read(t, exportText("vllm", "vllm.tracing.otel", spanText("llm_request", text, text, seconds("e2e", "1"), textOf("gen_ai.request.id", "r1"))))
		if len(g.rows) != 1 {
			t.Errorf("%s: %+v", text, g.diags)
			continue
		}
		want(t, g.rows[0], "received="+start, "finished=1767225601123456789")
		if g.diag("inexact_time").Count != 0 {
			t.Errorf("%s: %+v", text, g.diags)
		}
	}
	// As a float64 prints it: the last digits are not there.
	g := read(t, exportText("vllm", "vllm.tracing.otel", spanText("llm_request", "1.7672256001234568e18", "1.7672256011234568e18", textOf("gen_ai.request.id", "r1"))))
	want(t, g.rows[0], "received=1767225600123456800")
	if g.diag("inexact_time").Count != 1 {
		t.Errorf("diags %+v", g.diags)
	}
	for _, text := range []string{`"soon"`, `null`, `-5`, `0`, `{}`, `{"low":1}`, `{"low":1,"high":2147483648}`, `9223372036854775808`, `1e30`, `[1]`} {
		g := read(t, exportText("vllm", "vllm.tracing.otel", spanText("llm_request", text, `"1767225600123456789"`, textOf("gen_ai.request.id", "r1"))))
		if len(g.rows) != 0 || g.diag("span_without_time").Count != 1 || g.account.Diagnosed != 1 {
			t.Errorf("%s: %d rows, %+v", text, len(g.rows), g.diags)
		}
	}
}

// unpacked reads what a file with the given bytes holds, as the command does.
func unpacked(t *testing.T, file []byte) (*got, error) {
	t.Helper()
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("traces.json", file), Named: true}}, formats.Options{})
	if err != nil {
		return nil, err
	}
	src := in.List[0].Source
	head, err := formats.ReadHead(src)
	if err != nil {
		return nil, err
	}
	if _, err := formats.NewSet(&Format).Detect(head); err != nil {
		return nil, err
	}
	return readWith(t, src, formats.Options{Workers: 1}), nil
}

// framed puts the length before a message, as the collector's exporter does.
func framed(message []byte) []byte {
	return append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...)
}

// TestP61: the collector compresses each message on its own, behind its length.
// Protobuf, compressed or not, is refused with advice.
func TestP61(t *testing.T) {
	enc, err := zstd.NewWriter(nil)
	if err != nil {
		t.Fatal(err)
	}
	var file, plain []byte
	for i := range 3 {
		line := exportText("vllm", "vllm.tracing.otel", spanText("llm_request", fmt.Sprintf(`"170000000%d000000000"`, i), `"1700000009000000000"`, seconds("e2e", "1"), textOf("gen_ai.request.id", fmt.Sprint("r", i))))
		file = append(file, framed(enc.EncodeAll([]byte(strings.TrimSuffix(line, "\n")), nil))...)
		plain = append(plain, enc.EncodeAll([]byte(line), nil)...)
	}
	for _, f := range [][]byte{file, plain} {
		g, err := unpacked(t, f)
		if err != nil || len(g.rows) != 3 || g.rows[2]["request_id"] != "r2" {
			t.Errorf("%v, %+v", err, g)
		}
	}
	// An ExportTraceServiceRequest with one resource and an attribute.
	field := func(tag byte, b []byte) []byte { return append([]byte{tag, byte(len(b))}, b...) }
	pair := append(field(0x0a, []byte("service.name")), field(0x12, field(0x0a, []byte("vllm")))...)
	message := field(0x0a, field(0x0a, field(0x0a, pair)))
	for name, f := range map[string][]byte{
		"plain":      message,
		"framed":     append(framed(message), framed(message)...),
		"compressed": framed(enc.EncodeAll(message, nil)),
	} {
		_, err := unpacked(t, f)
		if err == nil || !strings.Contains(err.Error(), "protobuf") || !strings.Contains(err.Error(), "format: json") {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// TestP71: microseconds as Jaeger writes them, with decimals near 2^53: 100 ns
// apart, which a float64 does not resolve.
func TestP71(t *testing.T) {
	span := func(id, start, duration string) string {
		return fmt.Sprintf(`{"traceID":"a","spanID":%q,"operationName":"llm_request","references":[],"startTime":%s,"duration":%s,"tags":[{"key":"gen_ai.request.id","type":"string","value":%q},{"key":"gen_ai.latency.time_in_model_prefill","type":"float64","value":0.00001}],"processID":"p1"}`, id, start, duration, id)
	}
	g := read(t, `{"data":[{"traceID":"a","spans":[`+span("1", "1767225600123456.100", "0.05")+`,`+span("2", "1767225600123456.200", "1600000")+`],"processes":{"p1":{"serviceName":"vllm","tags":[]}}}]}`)
	want(t, g.rows[0], "received=1767225600123456100", "finished=1767225600123456150", "resolution=1000")
	want(t, g.rows[1], "received=1767225600123456200", "finished=1767225601723456200")
	if g.runs[0].Engine != "vllm" || g.runs[0].Config[0].Value != "vllm" {
		t.Errorf("%+v", g.runs[0])
	}
}

// TestForms: one export in every wrapping gives the same rows.
func TestForms(t *testing.T) {
	line := func(i int) string {
		return exportText("vllm", "vllm.tracing.otel", spanText("llm_request", fmt.Sprintf(`"170000000%d000000000"`, i), `"1700000009000000000"`, seconds("e2e", "1"), textOf("gen_ai.request.id", fmt.Sprint("r", i))),
			spanText("other", "1", "2"))
	}
	a, b := strings.TrimSuffix(line(1), "\n"), strings.TrimSuffix(line(2), "\n")
	inner := func(s string) string { return strings.TrimSuffix(strings.TrimPrefix(s, `{"resourceSpans":`), "}") }
	for name, text := range map[string]string{
		"lines":         a + "\n" + b + "\n",
		"no last end":   a + "\n" + b,
		"glued":         a + b,
		"array":         "[" + a + "," + b + "]",
		"array, spaced": "[\n  " + a + " ,\n  " + b + "\n]\n",
		"array, lines":  "[\n" + a + ",\n" + b + "\n]\n",
		"one object":    `{"resourceSpans":` + strings.TrimSuffix(inner(a), "]") + "," + strings.TrimPrefix(inner(b), "[") + "}",
		"batches":       `{"batches":` + inner(a) + "}\n" + `{"batches":` + inner(b) + "}",
		"trace":         `{"trace":` + a + "}\n" + `{"trace":` + b + "}",
		"older names":   strings.ReplaceAll(strings.ReplaceAll(a+"\n"+b, "scopeSpans", "instrumentationLibrarySpans"), `"scope":`, `"instrumentationLibrary":`),
		"snake case":    strings.NewReplacer("resourceSpans", "resource_spans", "scopeSpans", "scope_spans", "traceId", "trace_id", "spanId", "span_id", "startTimeUnixNano", "start_time_unix_nano", "endTimeUnixNano", "end_time_unix_nano").Replace(a + "\n" + b),
		"with others":   `{"resourceMetrics":[]}` + "\n" + a + "\n" + `{"resourceLogs":[{"x":"}"}]}` + "\n" + b + "\n",
	} {
		g := read(t, text)
		if len(g.rows) != 2 || len(g.diags) != 0 || g.account.Kinds["vllm start-up"] != 2 {
			t.Errorf("%s: %d rows, %+v, %+v", name, len(g.rows), g.account, g.diags)
			continue
		}
		want(t, g.rows[0], "request_id=r1", "received=1700000001000000000", "finished=1700000002000000000")
		want(t, g.rows[1], "request_id=r2")
		if c := fmt.Sprint(g.runs[0].Config); c != "[{service.name vllm} {scope vllm.tracing.otel}]" {
			t.Errorf("%s: %s", name, c)
		}
	}
}

// TestLateOrigin: resource and scope may stand behind the spans, in a container
// of any size up to a limit, which is said.
func TestLateOrigin(t *testing.T) {
	for _, n := range []int{3, 5000, maxPending + 10} {
		var b bytes.Buffer
		b.WriteString(`{"resourceSpans":[{"scopeSpans":[{"spans":[`)
		for i := range n {
			if i > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, `{"spanId":"%d","name":"llm_request","startTimeUnixNano":%d,"attributes":[{"key":"gen_ai.request.id","value":{"stringValue":"%d"}}]}`, i+1, 1700000000000000000+i, i)
		}
		b.WriteString(`],"scope":{"name":"vllm.llm_engine"}}],"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"s"}}]}}]}`)
		g := read(t, b.String())
		service := ""
		if len(g.runs[0].Config) > 0 {
			service = g.runs[0].Config[0].Value
		}
		late := g.diag("late_origin").Count
		if len(g.rows) != n || (n <= maxPending) != (service == "s" && late == 0) {
			t.Errorf("%d spans: %d rows, service %q, %d late", n, len(g.rows), service, late)
		}
	}
}

// TestDamage: what is wrong with one span costs no other, wherever blocks end.
func TestDamage(t *testing.T) {
	span := func(id string, more ...v) string {
		return spanText("llm_request", `"1700000000000000000"`, `"1700000001000000000"`, append([]v{textOf("gen_ai.request.id", id), seconds("e2e", "1")}, more...)...)
	}
	good := span("good")
	for name, c := range map[string]struct {
		text string
		rows int
		code string
	}{
		"a bracket too many":  {exportText("s", "x", span("a"), strings.Replace(span("b"), `"status":{}`, `"status":{]`, 1), good), 2, "span_malformed"},
		"no value":            {exportText("s", "x", span("a"), strings.Replace(span("b"), `"kind":2`, `"kind":`, 1), good), 2, "span_malformed"},
		"no span":             {exportText("s", "x", span("a"), `7`, `[{"name":"llm_request"}]`, `"x"`, good), 2, "not_a_span"},
		"too large":           {exportText("s", "x", span("a"), span("b", v{"gen_ai.prompt", "stringValue", `"` + strings.Repeat("secret ", maxSpan/7) + `"`}), good), 2, "span_too_large"},
		"a line cut in text":  {exportText("s", "x", span("a"), span("b"))[:600] + "\n" + exportText("s", "x", good), 2, "malformed"},
		"a line cut at a key": {strings.SplitAfter(exportText("s", "x", span("a"), span("b")), `"name":"llm_request",`)[0] + "\n" + exportText("s", "x", good), 1, "truncated"},
		"a broken resource":   {strings.Replace(exportText("s", "x", span("a")), `"attributes":[`, `"attributes":{{`, 1) + exportText("s", "x", good), 1, "malformed"},
		"cut at the end":      {exportText("s", "x", good) + exportText("s", "x", span("a"))[:300], 1, "truncated"},
		"a log's line":        {exportText("s", "x", span("a")) + "level=info msg=\"rotated\"\n" + exportText("s", "x", good), 2, "stray_text"},
	} {
		var last string
		for i, opt := range []formats.Options{{Workers: 1}, {Workers: 1, Block: 64}, {Workers: 1, Block: 500}, {Workers: 2, Block: 70}} {
			if len(c.text) > 1<<20 && opt.Block > 0 {
				opt.Block *= 1000
			}
			g := readWith(t, source.FromBytes("x", []byte(c.text)), opt)
			if len(g.rows) != c.rows || g.diag(c.code).Count == 0 || g.account.Diagnosed == 0 {
				t.Errorf("%s, %+v: %d rows, %+v", name, opt, len(g.rows), g.diags)
			}
			dump := fmt.Sprint(g.rows, g.account, g.diags)
			if i > 0 && dump != last {
				t.Errorf("%s: %+v gives another result\n%s\n%s", name, opt, dump, last)
			}
			last = dump
			if strings.Contains(dump, "secret") {
				t.Errorf("%s: payload is in the result", name)
			}
		}
	}
}

// TestNotStreamed: without streaming SGLang hands out the first token late; the
// time is what it says, and a diag says what it is.
func TestNotStreamed(t *testing.T) {
	at := func(ms int) string { return fmt.Sprintf(`"%d"`, 1700000000000000000+ms*1000000) }
	for ttft, late := range map[string]int64{"0.103": 0, "0.119": 0, "0.121": 1, "0.131": 1} {
		root := spanText(" Req 1", at(0), at(140), textOf("rid", "1"), seconds("time_to_first_token", ttft), seconds("e2e", "0.14"), integerOf("usage.completion_tokens", 4))
		slices := []string{spanText("prefill_forward", at(50), at(100))}
		for i := range 3 {
			slices = append(slices, spanText("decode_loop", at(100+10*i), at(110+10*i), v{"decode_ct", "intValue", fmt.Sprint(i)}))
		}
		g := read(t, exportText("sglang", "sglang server", append(slices, root)...))
		want(t, g.rows[0], "chunk_gaps=[10000000 10000000 10000000]", "d_decode=30000000")
		if n := g.diag("late_first_token").Count; n != late {
			t.Errorf("ttft %s: %d, %+v", ttft, n, g.diags)
		}
	}
}
