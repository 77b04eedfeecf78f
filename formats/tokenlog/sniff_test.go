package tokenlog

import (
	"strings"
	"testing"

	"servescope/formats"
)

func TestSniff(t *testing.T) {
	const record = `{"request_id":"r1","arrival":1764428000.25,"prompt_tokens":5,"token_timestamps":[1764428001.5]}` + "\n"
	const event = `{"ts":1764428000.25,"request_id":"r1","event":"token"}` + "\n"
	for _, c := range []struct {
		name, text      string
		records, events formats.Score
	}{
		{"records", strings.Repeat(record, 3), formats.Sure, formats.No},
		{"events", strings.Repeat(event, 3), formats.No, formats.Sure},
		{"cut in a long list", record[:len(record)-3] + strings.Repeat(",1764428001.5", 100), formats.Sure, formats.No},
		{"cut in a long prompt", `{"request_id":"r1","arrival":1764428000.25,"prompt_tokens":5,"prompt":"` + strings.Repeat("x", 1000), formats.Likely, formats.No},
		{"spaces", " { \"arrival_ms\" : 5 , \"token_timestamps_ms\" : [ ] }\n", formats.Sure, formats.No},
		{"gaps", `{"sent":1,"first_token":2,"chunk_gaps":[0.5]}`, formats.Sure, formats.No},
		{"no list", `{"arrival":1764428000.25,"finished":1764428001.25}`, formats.Likely, formats.No},
		{"a latency of another name", `{"arrival":1772359200,"request_id":"r","ttft_s":0.5,"latency_s":2,"output_tokens":3}`, formats.No, formats.No},
		{"a beginning of another name", `{"received_at":1772359200,"first_token":1772359201,"finished":1772359202,"request_id":"r"}`, formats.No, formats.No},
		{"times of tokens of another name", `{"arrival":1772359200,"request_id":"r","token_times":[1772359200.5,1772359200.7],"output_tokens":2}`, formats.No, formats.No},
		{"a first token of another name", `{"arrival":1772359200,"finished":1772359202,"request_id":"r","first_token_at":1772359200.5,"output_tokens":2}`, formats.No, formats.No},
		{"an end of another name", `{"arrival":1772359200,"request_id":"r","completed_at":1772359202,"output_tokens":2}`, formats.No, formats.No},
		{"a latency called took", `{"arrival":1772359200,"request_id":"r","took":"1.5s","output_tokens":2}`, formats.No, formats.No},
		{"a latency within", `{"arrival":1772359200,"request_id":"r","timing":{"ttft_ms":80},"output_tokens":2}`, formats.No, formats.No},
		{"a beginning twice", `{"arrival":1772359200,"request_id":"r","prompt_tokens":5,"output_tokens":2,"meta":{"created_at":"2026-03-01T10:00:00Z"}}`, formats.Likely, formats.No},
		{"a stage that is only ours", `{"arrival":1772359200,"queued":1772359200.1,"finished":1772359202,"ttft_ms":300}`, formats.Likely, formats.No},
		{"a first token twice", `{"arrival":1772359200,"first_token":1772359200.3,"finished":1772359202,"ttft_ms":300}`, formats.Likely, formats.No},
		{"a latency more", `{"arrival":1772359200,"finished":1772359201,"gpu_latency":0.5}`, formats.Likely, formats.No},
		{"some keys", `{"id":"x","queued":1764428000.25,"output_tokens":7}`, formats.Maybe, formats.No},
		{"cut in a long prompt before the rest", `{"request_id":"r1","arrival":1764428000.25,"prompt":"` + strings.Repeat("x", 1000), formats.Maybe, formats.No},
		{"one key", `{"id":"x","queued":1764428000.25}`, formats.No, formats.No},
		{"counts only", `{"prompt_tokens":7,"output_tokens":7}`, formats.No, formats.No},
		{"flags of the same names", `{"arrival":true,"queued":false,"finished":true,"output_tokens":3}`, formats.No, formats.No},
		{"among other lines", "banner\n{\"level\":\"info\",\"msg\":\"started\"}\n{\"level\":\"info\"}\n{\"level\":\"info\"}\n" + record, formats.Likely, formats.No},
		{"event without time", `{"request_id":"r1","event":"token"}`, formats.No, formats.Maybe},
		{"another program's events", `{"ts":1764428000.25,"event":"user logged in","request_id":"r1"}`, formats.No, formats.No},
		{"another program's errors", `{"ts":1764428000,"request_id":"u1","event":"login"}` + "\n" + `{"ts":1764428001,"request_id":"u1","event":"http_get"}` + "\n" + `{"ts":1764428001.5,"request_id":"u1","event":"error"}`, formats.No, formats.No},
		{"errors only", `{"ts":1764428001.5,"request_id":"u1","event":"error"}`, formats.No, formats.Maybe},
		{"errors among events", `{"ts":1764428001.5,"request_id":"u1","event":"error"}` + "\n" + event, formats.No, formats.Sure},
		{"structured log", `{"event":"finish","level":"info","timestamp":"2026-01-01T00:00:00Z"}`, formats.No, formats.No},
		{"OTLP", `{"resourceSpans":[{"scopeSpans":[{"spans":[{"name":"llm_request"}]}]}]}`, formats.No, formats.No},
		{"AIPerf", `{"metadata":{"x_request_id":"a","timestamp_ns":1764428000250000000},"metrics":{"time_to_first_token":{"value":1,"unit":"ms"}}}`, formats.No, formats.No},
		{"SGLang bench", `{"backend":"sglang","request_throughput":3.1,"output_lens":[1],"ttfts":[0.1],"itls":[[0.1]],"errors":[""]}`, formats.No, formats.No},
		{"vLLM bench", `{"date":"20260305-083000","ttfts":[0.1],"itls":[[0.1]],"start_times":[5.5],"model_id":"m"}`, formats.No, formats.No},
		{"SGLang requests", `{"request_parameters":"{}","id":"a","queue_time":0.01,"prompt_tokens":4,"cached_tokens":2,"finish_reason":"stop"}`, formats.No, formats.No},
		{"pretty JSON", "{\n  \"arrival\": 1764428000.25,\n  \"token_timestamps\": []\n}\n", formats.No, formats.No},
		{"an array", "[1,2,3]\n", formats.No, formats.No},
		{"text", "INFO 03-01 09:00:00 arrival token_timestamps\n", formats.No, formats.No},
		{"nothing", "", formats.No, formats.No},
	} {
		h := &formats.Head{Start: []byte(c.text)}
		if got, why := sniffRecords(h); got != c.records || why == "" {
			t.Errorf("%s: tokenlog %d (%s), want %d", c.name, got, why, c.records)
		}
		if got, why := sniffEvents(h); got != c.events || why == "" {
			t.Errorf("%s: tokenlog-events %d (%s), want %d", c.name, got, why, c.events)
		}
	}
	h := &formats.Head{Start: []byte("a banner\nof lines\n"), Samples: [][]byte{[]byte("of the middle\n" + record + record)}}
	if got, why := sniffRecords(h); got != formats.Sure {
		t.Errorf("in a sample: %d (%s)", got, why)
	}
}

// TestClass: the class of an error is kept, its text is payload.
func TestClass(t *testing.T) {
	for in, want := range map[string]string{
		"timeout":                        "timeout",
		"ValueError: the prompt was x":   "ValueError",
		"torch.OutOfMemoryError: ...":    "torch.OutOfMemoryError",
		"my secret prompt":               "",
		"my secret prompt: it continues": "",
		"":                               "",
		strings.Repeat("x", 65):          "",
	} {
		if got := string(class([]byte(in))); got != want {
			t.Errorf("%q: %q, want %q", in, got, want)
		}
	}
}

// TestKeys: every column of the requests table is a key of its own name, but for
// the offset, which is not the writer's to say.
func TestKeys(t *testing.T) {
	for name, want := range map[string]bool{
		"request_id": true, "d_decode_queue_us": true, "scheduled_send_ms": true, "arrival_ns": true, "token_timestamps_us": true,
		"chunk_gaps_ms": true, "chunk_tokens": true, "prefill_done": true, "resolution": true, "ts_ms": true,
		"offset": false, "chunk_tokens_ms": false, "prompt": false, "output_tokens_ms": false, "": false, "request_i": false, "request_idd": false,
	} {
		if got := keys.lookup(append([]byte(name), make([]byte, 8)...), 0, len(name)) != nil; got != want {
			t.Errorf("%q is a key: %v, want %v", name, got, want)
		}
	}
}
