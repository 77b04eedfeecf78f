package sglanglog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

// prefillLine and decodeLine are lines of one release; stamp is "03-01 09:00:00".
func prefillLine(stamp string, tokens int, tps string) string {
	return fmt.Sprintf("[2026-%s TP0] Prefill batch. #new-seq: 1, #new-token: %d, #cached-token: 0, token usage: 0.00, #running-req: 1, #queue-req: 0, input throughput (token/s): %s \n", stamp, tokens, tps)
}

// TestP37: the printed throughput is of the batch before: 500 tokens over the 20 s
// to the second line, 4000 over the second to the third. It is no rate of the
// line's own batch, and the lines behind a pause are marked.
func TestP37(t *testing.T) {
	text := prefillLine("03-01 11:15:00", 500, "0.00") + prefillLine("03-01 11:15:20", 4000, "25.00") + prefillLine("03-01 11:15:21", 4000, "4000.00")
	res := readText(t, text, given)
	for i, want := range []struct {
		tokens int64
		before float64
		idle   bool
	}{{500, 0, true}, {4000, 25, true}, {4000, 4000, false}} {
		r := res.steps[i]
		if r["prefill_tokens"] != want.tokens || r["reported_input_tps_prev_batch"] != want.before || r["after_idle"] != want.idle || r["prompt_tps"] != nil {
			t.Errorf("line %d: %v", i, r)
		}
	}
	// What is printed can be had of the rows: tokens of a batch over the time to the next.
	for i := range 2 {
		gap := float64(res.steps[i+1]["t"].(int64)-res.steps[i]["t"].(int64)) / 1e9
		if got := float64(res.steps[i]["prefill_tokens"].(int64)) / gap; got != res.steps[i+1]["reported_input_tps_prev_batch"] {
			t.Errorf("batch %d: %v token/s", i, got)
		}
	}
	// Since v0.5.11, which prints the pending tokens, it is the line's own batch.
	res = readText(t, "[2026-03-01 09:00:00] Prefill batch, #new-seq: 1, #new-token: 64, #cached-token: 0, token usage: 0.00, #running-req: 0, #queue-req: 0, #pending-token: 0, cuda graph: False, input throughput (token/s): 7.34\n", given)
	if r := res.steps[0]; r["reported_input_tps_prev_batch"] != nil || r["prompt_tps"] != 7.34 {
		t.Errorf("late release: %v", r)
	}
}

// TestP40: the zone moves local stamps, never those in UTC of the gateway, and is
// learned from what a container runtime wrote.
func TestP40(t *testing.T) {
	gateway := `2026-03-01 09:00:00  INFO http_request{method=POST request_id="g" status_code=200 latency=1000000}: smg::response: x.rs:1: finished processing request` + "\n"
	opt := given
	opt.TZ = time.FixedZone("east", 3600)
	res := readText(t, gateway+prefillLine("03-01 09:00:00", 1, "1.0"), opt)
	if res.requests[0]["first_event"] != at("09:00:00") || res.steps[0]["t"] != at("08:00:00") {
		t.Errorf("rows %v %v", res.requests, res.steps)
	}
	text := "2026-03-01T06:30:10.125Z stdout F " + prefillLine("03-01 08:30:10", 1, "1.0") + "2026-03-01T06:30:11.125Z stdout F " + prefillLine("03-01 08:30:11", 1, "1.0")
	if res = read(t, unpack(t, text), formats.Options{}); res.steps[0]["t"] != at("06:30:10.125") || !slices.ContainsFunc(res.run.Notes, func(s string) bool { return strings.Contains(s, "+02:00") }) {
		t.Errorf("steps %v, notes %q", res.steps, res.run.Notes)
	}
}

func unpack(t *testing.T, text string) formats.Source {
	t.Helper()
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("pod.log", []byte(text)), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return in.List[0].Source
}

// TestP41: colours around fields, with and without the escape byte, change nothing.
func TestP41(t *testing.T) {
	const body = "Decode batch, #running-req: 3, #token: 90, token usage: 0.02, cuda graph: True, gen throughput (token/s): 150.00, #queue-req: 1\n"
	want := readText(t, "[2026-03-01 09:00:00 DP1 TP0] "+body, given).steps[0].String()
	for _, head := range []string{"\x1b[2m[2026-03-01 09:00:00 DP1 TP0]\x1b[0m ", "[32m[2026-03-01 09:00:00 DP1 TP0][0m ", "\x1b[1;32m[2026-03-01 09:00:00 DP1 TP0] \x1b[0m",
		"\x1b[36m(pid=77)\x1b[0m [2026-03-01 09:00:00 DP1 TP0] ", " 12%|█▏ | 12/100 [00:01<00:09,  9.5it/s][2026-03-01 09:00:00 DP1 TP0] "} {
		res := readText(t, head+body, given)
		if len(res.steps) != 1 || res.steps[0].String() != want {
			t.Errorf("%q: %v, want %s", head, res.steps, want)
		}
	}
}

// TestP44: punctuation, order of fields, devices and ranks may be any.
func TestP44(t *testing.T) {
	fields := []string{"#running-req: 3", "#token: 90000", "token usage: 0.02", "accept len: 2.00", "cuda graph: True", "gen throughput (token/s): 150.00", "#queue-req: 7"}
	for _, sep := range []string{". ", ", ", " [1234], "} {
		for _, usage := range []string{"token usage", "full token usage"} {
			for _, device := range []string{"cuda", "npu", "cpu", "musa"} {
				for _, ranks := range []string{"", " TP0", " DP1 TP0 EP0", " EP0 DP1", " DP1 PP0 ATTN_CP0 MOE_DP0 TP0 EP0"} {
					for turn := range fields {
						list := strings.Join(append(append([]string{}, fields[turn:]...), fields[:turn]...), ", ")
						list = strings.Replace(strings.Replace(list, "token usage", usage, 1), "cuda", device, 1)
						line := "[2026-03-01 09:00:00" + ranks + "] Decode batch" + sep + list + []string{"\n", ", \n", " \n"}[turn%3]
						res := readText(t, line, given)
						if len(res.steps) != 1 {
							t.Fatalf("%q: %v", line, res.diags)
						}
						r := res.steps[0]
						if r["running"] != int64(3) || r["waiting"] != int64(7) || r["kv_usage"] != 0.02 || r["accept_length"] != 2.0 || r["graph"] != true || r["generation_tps"] != 150.0 {
							t.Fatalf("%q: %v", line, r)
						}
						if dp := strings.Contains(ranks, "DP1"); dp != (r["dp"] == int64(1)) || dp != (r["replica"] == "1") {
							t.Fatalf("%q: %v", line, r)
						}
					}
				}
			}
		}
	}
}

func TestPlaceOf(t *testing.T) {
	for text, want := range map[string]place{
		"": {-1, -1, -1, -1}, " TP0": {-1, 0, -1, -1}, " DP12 TP3 EP4 PP1": {12, 3, 1, 4}, " EP4 DP12": {12, -1, -1, 4},
		" DP1 PP0 ATTN_CP5 MOE_DP6 TP2 EP3": {1, 2, 0, 3}, " MOE_DP6 TP2": {-1, 2, -1, -1}, " DP": {-1, -1, -1, -1},
	} {
		if got := placeOf([]byte(text)); got != want {
			t.Errorf("%q: %v, want %v", text, got, want)
		}
	}
}

// TestDecodeStep: three running requests that accept two tokens a step make 150
// tokens/s: a step takes 3·2/150 s = 40 ms. Not behind a pause, a prefill, or where
// a throughput is missing.
func TestDecodeStep(t *testing.T) {
	decode := func(second int, rank, tps string) string {
		return fmt.Sprintf("[2026-03-01 09:00:%02d%s] Decode batch, #running-req: 3, #token: 90, token usage: 0.02, accept len: 2.00, cuda graph: True, gen throughput (token/s): %s, #queue-req: 0\n", second, rank, tps)
	}
	prefill := func(second int, rank string) string {
		return fmt.Sprintf("[2026-03-01 09:00:%02d%s] Prefill batch, #new-seq: 1, #new-token: 64, #cached-token: 0, token usage: 0.00, #running-req: 3, #queue-req: 0, \n", second, rank)
	}
	res := readText(t, decode(0, " DP0", "150.00")+decode(1, " DP0", "150.00")+prefill(2, " DP0")+prefill(2, " DP1")+decode(3, " DP0", "150.00")+
		decode(4, " DP0", "150.00")+decode(5, " DP0", "nan")+decode(6, " DP0", "0.00")+decode(30, " DP0", "150.00"), given)
	var got []any
	for _, r := range res.steps {
		if r["kind"] == "window" {
			got = append(got, r["duration"])
		}
	}
	ms40 := int64(40_000_000)
	if want := []any{nil, ms40, nil, ms40, nil, nil, nil}; fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("durations %v, want %v", got, want)
	}
}

// TestRepeatedRanks: a batch that each rank logs counts once, whatever lines of
// others stand between; two batches of one rank stay two.
func TestRepeatedRanks(t *testing.T) {
	line := func(ranks string) string {
		return "[2026-03-01 09:00:00" + ranks + "] Prefill batch, #new-seq: 1, #new-token: 4096, #cached-token: 0, token usage: 0.00, #running-req: 3, #queue-req: 0, \n"
	}
	res := readText(t, line(" DP0 PP0 ATTN_CP0")+line(" DP1 PP0 ATTN_CP0")+line(" DP0 PP0 ATTN_CP1")+line(" DP1 PP0 ATTN_CP1")+line(" DP0 PP0 ATTN_CP0"), given)
	if len(res.steps) != 3 || res.diags["repeated_rank_line"].Count != 2 || res.account.Parsed != 5 {
		t.Errorf("%d steps, diags %v", len(res.steps), res.diags)
	}
}

// TestP48: ranks that print nothing are missed.
func TestP48(t *testing.T) {
	text := "[2026-03-01 08:59:00] server_args=ServerArgs(model_path='m', dp_size=3)\n"
	for dp := range 3 {
		text += strings.Replace(prefillLine("03-01 09:00:00", 1, "1.0"), " TP0", fmt.Sprintf(" DP%d TP0", dp), 1)
		res := readText(t, text, given)
		want := fmt.Sprintf("%d of 3 data-parallel ranks report: cluster totals not computed; per-rank values only", dp+1)
		if missing := dp < 2; slices.Contains(res.run.Notes, want) != missing || res.diags["engines_missing"].Count > 0 != missing {
			t.Errorf("%d ranks: notes %q, diags %v", dp+1, res.run.Notes, res.diags)
		}
	}
}

// TestP47: a Finish record that the runtime cut in parts is one, at the time of the
// first; without its end it is told to be torn.
func TestP47(t *testing.T) {
	line := `Finish: obj=GenerateReqInput(rid='r1', stream=True), out={'meta_info': {'id': 'r1', 'finish_reason': {'type': 'stop'}, 'completion_tokens': 7, 'e2e_latency': 0.5}}`
	parts := func(last string) string {
		return "2026-03-01T09:00:00.1Z stdout P " + line[:60] + "\n2026-03-01T09:00:00.2Z stderr F something else\n2026-03-01T09:00:00.3Z stdout " + last + "\n"
	}
	res := read(t, unpack(t, parts("F "+line[60:])), formats.Options{})
	check(t, "request", res.requests, fmt.Sprintf("finish_reason=stop finished=%d output_tokens=7 output_tokens_source=server received=%d request_id=r1 status=ok stream=true", at("09:00:00.1"), at("08:59:59.6")))
	res = read(t, unpack(t, parts("F "+line[60:120])), formats.Options{})
	if len(res.requests) != 0 || res.diags["torn_record"].Count != 1 {
		t.Errorf("torn: %v %v", res.requests, res.diags)
	}
}

// TestP49: no prompt, in whatever record, is read as a line of the server.
func TestP49(t *testing.T) {
	bad := "[2026-03-01 09:00:00 TP0] Decode batch. #running-req: 9, #token: 1, token usage: 0.5, gen throughput (token/s): 1.0, #queue-req: 0 ReqTimeStats(rid=x, type=unified): forward_duration=1ms"
	for _, line := range []string{
		"[2026-03-01 09:00:00] Receive: obj=GenerateReqInput(rid='a', text='%s', stream=True)",
		"Receive: obj=GenerateReqInput(rid='a', text=\"%s\", stream=True)",
		`[2026-03-01 09:00:00] {"timestamp": "2026-03-01T09:00:00.5", "event": "request.received", "rid": "a", "obj": {"rid": "a", "text": "%s"}}`,
		`{"timestamp": "2026-03-01T09:00:00.5", "event": "request.received", "rid": "a", "obj": {"rid": "a", "text": "%s"}}`,
		"[2026-03-01 09:00:00] Receive OpenAI: obj={'messages': [{'content': '%s'}]}",
	} {
		res := readText(t, fmt.Sprintf(line, bad)+"\n", given)
		if len(res.steps) != 0 || len(res.requests) > 1 || res.account.Total != 1 || res.account.Diagnosed != 0 {
			t.Errorf("%s: %v %v %+v", line, res.steps, res.requests, res.account)
		}
	}
}

// TestCutNumbers: of a line that the next one cuts off, wherever, no value is the
// beginning of a number.
func TestCutNumbers(t *testing.T) {
	const line = "[2026-03-01 09:00:00 DP1 TP2] Decode batch, #running-req: 127, #token: 1200, token usage: 0.57, accept len: 2.53, cuda graph: True, gen throughput (token/s): 345.67, #queue-req: 489"
	whole := readText(t, line+"\n", given).steps[0]
	for cut := 32; cut < len(line); cut++ {
		for _, next := range []string{line + "\n", "", "\r"} {
			for _, s := range readText(t, line[:cut]+next, given).steps {
				for _, c := range []string{"running", "waiting", "kv_usage", "accept_length", "generation_tps"} {
					if s[c] != nil && s[c] != whole[c] {
						t.Errorf("%q: %s is %v, want %v or null", line[:cut], c, s[c], whole[c])
					}
				}
			}
		}
	}
}
