package vllmbench

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
)

// fill puts members behind the header that v0.28 writes.
func fill(members string) []byte {
	return []byte(`{"date": "20260205-142233", "endpoint_type": "openai-chat", "backend": "openai-chat", "model_id": "m", "num_prompts": 2, "request_rate": 4.0, "burstiness": 1.0, "max_concurrency": null, ` + members + `}`)
}

// codes lists the codes of the diags, in order.
func codes(r formats.Reader) string {
	var list []string
	for _, d := range r.Diags().All() {
		list = append(list, fmt.Sprintf("%s×%d", d.Code, d.Count))
	}
	slices.Sort(list)
	return strings.Join(list, " ")
}

// noted reports whether a run has a note with the given code.
func noted(m *trace.RunMeta, code string) bool {
	return slices.ContainsFunc(m.Notes, func(s string) bool { return strings.HasPrefix(s, code+": ") })
}

const ms = 1_000_000

// read1 reads a file of one run.
func read1(t *testing.T, text []byte) (*trace.RunMeta, []row, formats.Reader) {
	t.Helper()
	runs, rows, r := read(t, text, formats.Options{Workers: 1})
	if len(runs) != 1 {
		t.Fatalf("%d runs", len(runs))
	}
	return runs[0], rows, r
}

// P01: the client records when the first chunk came, not what was in it.
func TestP01RoleChunk(t *testing.T) {
	text := fill(`"duration": 1, "completed": 1, "input_lens": [9], "output_lens": [3], "ttfts": [0.005], "itls": [[0.209, 0.016, 0.016]], "errors": [""]`)
	m, rows, _ := read1(t, text)
	if q := rows[0]; q.event != 5*ms || q.first != 5*ms || q.last != 246*ms || !slices.Equal(q.gaps, []int64{209 * ms, 16 * ms, 16 * ms}) {
		t.Errorf("%+v", q)
	}
	if !noted(m, "role_chunk_possible") || !noted(m, "chunks_not_tokens") || m.DefaultDefinition != "vllm-2026" {
		t.Errorf("%s %q", m.DefaultDefinition, m.Notes)
	}
	// A completion has no role: the first event is the first token.
	m, rows, _ = read1(t, []byte(strings.ReplaceAll(string(text), "openai-chat", "vllm")))
	if noted(m, "role_chunk_possible") || rows[0].event != -1 {
		t.Errorf("%q", m.Notes)
	}
}

// P05: an empty answer with status 200 has no TTFT, and is no success.
func TestP05ZeroTTFT(t *testing.T) {
	_, rows, r := read1(t, fill(`"duration": 1, "completed": 2, "input_lens": [9, 9], "output_lens": [0, 2], "ttfts": [0.0, 0.1], "itls": [[], [0.02]], "generated_texts": ["", "a b"], "errors": ["", ""]`))
	if q := rows[0]; q.status != trace.Empty || q.first != -1 || q.event != -1 || q.output != -1 {
		t.Errorf("%+v", q)
	}
	if q := rows[1]; q.status != trace.OK || q.first != 100*ms || q.last != 120*ms || q.output != 2 {
		t.Errorf("%+v", q)
	}
	if got := codes(r); got != "silent_failure×1" {
		t.Error(got)
	}
	// Tokens were counted, but no chunk was seen: the TTFT is unknown, not 0.
	_, rows, r = read1(t, fill(`"duration": 1, "completed": 1, "output_lens": [7], "ttfts": [0.0], "itls": [[]], "errors": [""]`))
	if q := rows[0]; q.status != trace.OK || q.first != -1 || q.last != -1 || q.output != 7 || codes(r) != "zero_ttft×1" {
		t.Errorf("%+v %s", q, codes(r))
	}
}

// P08: the wait for the client's own limit is beside the TTFT, not in it.
func TestP08ClientWait(t *testing.T) {
	_, rows, _ := read1(t, fill(`"duration": 2, "completed": 1, "output_lens": [1], "ttfts": [0.2], "itls": [[]], "start_times": [100.0], "queue_times": [1.5], "errors": [""]`))
	if q := rows[0]; q.wait != 1500*ms || q.scheduled != 98_500*ms || q.sent != 100_000*ms || q.first != 100_200*ms {
		t.Errorf("%+v", q)
	}
	// Without start times nothing is known about when, without queue times
	// nothing about the wait.
	_, rows, _ = read1(t, fill(`"duration": 2, "completed": 1, "output_lens": [1], "ttfts": [0.2], "itls": [[]], "queue_times": [1.5], "errors": [""]`))
	if q := rows[0]; q.wait != 1500*ms || q.scheduled != -1 {
		t.Errorf("%+v", q)
	}
	m, rows, _ := read1(t, []byte(strings.Replace(string(fill(`"duration": 2, "completed": 1, "output_lens": [1], "ttfts": [0.2], "itls": [[]], "errors": [""]`)), `"max_concurrency": null`, `"max_concurrency": 2`, 1)))
	if q := rows[0]; q.wait != -1 || q.scheduled != -1 || !noted(m, "client_wait_not_recorded") {
		t.Errorf("%+v %q", q, m.Notes)
	}
}

// P10: one token is a first token; its list of gaps is empty, not null.
func TestP10OneToken(t *testing.T) {
	_, rows, _ := read1(t, fill(`"duration": 1, "completed": 1, "output_lens": [1], "ttfts": [0.08], "itls": [[]], "errors": [""]`))
	if q := rows[0]; q.first != 80*ms || q.last != 80*ms || q.output != 1 || !q.listed || len(q.gaps) != 0 {
		t.Errorf("%+v", q)
	}
}

// P11: a role chunk and then an error event in a stream with status 200. The
// client takes it for a success with a TTFT.
func TestP11StreamedError(t *testing.T) {
	_, rows, _ := read1(t, fill(`"duration": 1, "completed": 1, "output_lens": [0], "ttfts": [0.01], "itls": [[]], "generated_texts": [""], "errors": [""]`))
	if q := rows[0]; q.status != trace.Empty || q.first != -1 || q.event != 10*ms {
		t.Errorf("%+v", q)
	}
	_, rows, _ = read1(t, fill(`"duration": 1, "completed": 0, "output_lens": [0], "ttfts": [0.01], "itls": [[]], "generated_texts": [""], "errors": ["Never received a valid chunk to calculate TTFT.This response will be marked as failed!"]`))
	if q := rows[0]; q.status != trace.Failed || q.class != "no valid chunk" {
		t.Errorf("%+v", q)
	}
}

// P12: the TTFT is the first entry of the gaps.
func TestP12TTFTInGaps(t *testing.T) {
	_, rows, r := read1(t, fill(`"duration": 1, "completed": 2, "output_lens": [3, 3], "ttfts": [0.2, 0.3], "itls": [[0.2, 0.01, 0.01], [0.3, 0.01, 0.02]], "latencies": [0.22, 0.33], "errors": ["", ""]`))
	if q := rows[0]; !slices.Equal(q.gaps, []int64{10 * ms, 10 * ms}) || q.last != 220*ms || q.finished != 220*ms {
		t.Errorf("%+v", q)
	}
	if got := codes(r); got != "ttft_in_itls×2" {
		t.Error(got)
	}
	// Gaps as long as the TTFT that add up to the rest of the latency are gaps.
	_, rows, r = read1(t, fill(`"duration": 1, "completed": 2, "output_lens": [3, 3], "ttfts": [0.2, 0.3], "itls": [[0.2, 0.2], [0.3, 0.3]], "latencies": [0.6, 0.9], "errors": ["", ""]`))
	if len(rows[0].gaps) != 2 || codes(r) != "" {
		t.Errorf("%+v %s", rows[0], codes(r))
	}
	// So are two equal stamps in one request, when no latency tells.
	_, rows, r = read1(t, fill(`"duration": 1, "completed": 3, "output_lens": [3, 3, 3], "ttfts": [0.02, 0.3, 0.3], "itls": [[0.02, 0.02], [0.02, 0.02], [0.02, 0.02]], "errors": ["", "", ""]`))
	if len(rows[0].gaps) != 2 || codes(r) != "" {
		t.Errorf("%+v %s", rows[0], codes(r))
	}
}

// P13: chunks of several tokens: the gaps are of chunks, the count of tokens.
func TestP13ChunksOfTokens(t *testing.T) {
	m, rows, _ := read1(t, fill(`"duration": 1, "completed": 1, "output_lens": [8], "ttfts": [0.1], "itls": [[0.03, 0.03]], "errors": [""]`))
	if q := rows[0]; q.output != 8 || len(q.gaps) != 2 || q.last-q.first != 60*ms {
		t.Errorf("%+v", q)
	}
	if !noted(m, "chunks_not_tokens") {
		t.Errorf("%q", m.Notes)
	}
}

// P17: who counted the tokens is on the row.
func TestP17TokenSource(t *testing.T) {
	for backend, want := range map[string]bool{"openai": false, "openai-chat": false, "tgi": true, "tensorrt-llm": true} {
		m, _, _ := read1(t, []byte(strings.ReplaceAll(string(fill(`"duration": 1, "completed": 1, "output_lens": [8], "ttfts": [0.1], "itls": [[0.03]], "errors": [""]`)), "openai-chat", backend)))
		if noted(m, "client_counts") != want {
			t.Errorf("%s: %q", backend, m.Notes)
		}
	}
}

// P24: what the client's own figures are of is said beside them.
func TestP24PeakOfChunks(t *testing.T) {
	m, _, _ := read1(t, fill(`"duration": 1.5, "completed": 2, "output_throughput": 847.7, "max_output_tokens_per_s": 645.0, "max_concurrent_requests": 6`))
	if !noted(m, "peak_counts_chunks") || !noted(m, "coarse_peak_concurrency") || m.Duration != 1500*ms {
		t.Errorf("%d %q", m.Duration, m.Notes)
	}
	for _, rep := range m.Reported {
		if rep.Key == "max_output_tokens_per_s" && rep.Metric != "" {
			t.Errorf("a peak of chunks stands beside our %s", rep.Metric)
		}
	}
}

// P26: the client's rates are over its own duration, which is on the run; a
// failed request's time-out is in it.
func TestP26Duration(t *testing.T) {
	m, _, _ := read1(t, fill(`"duration": 19.000000001, "completed": 10, "request_throughput": 0.5263157894460, "output_lens": [5], "ttfts": [9], "itls": [[0.25]], "errors": [""]`))
	if m.Duration != 19_000_000_001 || !m.HasDuration || m.Reported[1].Metric != "request_rate_ok" || m.Reported[1].Unit != "requests/s" {
		t.Errorf("%d, %+v", m.Duration, m.Reported)
	}
	m, _, _ = read1(t, fill(`"duration": NaN, "completed": 10`))
	if m.HasDuration {
		t.Errorf("a duration of NaN became %d", m.Duration)
	}
}

// P58: start_times are no epochs.
func TestP58StartTimes(t *testing.T) {
	for start, want := range map[string]trace.ClockKind{"412345.678, 412346.250": trace.Monotonic, "0.0004, 0.572": trace.RunClock, "9.5, 10.25": trace.Monotonic} {
		m, rows, _ := read1(t, fill(`"duration": 1, "completed": 2, "output_lens": [1, 1], "ttfts": [0.1, 0.1], "itls": [[], []], "errors": ["", ""], "start_times": [`+start+`]`))
		if m.Clock.Kind != want || noted(m, "monotonic_start_times") != (want == trace.Monotonic) || rows[0].clock != "" {
			t.Errorf("%s: clock %s, %q", start, m.Clock, m.Notes)
		}
		if gap := rows[1].sent - rows[0].sent; start[0] == '4' && gap != 572*ms {
			t.Errorf("%s: %d ns apart", start, gap)
		}
	}
}

// P81: literals that are not JSON, and two objects back to back.
func TestP81NotJSON(t *testing.T) {
	runs, rows, r := read(t, []byte(`{"model_id": "m", "num_prompts": 1, "request_rate": Infinity, "mean_tpot_ms": NaN, "std_tpot_ms": -Infinity, "completed": 1, "output_lens": [3], "ttfts": [0.1], "itls": [[0.01, NaN]], "errors": [""]}{"model_id": "m", "num_prompts": 1, "request_rate": "inf", "completed": 1, "mean_tpot_ms": 5}`), formats.Options{})
	if len(runs) != 2 || len(rows) != 1 || len(runs[0].Reported) != 1 || runs[0].Config[2] != (trace.Pair{Key: "request_rate", Value: "inf"}) {
		t.Fatalf("%d runs, %d rows, %+v", len(runs), len(rows), runs[0])
	}
	if rep := runs[1].Reported[1]; rep.Metric != "tpot" || rep.Value != 5*ms {
		t.Errorf("%+v", rep)
	}
	if q := rows[0]; q.listed || q.last != -1 || q.first != 100*ms || codes(r) != "bad_gaps×1 no_requests×1" {
		t.Errorf("%+v %s", q, codes(r))
	}
}

// P85: failed requests keep what was measured, under their status.
func TestP85Failures(t *testing.T) {
	var out, ttft, itl, errs []string
	for i := range 10 {
		failed := i >= 8
		out = append(out, map[bool]string{false: "2", true: "0"}[failed])
		ttft = append(ttft, map[bool]string{false: "0.5", true: "59.0"}[failed])
		itl = append(itl, map[bool]string{false: "[0.5]", true: "[1.0]"}[failed])
		errs = append(errs, map[bool]string{false: `""`, true: `"Traceback (most recent call last):\n  File \"x.py\"\nasyncio.exceptions.TimeoutError\n"`}[failed])
	}
	join := func(s []string) string { return "[" + strings.Join(s, ", ") + "]" }
	_, rows, _ := read1(t, fill(`"duration": 60, "completed": 8, "failed": 2, "output_lens": `+join(out)+`, "ttfts": `+join(ttft)+`, "itls": `+join(itl)+`, "errors": `+join(errs)))
	for i, q := range rows {
		want := row{status: trace.OK, first: 500 * ms, last: 1000 * ms, output: 2}
		if i >= 8 {
			want = row{status: trace.Failed, class: "timeout", first: 59_000 * ms, last: 60_000 * ms, output: -1}
		}
		if q.status != want.status || q.class != want.class || q.first != want.first || q.last != want.last || q.output != want.output {
			t.Errorf("request %d: %+v", i, q)
		}
	}
}

// P07: fewer TTFTs than requests. An array of another length is not used,
// wherever it stands.
func TestP07FewerTTFTs(t *testing.T) {
	_, rows, r := read1(t, fill(`"errors": ["", "x", ""], "itls": [[0.01], [0.02]], "ttfts": [0.1, 0.2], "duration": 1, "output_lens": [2, 0, 2], "completed": 2, "input_lens": [5, 6, 7]`))
	if len(rows) != 3 || codes(r) != "array_length×2" {
		t.Fatalf("%d rows, %s", len(rows), codes(r))
	}
	for i, q := range rows {
		if q.first != -1 || q.listed || q.prompt != int64(5+i) {
			t.Errorf("request %d: %+v", i, q)
		}
	}
}

// TestCut: what is missing is null, and a status that is not in the text is
// not invented, but may follow from the client's count of successes.
func TestCut(t *testing.T) {
	whole := string(fill(`"duration": 1, "completed": 1, "failed": 1, "input_lens": [5, 6], "output_lens": [2, 0], "ttfts": [0.1, 0.2], "itls": [[0.01], [0.02]], "errors": ["", "x"]`))
	for cut, want := range map[string]string{
		`"errors": ["`: "open open", `"errors": ["", `: "ok open", `"errors": ["", "x"`: "ok failed",
		`"itls": [[0.01`: "open open", `"input_lens": [5, 6`: "open",
	} {
		_, rows, r := read1(t, []byte(whole[:strings.Index(whole, cut)+len(cut)]))
		var got []string
		for _, q := range rows {
			got = append(got, trace.Requests.Fields[trace.StatusCol].Values[q.status])
		}
		if strings.Join(got, " ") != want || !strings.Contains(codes(r), "truncated×1") {
			t.Errorf("cut behind %s: %q, want %q; %s", cut, got, want, codes(r))
		}
	}
	all := strings.Replace(whole, `"completed": 1, "failed": 1`, `"completed": 2, "failed": 0`, 1)
	_, rows, _ := read1(t, []byte(all[:strings.Index(all, `"errors"`)]))
	if rows[0].status != trace.OK || rows[0].last != 110*ms {
		t.Errorf("all succeeded by the client's count: %+v", rows[0])
	}
}

func TestDefinition(t *testing.T) {
	for header, want := range map[string]string{
		`"best_of": 1, "use_beam_search": false`:                       "vllm-2024",
		`"best_of": 1, "burstiness": 1.0, "date": "20241105-120000"`:   "vllm-2024 dated",
		`"best_of": 1, "burstiness": 1.0, "date": "20250325-230228"`:   "vllm-2026 dated",
		`"best_of": 1, "burstiness": 1.0, "request_goodput:": null`:    "vllm-2024 dated",
		`"burstiness": 1.0, "request_goodput:": null`:                  "vllm-2026",
		`"best_of": 1, "burstiness": 1.0, "endpoint_type": "vllm"`:     "vllm-2026",
		`"burstiness": 1.0, "start_times": [1.5]`:                      "vllm-2026",
		`"best_of": 1, "total_token_throughput": 1.0, "duration": 1.0`: "vllm-2024",
	} {
		m, _, _ := read1(t, []byte(`{"model_id": "m", "num_prompts": 1, "completed": 1, `+header+`}`))
		got := m.DefaultDefinition
		if noted(m, "definition_by_date") {
			got += " dated"
		}
		if got != want {
			t.Errorf("%s: %s, want %s", header, got, want)
		}
	}
}

// TestNothingPrivate: neither texts nor keys that give access reach the run.
func TestNothingPrivate(t *testing.T) {
	runs, _, r := read(t, fill(`"duration": 1, "completed": 1, "api_key": "SECRET", "system_prompt": "SECRET", "long": "`+strings.Repeat("SECRET", 100)+`", "output_lens": [0], "ttfts": [0.1], "itls": [[]], "generated_texts": ["SECRET"], "errors": ["Bad Request: SECRET"]`), formats.Options{})
	if s := fmt.Sprintf("%+v %+v", *runs[0], r.Diags().All()); strings.Contains(s, "SECRET") {
		t.Error(s)
	}
}

// P85: latencies of 0 over no request are no measurements; rates of 0 are.
func TestP85NothingSucceeded(t *testing.T) {
	failed := `"duration": 1, "completed": 0, "failed": 8, "request_throughput": 0.0, "mean_ttft_ms": 0.0, "p99_ttft_ms": 0.0, "mean_tpot_ms": NaN`
	m, rows, _ := read1(t, fill(failed))
	var keys []string
	for _, rep := range m.Reported {
		keys = append(keys, rep.Key)
	}
	if got := strings.Join(keys, " "); got != "completed failed request_throughput" || len(rows) != 0 || !noted(m, "nothing_succeeded") || !strings.Contains(m.Notes[len(m.Notes)-1], "its 2 latencies") {
		t.Errorf("%s, %q", got, m.Notes)
	}
	if !strings.HasSuffix(m.NoRequests, "to see why the requests failed") {
		t.Error(m.NoRequests)
	}
	m, _, _ = read1(t, fill(strings.Replace(failed, `"completed": 0`, `"completed": 1`, 1)))
	if len(m.Reported) != 5 || noted(m, "nothing_succeeded") {
		t.Errorf("one succeeded: %+v, %q", m.Reported, m.Notes)
	}
}
