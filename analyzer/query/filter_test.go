package query

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

// sample is a batch of four requests:
//
//	row  id    status  prompt  tenant  sent        stream  queue   ttft
//	0    a     ok      100     x       10 s        true    5 ms    500 ms
//	1    B-1   failed  1000    null    20 s        false   null    null
//	2    b2    ok      null    y z     null        null    0       100 ms
//	3    null  empty   5000    x       30 s (wall) true    -1 ms   null
//
// on clock run unless said otherwise, of model Llama-3 and file dir/log.jsonl.
func sample() *trace.Batch {
	b := trace.NewBuilder(trace.Requests)
	id := func(s string) { b.Text(trace.RequestID, []byte(s)) }
	tenant := func(s string) { b.Dict(trace.Tenant, []byte(s)) }
	id("a")
	b.Code(trace.StatusCol, int32(trace.OK))
	b.Int(trace.PromptTokens, 100)
	tenant("x")
	b.Int(trace.Sent, 10e9)
	b.Bool(trace.Stream, true)
	b.Int(trace.DQueue, 5e6)
	b.EndRow()
	id("B-1")
	b.Code(trace.StatusCol, int32(trace.Failed))
	b.Int(trace.PromptTokens, 1000)
	b.Int(trace.Sent, 20e9)
	b.Bool(trace.Stream, false)
	b.EndRow()
	id("b2")
	b.Code(trace.StatusCol, int32(trace.OK))
	tenant("y z")
	b.Int(trace.DQueue, 0)
	b.EndRow()
	b.Code(trace.StatusCol, int32(trace.Empty))
	b.Int(trace.PromptTokens, 5000)
	tenant("x")
	b.Int(trace.Sent, 30e9)
	b.Dict(trace.ClockCol, []byte("wall/host"))
	b.Bool(trace.Stream, true)
	b.Int(trace.DQueue, -1e6)
	b.EndRow()
	run := &trace.RunMeta{Model: "Llama-3", Clock: trace.Clock{Kind: trace.RunClock}}
	return b.Take(run, "dir/log.jsonl")
}

// ttft is the metric column of sample.
func ttft(name string, b *trace.Batch, values []float64, known []bool) {
	if name != "ttft" {
		panic(name)
	}
	copy(values, []float64{500e6, 0, 100e6, 0})
	copy(known, []bool{true, false, true, false})
}

func eval(t *testing.T, text string) string {
	t.Helper()
	f, err := ParseFilter(text)
	if err != nil {
		t.Errorf("%s: %v", text, err)
		return ""
	}
	b := sample()
	keep := make([]bool, b.Rows)
	x := f.Evaluator(ttft)
	x.Eval(b, keep)
	again := []bool{true, true, true, true}
	x.Eval(b, again) // reused memory, dirty output
	if fmt.Sprint(keep) != fmt.Sprint(again) {
		t.Errorf("%s: first %v, then %v", text, keep, again)
	}
	var rows []string
	for i, k := range keep {
		if k {
			rows = append(rows, fmt.Sprint(i))
		}
	}
	return strings.Join(rows, " ")
}

func TestFilter(t *testing.T) {
	for text, want := range map[string]string{
		"prompt_tokens = 1000":                     "1",
		"prompt_tokens != 1000":                    "0 3", // row 2 is unknown
		"not prompt_tokens = 1000":                 "0 2 3",
		"prompt_tokens<1000":                       "0",
		"prompt_tokens<=1000":                      "0 1",
		"prompt_tokens>1000":                       "3",
		"prompt_tokens>=1000":                      "1 3",
		"prompt_tokens > 9223372036854775807":      "",
		"prompt_tokens < -9223372036854775808":     "",
		"prompt_tokens in (100, 5000)":             "0 3",
		"prompt_tokens not in (100, 5000)":         "1",
		"prompt_tokens is null":                    "2",
		"prompt_tokens IS NOT NULL":                "0 1 3",
		"cached_tokens is null":                    "0 1 2 3",
		"cached_tokens = 0":                        "",
		"cached_tokens != 0":                       "",
		"status = ok":                              "0 2",
		"status != ok":                             "1 3",
		"status == 'ok'":                           "0 2",
		"prompt_tokens==1000":                      "1",
		"status in (failed,empty)":                 "1 3",
		"status ~ FAIL":                            "1",
		"tenant = x":                               "0 3",
		"tenant != x":                              "2",
		"tenant = 'y z'":                           "2",
		`tenant in ("y z", x)`:                     "0 2 3",
		"tenant not in (x)":                        "2",
		"tenant is null":                           "1",
		"request_id ~ b":                           "1 2",
		"request_id = b2":                          "2",
		"request_id != b2":                         "0 1",
		"request_id is null":                       "3",
		"model ~ llama":                            "0 1 2 3", // the run's model
		"model = llama":                            "",
		"model is null":                            "",
		"engine is null":                           "0 1 2 3",
		"engine ~ vllm":                            "",
		"clock = run":                              "0 1 2",
		"clock = wall/host":                        "3",
		"file ~ LOG":                               "0 1 2 3",
		"file != dir/log.jsonl":                    "",
		"file is null":                             "",
		"stream = true":                            "0 3",
		"stream != true":                           "1",
		"stream in (true, false)":                  "0 1 3",
		"d_queue >= 0ms":                           "0 2",
		"d_queue < 1us":                            "2 3",
		"d_queue = 5ms":                            "0",
		"sent >= 20s":                              "1", // row 3 is on a wall clock
		"sent >= 1970-01-01T00:00:20Z":             "3",
		"sent < 1970-01-01T00:00:40+00:00":         "3",
		"sent != 10s":                              "1",
		"sent is null":                             "2",
		"ttft > 100ms":                             "0",
		"ttft >= 100ms":                            "0 2",
		"ttft < 500ms":                             "2",
		"ttft <= 500ms":                            "0 2",
		"ttft != 500ms":                            "2",
		"ttft in (100ms, 0.5s)":                    "0 2",
		"ttft is null":                             "1 3",
		"ttft is not null":                         "0 2",
		"not ttft > 100ms":                         "1 2 3",
		"status=ok or status=failed and tenant=x":  "0 2",
		"(status=ok or status=empty) and tenant=x": "0 3",
		"not (status=ok) and not tenant is null":   "3",
		"not not status=ok":                        "0 2",
	} {
		if got := eval(t, text); got != want {
			t.Errorf("%s keeps %q, want %q", text, got, want)
		}
	}
}

func TestFilterErrors(t *testing.T) {
	for text, want := range map[string]string{
		"":                                  "column 1: the expression ends early; write a comparison such as status = ok",
		"promt_tokens > 5":                  `column 1: unknown column "promt_tokens"; did you mean prompt_tokens?`,
		"xyzzy = 1":                         "column 1: unknown column \"xyzzy\"; `servescope define requests` lists the columns",
		"prompt_tokens > 5ms":               `column 17: prompt_tokens is a count, "5ms" is not; write a whole number as in prompt_tokens > 100`,
		"prompt_tokens >":                   "column 16: prompt_tokens is compared with nothing; write a value after >",
		"prompt_tokens":                     "column 14: prompt_tokens stands alone; compare it as in prompt_tokens > 100",
		"prompt_tokens === 5":               `column 15: unknown operator "==="; the operators are = != < <= > >= ~`,
		"prompt_tokens ~ 5":                 "column 15: prompt_tokens is not a text; write prompt_tokens > 100",
		"ttft > 500":                        `column 8: ttft is a time: "500" has no unit; write 500s or 500ms`,
		"ttft > soon":                       `column 8: ttft is a time: "soon" is not a duration; write a number with ns, us, ms, s, m, h or d`,
		"sent > 500":                        `column 8: sent is a point in time, "500" is not; write sent >= 2026-01-31T14:05:00Z, or 30s since the origin of a clock that is not a wall clock`,
		"sent in (1s,2026-01-31T14:05:00Z)": "column 13: times and offsets have no common order; list either times or offsets",
		"status = okay":                     `column 10: status is never "okay"; did you mean ok?`,
		"status < ok":                       "column 8: status is a text and has no order; use = != or ~",
		"stream = maybe":                    `column 10: stream is true or false, not "maybe"; write stream = true`,
		"stream > true":                     "column 8: stream is true or false; write stream = true",
		"chunk_gaps > 5ms":                  "column 1: chunk_gaps is a list; filter by a metric of the request instead: tpot, e2e",
		"status = ok status = failed":       `column 13: unexpected "status"; join comparisons with and, or`,
		"(status = ok":                      "column 13: a parenthesis is never closed; close it with )",
		"status = 'ok":                      "column 10: the quote ' is never closed; close it with '",
		"status in ok":                      "column 11: in needs a list in parentheses; write in (a, b)",
		"status in (ok":                     "column 14: the list is never closed; write in (a, b)",
		"status in ()":                      "column 12: a value is missing; write in (a, b)",
		"status is ok":                      `column 11: unexpected "ok"; write is null or is not null`,
		"status not ok":                     `column 12: unexpected "ok"; write not in (…)`,
		"= ok":                              `column 1: unexpected "="; write a comparison such as status = ok`,
		strings.Repeat("(", 5000):           "column 102: the expression is nested deeper than 100 levels; simplify it",
		strings.Repeat("x", 70000):          "the expression is longer than 64 KiB; shorten it",
	} {
		_, err := ParseFilter(text)
		if err == nil || err.Error() != "--filter: "+want {
			t.Errorf("%.40s:\n got %v\nwant --filter: %s", text, err, want)
		}
		var e *Error
		if !errors.As(err, &e) {
			t.Errorf("%.40s: %T is not an *Error", text, err)
		}
	}
}

func TestEvalDoesNotAllocate(t *testing.T) {
	f, err := ParseFilter("(prompt_tokens > 10 or tenant ~ X) and status in (ok, failed) and ttft >= 1ms and request_id != q and sent > 1s")
	if err != nil {
		t.Fatal(err)
	}
	b, x, keep := sample(), f.Evaluator(ttft), make([]bool, 4)
	x.Eval(b, keep)
	perBatch := testing.AllocsPerRun(100, func() { x.Eval(b, keep) })
	if perBatch > 4 { // closures and dictionary values: per batch, not per row
		t.Errorf("%v allocations per batch", perBatch)
	}
}

// FuzzFilter checks that any text gives a filter or an *Error, that a filter
// can be evaluated, and that its text parses to the same verdicts.
func FuzzFilter(f *testing.F) {
	for _, s := range []string{
		"prompt_tokens>1000 and status=ok and model~llama", "not (ttft > 500ms or e2e>=2s)", "tenant in ('a b', c) or file ~ x",
		"sent >= 2026-01-31T14:05:00Z", "stream != true and d_queue is not null", "((((", "a=b=c", "not", "in (", "\"",
	} {
		f.Add(s)
	}
	any := func(_ string, _ *trace.Batch, values []float64, known []bool) { clear(values); clear(known) }
	f.Fuzz(func(t *testing.T, text string) {
		parsed, err := ParseFilter(text)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Msg == "" {
				t.Fatalf("%q: %v", text, err)
			}
			return
		}
		b := sample()
		keep := []bool{true, false, true, false}
		parsed.Evaluator(any).Eval(b, keep)
		negated, err := ParseFilter("not (" + parsed.String() + ")")
		if err != nil {
			return // one level too deep, or too long
		}
		opposite := make([]bool, b.Rows)
		negated.Evaluator(any).Eval(b, opposite)
		for i := range keep {
			if keep[i] == opposite[i] {
				t.Fatalf("%q: row %d matches as it does its opposite", text, i)
			}
		}
	})
}
