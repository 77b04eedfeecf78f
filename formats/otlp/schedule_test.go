package otlp

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// timedSpan writes a span of SGLang. Times are ms after a second of the clock.
func timedSpan(trace, id, parent int, name string, from, to int, rest string) string {
	const second = 1780315200
	ns := func(ms int) string { return fmt.Sprintf("%d%09d", second, ms*1_000_000) }
	return fmt.Sprintf(`{"traceId":"%032x","spanId":"%016x","parentSpanId":"%016x","name":%q,"startTimeUnixNano":%q,"endTimeUnixNano":%q%s}`,
		trace, id, parent, name, ns(from), ns(to), rest)
}

// scheduled writes events: at ms, of batch id, "-" for none, with a size and a
// forward mode.
func scheduled(events ...[4]any) string {
	var list []string
	for _, e := range events {
		batch := fmt.Sprintf(`{"key":"bid","value":{"stringValue":"%v"}},`, e[1])
		if e[1] == "-" {
			batch = ""
		}
		list = append(list, fmt.Sprintf(`{"timeUnixNano":"1780315200%09d","name":"schedule","attributes":[%s{"key":"batch_size","value":{"intValue":"%v"}},{"key":"forward_mode","value":{"stringValue":"%v"}}]}`,
			e[0].(int)*1_000_000, batch, e[2], e[3]))
	}
	return `,"events":[` + strings.Join(list, ",") + `]`
}

// served writes the spans of a request of one scheduler: its slices, which are
// given from left to right as name, end and events, the first from ms 0. Ranks but
// the first have no span of the whole request.
func served(trace, tp int, slices ...[3]any) string {
	root, thread := 100*trace, 100*trace+1+50*tp
	spans := []string{
		timedSpan(trace, root, 0, " Req x", 0, 900, `,"attributes":[{"key":"rid","value":{"stringValue":"r`+fmt.Sprint(trace)+`"}},{"key":"module","value":{"stringValue":"sglang::request"}}]`),
		timedSpan(trace, thread, root, "Scheduler", 0, 900, fmt.Sprintf(`,"attributes":[{"key":"thread_label","value":{"stringValue":"Scheduler"}},{"key":"host_id","value":{"stringValue":"host0000"}},{"key":"tp_rank","value":{"intValue":"%d"}}]`, tp)),
	}
	if spans = spans[min(tp, 1):]; tp > 0 {
		spans = spans[:1]
	}
	from, count := 0, 0
	for i, s := range slices {
		name, end := s[0].(string), s[1].(int)
		rest := ""
		if name == "decode_loop" {
			rest = fmt.Sprintf(`,"attributes":[{"key":"decode_ct","value":{"intValue":"%d"}}]`, count)
			count++
		}
		spans = append(spans, timedSpan(trace, thread+1+i, thread, name, from, end, rest+s[2].(string)))
		from = end
	}
	return strings.Join(spans, ",")
}

func exported(requests ...string) string {
	return `{"resourceSpans":[{"resource":{"attributes":[{"key":"service.name","value":{"stringValue":"sglang"}}]},"scopeSpans":[{"scope":{"name":"sglang server"},"spans":[` + strings.Join(requests, ",") + `]}]}]}`
}

// shown prints rows of steps: what they are of, their length and end in ms.
func shown(rows []map[string]any) (list []string) {
	for _, r := range rows {
		s := fmt.Sprint(r["step"], " ", r["kind"])
		for _, name := range []string{"running", "context_requests"} {
			if v, ok := r[name]; ok {
				s += fmt.Sprint(" ", name, "=", v)
			}
		}
		if d, ok := r["duration"].(int64); ok {
			s += fmt.Sprint(" ", d/1e6)
		}
		list = append(list, fmt.Sprint(s, " @", r["t"].(int64)%1e9/1e6))
	}
	return list
}

// TestScheduleSteps: events of the scheduler give a row for each step, that ends
// when the last of its requests has its result. r2 is prefilled between two decode
// steps of r1, and both decode together from there on.
func TestScheduleSteps(t *testing.T) {
	one := served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"})},
		[3]any{"decode_loop", 130, scheduled([4]any{101, "bb", 1, "decode"})},
		[3]any{"decode_loop", 220, scheduled([4]any{191, "dd", 2, "decode"})},
		[3]any{"decode_loop", 251, scheduled([4]any{222, "ee", 2, "ForwardMode.TARGET_VERIFY"})})
	two := served(2, 0, [3]any{"prefill_forward", 190, scheduled([4]any{131, "cc", 1, "EXTEND"})},
		[3]any{"decode_loop", 221, scheduled([4]any{192, "dd", 2, "decode"})},
		[3]any{"decode_loop", 250, scheduled([4]any{222, "ee", 2, "target_verify"})})
	want := []string{"0 prefill context_requests=1 @100", "1 decode running=1 30 @130", "2 prefill context_requests=1 60 @190", "3 decode running=2 31 @221", "4 verify running=2 30 @251"}
	for _, text := range []string{exported(one, two), exported(two, one), exported(one, two, served(1, 1, [3]any{"prefill_forward", 400, scheduled([4]any{10, "zz", 1, "extend"})}))} {
		g := read(t, text)
		if got := shown(g.steps); !slices.Equal(got, want) || len(g.diags) > 1 {
			t.Errorf("%q\nwant %q; %+v", got, want, g.diags)
		}
		for _, row := range g.steps {
			want, _ := row["tp"].(int64)
			if row["replica"] != "host0000" || want != 0 || row["engine"] != "sglang" || row["quantity"] != "interval" {
				t.Errorf("%v", row)
			}
		}
	}
}

// TestScheduleOverlapped: with overlapped scheduling the event of the next pass
// comes before the result of the one before, so that the last event is of a pass
// that gave nothing.
func TestScheduleOverlapped(t *testing.T) {
	g := read(t, exported(served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"}, [4]any{60, "bb", 1, "decode"})},
		[3]any{"decode_loop", 130, scheduled([4]any{105, "cc", 1, "decode"})}, [3]any{"decode_loop", 160, scheduled([4]any{135, "dd", 1, "decode"})})))
	want := []string{"0 prefill context_requests=1 @100", "1 decode running=1 30 @130", "2 decode running=1 30 @160"}
	if got := shown(g.steps); !slices.Equal(got, want) || len(g.diags) != 0 {
		t.Errorf("%q\nwant %q; %+v", got, want, g.diags)
	}
}

// TestScheduleChunks: chunks of a prompt may be passes of their own.
func TestScheduleChunks(t *testing.T) {
	g := read(t, exported(served(1, 0, [3]any{"chunked_prefill", 40, scheduled([4]any{1, "aa", 1, "extend"})}, [3]any{"chunked_prefill", 100, scheduled([4]any{50, "bb", 1, "mixed"})},
		[3]any{"prefill_forward", 100, ""}, [3]any{"decode_loop", 130, scheduled([4]any{105, "cc", 1, "decode"})})))
	want := []string{"0 prefill context_requests=1 @40", "1 mixed running=0 context_requests=1 60 @100", "2 decode running=1 30 @130"}
	if got := shown(g.steps); !slices.Equal(got, want) || len(g.diags) != 0 {
		t.Errorf("%q\nwant %q; %+v", got, want, g.diags)
	}
}

// TestScheduleMixed: a step that prefills one request and gives another a token has
// both, if all of its requests are in the file.
func TestScheduleMixed(t *testing.T) {
	for size, want := range map[int]string{2: "1 mixed running=1 context_requests=1 50 @150", 3: "1 mixed 50 @150"} {
		g := read(t, exported(served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"})}, [3]any{"decode_loop", 150, scheduled([4]any{101, "bb", size, "mixed"})}),
			served(2, 0, [3]any{"prefill_forward", 149, scheduled([4]any{101, "bb", size, "mixed"})})))
		if got := shown(g.steps); len(got) != 2 || got[1] != want {
			t.Errorf("%q, want %s", got, want)
		}
	}
}

// TestScheduleUnusable: what the events do not tell is no step, and is counted.
func TestScheduleUnusable(t *testing.T) {
	for name, c := range map[string]struct {
		text  string
		steps []string
		diag  string
		count int64
	}{
		"too few":   {served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"})}, [3]any{"decode_loop", 130, ""}), nil, "schedule_events", 1},
		"too many":  {served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"}, [4]any{11, "bb", 1, "extend"}, [4]any{12, "cc", 1, "extend"})}), nil, "schedule_events", 3},
		"no id":     {served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "-", 1, "extend"})}), nil, "schedule_events", 1},
		"odd mode":  {served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", -1, "7"})}), []string{"0 <nil> @100"}, "", 0},
		"one again": {served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"})}, [3]any{"decode_loop", 130, scheduled([4]any{105, "aa", 1, "decode"})}), nil, "batch_id_reused", 1},
		"at odds": {served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 1, "extend"})}) + "," + served(2, 0, [3]any{"prefill_forward", 101, scheduled([4]any{10, "aa", 2, "extend"})}),
			[]string{"0 <nil> @101"}, "", 0},
	} {
		g := read(t, exported(c.text))
		if got := shown(g.steps); !slices.Equal(got, c.steps) || c.diag != "" && g.diag(c.diag).Count != c.count || c.diag == "" && len(g.diags) > 0 {
			t.Errorf("%s: %q, %+v", name, got, g.diags)
		}
		if name == "at odds" && len(g.steps) == 1 && g.steps[0]["running"] != nil {
			t.Errorf("%v", g.steps[0])
		}
	}
	g := read(t, exported(served(1, 0, [3]any{"prefill_forward", 100, scheduled([4]any{10, "aa", 3, "extend"})})))
	if !slices.ContainsFunc(g.runs[0].Notes, func(s string) bool {
		return strings.HasPrefix(s, "steps_partial: of the sequences that the scheduler put into steps 1 of 3 ")
	}) {
		t.Errorf("%q", g.runs[0].Notes)
	}
}
