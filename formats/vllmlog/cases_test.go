package vllmlog

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// TestP32: aborted requests are rows, each once, although both the engine and
// the frontend say so.
func TestP32(t *testing.T) {
	var b strings.Builder
	for i := range 5 {
		fmt.Fprintf(&b, "(APIServer pid=1) INFO 03-01 09:00:0%d [logger.py:57] Received request chatcmpl-b-%d: params: SamplingParams(n=1, max_tokens=128, stop=['\\n']), lora_request: None.\n", i, i)
		fmt.Fprintf(&b, "(APIServer pid=1) INFO 03-01 09:00:0%d [async_llm.py:360] Added request chatcmpl-b-%d-0d41c2a%d.\n", i, i, i)
	}
	b.WriteString("(APIServer pid=1) INFO 03-01 09:00:09 [async_llm.py:541] Aborted request(s) chatcmpl-b-0-0d41c2a0,chatcmpl-b-1-0d41c2a1.\n")
	for _, i := range []int{0, 1, 2, 3, 4} {
		fmt.Fprintf(&b, "(APIServer pid=1) INFO 03-01 09:00:1%d [async_llm.py:421] Request chatcmpl-b-%d aborted.\n", i, i)
	}
	b.WriteString("(APIServer pid=1) INFO 03-01 09:00:19 [async_llm.py:541] Aborted request(s) chatcmpl-b-4-0d41c2a4.\n")
	res := readText(t, b.String(), given)
	var want []string
	for i := range 5 {
		finished := at("09:00:09")
		if i >= 2 {
			finished = at(fmt.Sprintf("09:00:1%d", i))
		}
		want = append(want, fmt.Sprintf("dispatched=%d finished=%d max_tokens=128 n_choices=1 received=%d request_id=chatcmpl-b-%d resolution=1000000000 status=aborted",
			at(fmt.Sprintf("09:00:0%d", i)), finished, at(fmt.Sprintf("09:00:0%d", i)), i))
	}
	check(t, "request", res.requests, want...)
	if a := res.account; a.Parsed != 17 || a.Total != 17 || len(res.diags) != 0 {
		t.Errorf("account %+v, diags %v", a, res.diags)
	}
}

// TestP33: a request that does not end in the log is open, without an end.
func TestP33(t *testing.T) {
	res := readText(t, `INFO 03-01 17:00:00 [logger.py:57] Received request r9: prompt: 'x', params: SamplingParams(n=1), prompt_token_ids: None, lora_request: None.
INFO 03-01 17:00:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
INFO 03-01 17:00:03 [loggers.py:1] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 0 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%, Prefix cache hit rate: 0.0%
INFO 03-01 17:15:00 [launcher.py:1] Shutting down
`, given)
	check(t, "request", res.requests, fmt.Sprintf("n_choices=1 received=%d request_id=r9 resolution=1000000000 status=open", at("17:00:00")))
	if len(res.steps) != 2 || res.steps[0]["running"] != int64(1) || res.steps[1]["running"] != int64(0) || res.steps[1]["t"] != at("17:00:03") {
		t.Errorf("steps %v", res.steps)
	}
}

// TestP34: steps that only decode and those that also prefill are told apart, so
// that one mean over both is not needed.
func TestP34(t *testing.T) {
	var b strings.Builder
	for i := range 1050 {
		context, tokens, ms := 0, 0, 34
		if i%21 == 20 {
			context, tokens, ms = 1, 4096, 1200
		}
		fmt.Fprintf(&b, "(EngineCore_DP0 pid=1) INFO 03-01 09:00:%02d [core.py:359] Iteration(%d): %d context requests, %d context tokens, 8 generation requests, 8 generation tokens, iteration elapsed time: %d.00 ms\n",
			i/100, i, context, tokens, ms)
	}
	res := readText(t, b.String(), given)
	sum, count := make(map[any]int64), make(map[any]int64)
	var all []int64
	for _, r := range res.steps {
		if r["quantity"] != "elapsed" {
			t.Fatalf("quantity %v", r["quantity"])
		}
		sum[r["kind"]] += r["duration"].(int64)
		count[r["kind"]]++
		all = append(all, r["duration"].(int64))
	}
	slices.Sort(all)
	if count["decode"] != 1000 || count["mixed"] != 50 || len(count) != 2 {
		t.Fatalf("steps by kind: %v", count)
	}
	if d, m := sum["decode"]/1000, sum["mixed"]/50; d != 34e6 || m != 1200e6 || all[525] != 34e6 {
		t.Errorf("decode %d ns, mixed %d ns, median %d ns", d, m, all[525])
	}
	if total := sum["decode"] + sum["mixed"]; math.Round(float64(total)/1050/1e5) != 895 || math.Round(100*float64(sum["mixed"])/float64(total)) != 64 {
		t.Errorf("mean %v ms, mixed share %v", float64(total)/1050/1e6, float64(sum["mixed"])/float64(total))
	}
}

// TestP36: the printed hit rate is named after what it is.
func TestP36(t *testing.T) {
	res := readText(t, `INFO 03-01 09:00:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%
INFO 03-01 09:00:10 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 10.0%
`, given)
	if r := res.run.Reported; len(r) != 1 || r[0].Key != "hit_rate_last_1000_requests" || r[0].Value != 0.1 {
		t.Errorf("reported %+v", r)
	}
	for _, r := range res.steps {
		if _, ok := r["cached_tokens"]; ok {
			t.Errorf("cached tokens were invented: %v", r)
		}
	}
}

// stats is a line of statistics with the given stamp.
func stats(stamp string) string {
	return "INFO " + stamp + " [loggers.py:87] Engine 000: Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 2.5 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.0%, Prefix cache hit rate: 6.0%\n"
}

// times gives the times of the steps, in UTC.
func times(res *result) string {
	var list []string
	for _, r := range res.steps {
		if v, ok := r["t"].(int64); ok {
			list = append(list, time.Unix(0, v).UTC().Format("2006-01-02T15:04:05.999999999"))
		} else {
			list = append(list, "-")
		}
	}
	return strings.Join(list, " ")
}

// dated is a source with a modification time.
type dated struct {
	formats.Source
	mod time.Time
}

func (d dated) ModTime() time.Time { return d.mod }

func TestP39(t *testing.T) {
	f := func(text string, opt formats.Options, mod string, want string, code string) {
		t.Helper()
		src := dated{Source: source.FromBytes("server.log", []byte(text))}
		if mod != "" {
			src.mod, _ = time.Parse(time.RFC3339, mod)
		}
		res := read(t, src, opt)
		if got := times(res); got != want {
			t.Errorf("%q with %+v, file of %s: %s, want %s", text, opt.Year, mod, got, want)
		}
		if _, ok := res.diags[code]; code != "" && !ok {
			t.Errorf("%q: diags %v, want %s", text, res.diags, code)
		}
		for _, r := range res.steps {
			if v, ok := r["resolution"]; ok && v != int64(1e9) {
				t.Errorf("resolution %v", v)
			}
		}
	}
	eve := stats("12-31 23:59:59") + stats("01-01 00:00:01")
	utc := formats.Options{TZ: time.UTC}
	of := func(year int) formats.Options { return formats.Options{TZ: time.UTC, Year: year} }
	f(eve, of(2025), "", "2025-12-31T23:59:59 2026-01-01T00:00:01", "")
	f(eve, utc, "2026-01-01T00:00:05Z", "2025-12-31T23:59:59 2026-01-01T00:00:01", "year_assumed")
	f(eve, utc, "2025-12-31T16:00:02Z", "2025-12-31T23:59:59 2026-01-01T00:00:01", "year_assumed") // a zone ahead of UTC
	f(eve, utc, "", "1970-01-01T00:00:00 1970-01-01T00:00:02", "no_year")
	f(stats("01-01 00:00:01")+stats("12-31 23:59:59"), of(2026), "", "2026-01-01T00:00:01 2025-12-31T23:59:59", "clock_back"[:0]) // a writer that lags
	f(stats("10-15 00:00:00")+stats("01-10 00:00:00"), of(2025), "", "2025-10-15T00:00:00 2026-01-10T00:00:00", "")
	// A line with a year tells that of the others, also when it comes later.
	f(stats("03-01 09:00:00")+"2019-03-01 09:00:07,100 - INFO - autotuner.py:4 - flashinfer.jit: x\n", utc, "2026-01-01T00:00:05Z", "2019-03-01T09:00:00", "")
	f(stats("03-01 09:00:00")+"2019-06-01 09:00:07,100 - INFO - autotuner.py:4 - flashinfer.jit: x\n", utc, "2026-01-01T00:00:05Z", "2025-03-01T09:00:00", "year_assumed") // too far away
	// The 29th of February.
	f(stats("02-29 10:00:00"), of(2025), "", "-", "no_such_day")
	f(stats("02-28 10:00:00")+stats("02-29 10:00:00"), of(2025), "", "2025-02-28T10:00:00 -", "no_such_day")
	f(stats("02-29 10:00:00"), of(2024), "", "2024-02-29T10:00:00", "")
	f(stats("02-29 10:00:00"), utc, "2026-01-01T00:00:05Z", "2024-02-29T10:00:00", "year_assumed")
	f(stats("02-28 23:59:59")+stats("02-29 00:00:00"), utc, "", "1970-01-01T00:00:00 1970-01-01T00:00:01", "no_year")
	f(stats("02-30 10:00:00")+stats("03-01 10:00:00"), of(2024), "", "- 2024-03-01T10:00:00", "no_such_day")
	if d := readText(t, stats("02-29 10:00:00"), of(2025)).diags["no_such_day"]; d.Severity != diag.Error {
		t.Errorf("no_such_day is %v", d.Severity)
	}
}

func TestP40(t *testing.T) {
	la, err := time.LoadLocation("America/Los_Angeles")
	if err != nil {
		t.Skip(err)
	}
	f := func(text string, opt formats.Options, want, code string) *result {
		t.Helper()
		res := readText(t, text, opt)
		if got := times(res); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
		if _, ok := res.diags[code]; code != "" && !ok {
			t.Errorf("%q: diags %v, want %s", text, res.diags, code)
		}
		return res
	}
	west := formats.Options{Year: 2025, TZ: la}
	// (a) the zone moves the times, and is named.
	res := f(stats("07-01 01:00:00"), west, "2025-07-01T08:00:00", "")
	if !slices.ContainsFunc(res.run.Notes, func(s string) bool { return strings.Contains(s, "America/Los_Angeles") }) {
		t.Errorf("notes %q do not name the zone", res.run.Notes)
	}
	f(stats("07-01 01:00:00"), formats.Options{Year: 2025}, "2025-07-01T01:00:00", "zone_assumed")
	// (b) the hour that comes twice: 4 s forward, not an hour back.
	f(stats("11-02 00:59:58")+stats("11-02 01:59:58")+stats("11-02 01:00:02")+stats("11-02 01:59:59")+stats("11-02 02:00:01"), west,
		"2025-11-02T07:59:58 2025-11-02T08:59:58 2025-11-02T09:00:02 2025-11-02T09:59:59 2025-11-02T10:00:01", "")
	f(stats("11-02 01:59:58")+stats("11-02 01:00:02"), west, "2025-11-02T08:59:58 2025-11-02T09:00:02", "ambiguous_time")
	f(stats("11-02 01:59:58")+stats("11-02 01:00:02"), formats.Options{Year: 2025}, "2025-11-02T01:59:58 2025-11-02T01:00:02", "clock_back")
	// (c) the hour that does not exist.
	f(stats("03-09 01:59:59")+stats("03-09 02:30:00")+stats("03-09 03:00:01"), west, "2025-03-09T09:59:59 - 2025-03-09T10:00:01", "no_such_time")
	// (d) the stamps of the container runtime.
	cri := "2026-03-05T06:30:10.125Z stdout F " + strings.Replace(stats("03-05 08:30:10"), "\n", "\n2026-03-05T06:30:20.5Z stdout F ", 1) + stats("03-05 08:30:20") + stats("03-05 08:30:30")
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("pod.log", []byte(cri)), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res = read(t, in.List[0].Source, formats.Options{})
	if got, want := times(res), "2026-03-05T06:30:10.125 2026-03-05T06:30:20.5 2026-03-05T06:30:30"; got != want {
		t.Errorf("framed: %s, want %s", got, want)
	}
	if !slices.ContainsFunc(res.run.Notes, func(s string) bool { return strings.Contains(s, "+02:00") }) {
		t.Errorf("notes %q do not name the offset", res.run.Notes)
	}
	if r := res.steps[0]; r["resolution"] != int64(1e6) || r["offset"] != int64(0) || res.steps[1]["offset"] != int64(len(stats("03-05 08:30:10"))) {
		t.Errorf("steps %v", res.steps)
	}
	// The same stamps in front of lines, as kubectl logs --timestamps prints them.
	f("2026-03-05T06:30:10.125Z "+stats("03-05 08:30:10")+stats("03-05 08:30:20"), formats.Options{}, "2026-03-05T06:30:10.125 2026-03-05T06:30:20", "")
}

// TestP43: one line of each generation of prefixes gives the same record.
func TestP43(t *testing.T) {
	const msg = "Avg prompt throughput: 0.0 tokens/s, Avg generation throughput: 2.5 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.0%\n"
	want := fmt.Sprintf("generation_tps=2.5 kind=window kv_usage=0.05 prompt_tps=0 resolution=1000000000 running=3 t=%d waiting=4", at("09:00:00"))
	engine := strings.Replace(want, "generation_tps", "dp=0 generation_tps", 1)
	engine = strings.Replace(engine, "resolution", "replica=0 resolution", 1)
	for _, head := range []string{"INFO 03-01 09:00:00 metrics.py:411] ", "INFO 03-01 09:00:00 [loggers.py:87] ", "(APIServer pid=1) INFO 03-01 09:00:00 [loggers.py:87] ",
		"(APIServer pid=1) INFO 03-01 09:00:00 [v1/metrics/loggers.py:87] ", "(RustFrontend pid=1) INFO 03-01 09:00:00 [loggers.rs:87] ", "DEBUG 03-01 09:00:00 [loggers.py:87] "} {
		check(t, head, readText(t, head+msg, given).steps, want)
		check(t, head, readText(t, head+"Engine 000: "+msg, given).steps, engine)
		check(t, head, readText(t, head+strings.Replace(msg, "Waiting", "Pending", 1), given).steps, want)
	}
	for _, head := range []string{"(EngineCore_0 pid=1) INFO 03-01 09:00:00 [x.py:1] ", "(EngineCore_DP0 pid=1) INFO 03-01 09:00:00 [x.py:1] "} {
		check(t, head, readText(t, head+msg, given).steps, engine)
	}
	check(t, "EngineCore", readText(t, "(EngineCore pid=1) INFO 03-01 09:00:00 [x.py:1] "+msg, given).steps, want)
	// A future field is kept in a diag, whatever its place.
	res := readText(t, "INFO 03-01 09:00:00 [x.py:1] "+strings.Replace(msg, "Running: ", "Some new thing: 12.5 GiB, Running: ", 1), given)
	check(t, "new field", res.steps, want)
	if d := res.diags["unknown_field"]; d.Count != 1 || !strings.Contains(d.Msg, `"Some new thing" (1)`) {
		t.Errorf("unknown_field: %+v", d)
	}
}

// TestP47: a line that the runtime has cut is one record, at the time of its first part.
func TestP47(t *testing.T) {
	line := strings.TrimSuffix(stats("03-01 09:00:00"), "\n")
	text := "2026-03-01T09:00:00.1Z stdout P " + line[:60] + "\n2026-03-01T09:00:00.2Z stderr F something else\n2026-03-01T09:00:00.3Z stdout P " + line[60:90] + "\n2026-03-01T09:00:00.4Z stdout F " + line[90:] + "\n"
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("pod.log", []byte(text)), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	res := read(t, in.List[0].Source, formats.Options{})
	if len(res.steps) != 1 || res.steps[0]["t"] != at("09:00:00.1") || res.steps[0]["running"] != int64(3) || res.account.Total != 2 {
		t.Errorf("steps %v, account %+v", res.steps, res.account)
	}
}

// TestP48: engines that print nothing are missed.
func TestP48(t *testing.T) {
	text := "(APIServer pid=1) INFO 03-01 08:59:00 [utils.py:1] non-default args: {'data_parallel_size': 16, 'model': 'm'}\n" +
		stats("03-01 09:00:00") + strings.Replace(stats("03-01 09:00:10"), "Engine 000", "Engine 003", 1)
	res := readText(t, text, given)
	if want := "2 of 16 engines report: cluster totals not computed; per-engine values only"; !slices.Contains(res.run.Notes, want) {
		t.Errorf("notes %q", res.run.Notes)
	}
	if res.steps[0]["replica"] != "0" || res.steps[1]["replica"] != "3" || res.diags["engines_missing"].Count != 1 {
		t.Errorf("steps %v, diags %v", res.steps, res.diags)
	}
	for i := range 16 {
		text += strings.Replace(stats("03-01 09:00:20"), "Engine 000", fmt.Sprintf("Engine %03d", i), 1)
	}
	if res = readText(t, text, given); res.diags["engines_missing"].Count != 0 {
		t.Errorf("all engines report, and yet: %v", res.run.Notes)
	}
	// A dummy step is a step, without sequences.
	res = readText(t, "(EngineCore_DP1 pid=1) INFO 03-01 09:00:00 [core.py:1] Iteration(91): 0 context requests, 0 context tokens, 0 generation requests, 0 generation tokens, iteration elapsed time: 3.00 ms (dummy)\n", given)
	check(t, "dummy", res.steps, fmt.Sprintf("context_requests=0 decode_tokens=0 dp=1 duration=3000000 kind=dummy prefill_tokens=0 quantity=elapsed replica=1 resolution=1000000000 running=0 step=91 t=%d", at("09:00:00")))
}

// TestP49: text of a user that looks like a line of the server is none, or at most
// suspicious, and gets nowhere.
func TestP49(t *testing.T) {
	const fake = "INFO 01-01 00:00:00 [loggers.py:87] Engine 000: Avg prompt throughput: 9e9 tokens/s, Avg generation throughput: 9e9 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%"
	const real = "INFO 01-01 00:00:00 [loggers.py:87] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 9.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.0%"
	f := func(text string, steps, requests int, codes ...string) *result {
		t.Helper()
		res := readText(t, text, given)
		if len(res.steps) != steps || len(res.requests) != requests {
			t.Errorf("%.300q: %d steps and %d requests, want %d and %d", text, len(res.steps), len(res.requests), steps, requests)
		}
		for _, c := range codes {
			if res.diags[c].Count == 0 {
				t.Errorf("%.300q: no %s among %v", text, c, res.diags)
			}
		}
		for _, d := range res.diags {
			if strings.Contains(d.Msg, "secret") {
				t.Errorf("a diag quotes payload: %q", d.Msg)
			}
		}
		return res
	}
	received := func(id, quoted string) string {
		return "INFO 03-01 09:00:00 [logger.py:57] Received request " + id + ": prompt: " + quoted + ", params: SamplingParams(n=1, max_tokens=7), prompt_token_ids: [1, 2], lora_request: None.\n"
	}
	// Escaped, as Python prints it.
	for _, text := range []string{fake, real} {
		f(received("r1", `'hi\n`+text+`'`), 0, 1)
		f(received("r1", `"it's\n`+text+`"`), 0, 1)
		f(received("r1", `'it\'s '' secret\n`+text+`'`), 0, 1)
		f("INFO 03-01 09:00:00 [logger.py:89] Generated response r1: output: '"+text+" secret', finish_reason: stop\n", 0, 1)
	}
	// Not escaped: the rest of the quote is not read as lines of the server, up to
	// the next head; a head cannot be told from one of the server.
	f(received("r1", "'my secret\nAvg prompt throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs\nmore secret words\nend'"), 0, 1, "payload_line")
	f(received("r1", "'hi\n"+fake+"'"), 0, 1, "suspicious_value")
	// As an id.
	res := f(received(strings.Repeat("x", 1<<20), "'hi'"), 0, 0)
	if res.account.Total != 1 {
		t.Errorf("account %+v", res.account)
	}
	long := strings.Repeat("y", 10000)
	if res := f(received(long, "'hi'"), 0, 1); len(res.requests[0]["request_id"].(string)) != trace.MaxText {
		t.Errorf("an id of %d bytes", len(res.requests[0]["request_id"].(string)))
	}
	// Markup stays text: it is the id that the client chose.
	if res := f(received("<script>alert(1)</script>", "'hi'"), 0, 1); res.requests[0]["request_id"] != "<script>alert(1)</script>" {
		t.Errorf("requests %v", res.requests)
	}
}

// TestP58: a number that is no time since 1970 gives no date.
func TestP58(t *testing.T) {
	msg := `"message": "Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 2.0 tokens/s, Running: 3 reqs, Waiting: 4 reqs, GPU KV cache usage: 5.0%"}` + "\n"
	f := func(stamp, want string) {
		t.Helper()
		if got := times(readText(t, `{"ts": `+stamp+`, `+msg, formats.Options{})); got != want {
			t.Errorf("%s is %s, want %s", stamp, got, want)
		}
	}
	f("412345.678", "-")
	f("353399", "-")
	f("1772355600.25", "2026-03-01T09:00:00.25")
	f("1772355600123", "2026-03-01T09:00:00.123")
	f(`"1772355600"`, "2026-03-01T09:00:00")
	f("-1", "-")
	f("null", "-")
}

// TestChunks: the lines of streamed chunks give gaps where their stamps are fine
// enough, and none where they are not.
func TestChunks(t *testing.T) {
	line := func(ms int, msg string) string {
		return fmt.Sprintf("2026-03-01 09:00:00,%03d INFO vllm.entrypoints.logger: %s\n", ms, msg)
	}
	delta := "Generated response r1 (streaming delta): output: ' a', output_token_ids: [1], finish_reason: None"
	res := readText(t, line(100, "Received request r1: params: SamplingParams(n=1, max_tokens=9), lora_request: None.")+line(150, "Added request r1-0d41c2aa.")+
		line(250, delta)+line(270, delta)+line(300, delta)+line(301, "Generated response r1 (streaming complete): output: ' a a a', output_token_ids: None, finish_reason: streaming_complete"), formats.Options{})
	start := at("09:00:00.1")
	check(t, "request", res.requests, fmt.Sprintf("chunk_gaps=[20000000 30000000] dispatched=%d finished=%d first_token=%d last_token=%d max_tokens=9 n_choices=1 output_tokens=3 output_tokens_source=chunks received=%d request_id=r1 resolution=1000000 status=ok stream=true",
		start+50e6, start+201e6, start+150e6, start+200e6, start))
	res = readText(t, "INFO 03-01 09:00:00 [logger.py:1] Received request r1: params: SamplingParams(n=1), lora_request: None.\nINFO 03-01 09:00:01 [logger.py:1] "+delta+"\nINFO 03-01 09:00:02 [logger.py:1] "+delta+"\n", given)
	check(t, "request", res.requests, fmt.Sprintf("n_choices=1 received=%d request_id=r1 resolution=1000000000 status=open", at("09:00:00")))
	if res.diags["coarse_stamps"].Count != 2 {
		t.Errorf("diags %v", res.diags)
	}
}

// TestNames: the names of a request in different lines are one request, and only
// where there is such a request.
func TestNames(t *testing.T) {
	received := func(id string) string {
		return "INFO 03-01 09:00:00 [logger.py:1] Received request " + id + ": params: SamplingParams(), lora_request: None.\n"
	}
	f := func(text string, want ...string) {
		t.Helper()
		var got []string
		for _, r := range readText(t, text, given).requests {
			got = append(got, fmt.Sprint(r["request_id"], " ", r["status"]))
		}
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	line := func(msg string) string { return "INFO 03-01 09:00:01 [async_llm.py:1] " + msg + "\n" }
	f(received("a")+line("Aborted request(s) a-0d41c2aa."), "a aborted")
	f(received("a-0d41c2aa")+line("Added request a-0d41c2aa.")+line("Aborted request a-0d41c2aa."), "a-0d41c2aa aborted")
	f(received("a")+received("a-0d41c2aa")+line("Aborted request a-0d41c2aa."), "a-0d41c2aa aborted", "a open")
	f(received("a")+line("Aborted request(s) 0_a-0d41c2aa,1_a-0d41c2aa.")+line("Request a aborted."), "a aborted")
	f(received("0_a")+line("Finished request 0_a."), "0_a ok")
	f(received("a")+line("Request a aborted.")+received("a")+line("Finished request a."), "a aborted", "a ok")
	f(line("Aborted request(s) a-0d41c2aa.")+line("Request a aborted."), "a-0d41c2aa aborted")
	f(received("a.b.")+line("Finished request a.b.."), "a.b. ok")
}

// TestExpire: requests without an end do not fill the memory.
func TestExpire(t *testing.T) {
	var b strings.Builder
	const n = minOpen + 3000
	for i := range n {
		fmt.Fprintf(&b, "INFO 03-01 09:00:00 [logger.py:1] Received request r%d: params: SamplingParams(), lora_request: None.\n", i)
	}
	b.WriteString("INFO 03-01 09:00:01 [logger.py:1] Finished request r1.\nINFO 03-01 09:00:01 [logger.py:1] Finished request r65000.\n")
	opt := given
	opt.Memory = 1 << 20
	res := readText(t, b.String(), opt)
	count := make(map[any]int)
	for _, r := range res.requests {
		count[r["status"]]++
	}
	if count["ok"] != 1 || count["open"] != n-1 || len(count) != 2 || res.diags["request_expired"].Count == 0 {
		t.Errorf("requests %v, diags %v", count, res.diags)
	}
	opt.Memory = 1 << 30
	if res = readText(t, b.String(), opt); res.diags["request_expired"].Count != 0 || len(res.requests) != n {
		t.Errorf("%d requests, diags %v", len(res.requests), res.diags)
	}
}

// TestAccessInObjects: an access line has no head, and counts where a collector of
// logs wraps it, whichever way round the members stand.
func TestAccessInObjects(t *testing.T) {
	lines := []string{
		`INFO 03-01 09:00:00 [loggers.py:1] Engine 000: Avg prompt throughput: 1.0 tokens/s, Avg generation throughput: 1.0 tokens/s, Running: 1 reqs, Waiting: 0 reqs, GPU KV cache usage: 0.1%, Prefix cache hit rate: 0.0%`,
		`INFO:     10.0.0.5:40000 - \"POST /v1/chat/completions HTTP/1.1\" 200 OK`,
	}
	for _, wrap := range []string{
		`{"time": "2026-03-01T09:00:00.5Z", "message": "(APIServer pid=7) %s"}`,
		`{"timestamp": "2026-03-01T09:00:00.5Z", "message": "%s"}`,
		`{"labels": {"app": "x"}, "line": "%s", "timestamp": "2026-03-01T09:00:00.5Z"}`,
		`{"__REALTIME_TIMESTAMP": "1772355600500000", "MESSAGE": "%s"}`,
		`{"log": "%s\n", "kubernetes": {"pod": "p"}, "date": 1772355600.5}`,
	} {
		var b strings.Builder
		for range 3 {
			for _, l := range lines {
				fmt.Fprintf(&b, wrap+"\n", l)
			}
		}
		a := readText(t, b.String(), given).account
		if a.Kinds["access"] != 3 || a.Kinds["stats"] != 3 || a.Parsed != 6 || a.Total != 6 {
			t.Errorf("%s: account %+v", wrap, a)
		}
	}
	// An object without a text of a log is not read, and said so.
	a := readText(t, lines[0]+"\n"+`{"labels": {"app": "x"}, "other": "word", "timestamp": "2026-03-01T09:00:00.5Z"}`+"\n", given).account
	if a.Diagnosed != 1 || a.Parsed != 1 {
		t.Errorf("account %+v", a)
	}
}

// TestP43Orders: the pairs of a statistics line may stand in another order, and
// thousands may be set off, also behind lines that are written as usual.
func TestP43Orders(t *testing.T) {
	const usual = "Avg prompt throughput: 1500.0 tokens/s, Avg generation throughput: 1100.5 tokens/s, Running: 9 reqs, Waiting: 80 reqs, GPU KV cache usage: 96.0%, Prefix cache hit rate: 0.0%"
	lines := []string{
		usual,
		"Avg generation throughput: 1100.5 tokens/s, Avg prompt throughput: 1500.0 tokens/s, Waiting: 80 reqs, Running: 9 reqs, GPU KV cache usage: 96.0%, Some new thing: 5 bananas",
		"Running: 9 reqs, Avg generation throughput: 1100.5 tokens/s, Waiting: 80 reqs, GPU KV cache usage: 96.0%, Avg prompt throughput: 1500 tokens/s",
		"Waiting: 80 reqs, Running: 9 reqs, GPU KV cache usage: 96%, Avg prompt throughput: 1500 tokens/s, Avg generation throughput: 1100.5 tokens/s",
		"Avg prompt throughput: 1,500.0 tokens/s, Avg generation throughput: 1,100.5 tokens/s, Running: 9 reqs, Waiting: 80 reqs, GPU KV cache usage: 96.0%, Prefix cache hit rate: 0.0%",
		usual,
	}
	var b strings.Builder
	for range 3 {
		for _, l := range lines {
			b.WriteString("INFO 03-01 09:00:00 [loggers.py:1] Engine 000: " + l + "\n")
		}
	}
	res := readText(t, b.String(), given)
	if len(res.steps) != 3*len(lines) {
		t.Fatalf("%d steps of %d lines, account %+v", len(res.steps), 3*len(lines), res.account)
	}
	for i, s := range res.steps {
		if s["prompt_tps"] != 1500.0 || s["generation_tps"] != 1100.5 || s["running"] != int64(9) || s["waiting"] != int64(80) || s["kv_usage"] != 0.96 {
			t.Errorf("%s: %v", lines[i%len(lines)], s)
		}
	}
}
