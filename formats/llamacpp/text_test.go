package llamacpp

import "testing"

func TestParseTiming(t *testing.T) {
	each := map[string]int64{ // ns per token, where it is printed
		"slot print_timing: id  0 | task 568 | prompt eval time =      40.00 ms /     7 tokens (    5.71 ms per token,   175.00 tokens per second)": 5_710_000,
		"slot print_timing: id 12 | task 9 |        eval time =      60.25 ms /     5 tokens (   12.00 ms per token)":                               12e6,
		"print_timings:        eval time =      60.00 ms /     5 runs   (   12.00 ms per token)":                                                    12e6,
	}
	none := timing{slot: -1, task: -1, n: -1}
	of := func(w what, slot, task, ns, n int64) timing {
		return timing{what: w, slot: slot, task: task, ns: ns, n: n}
	}
	for line, want := range map[string]timing{
		"slot print_timing: id  0 | task 568 | prompt eval time =      40.00 ms /     7 tokens (    5.71 ms per token,   175.00 tokens per second)": of(prompt, 0, 568, 40e6, 7),
		"slot print_timing: id 12 | task 9 |        eval time =      60.25 ms /     5 tokens (   12.00 ms per token)":                               of(eval, 12, 9, 60_250_000, 5),
		"slot print_timing: id  0 | task 568 |       total time =     100.00 ms /    12 tokens":                                                     of(total, 0, 568, 100e6, 12),
		"print_timings:        eval time =      60.00 ms /     5 runs   (   12.00 ms per token)":                                                    of(eval, -1, -1, 60e6, 5),
		"print_timings:       total time =     100.00 ms":                                                                                           of(total, -1, -1, 100e6, -1),
		"prompt eval time =      40.00 ms /     7 tokens":                                                                                           of(prompt, -1, -1, 40e6, 7),
		"slot print_timing: id  3 | task 4 |":                                                                                                       of(header, 3, 4, 0, -1),
		"slot launch_slot_: id  1 | task 570 | processing task, is_child = 0":                                                                       of(launched, 1, 570, 0, -1),
		"srv          stop: cancel task, id_task = 600":                                                                                             of(cancelled, -1, 600, 0, -1),
		`INFO [           print_timings] prompt eval time     =      40.00 ms /     7 tokens | tid="1" timestamp=1 id_slot=2 id_task=3`:             of(prompt, 2, 3, 40e6, 7),
		"slot print_timing: id  0 | task 568 | prompt eval time =        inf ms /     0 tokens":                                                     of(broken, 0, 568, 0, -1),
		"slot print_timing: id  0 | task 568 | prompt eval time =      40.0":                                                                        of(broken, 0, 568, 0, -1),
		"slot print_timing: id  0 | task 568 | prompt eval time =":                                                                                  of(broken, 0, 568, 0, -1),
		"llama_perf_context_print:        eval time =      60.00 ms /     5 runs":                                                                   none,
		"the eval time = 5.00 ms / 3 tokens of yesterday":                                                                                           none,
		"": none,
	} {
		got := parseTiming([]byte(line))
		if want.each = each[line]; got != want {
			t.Errorf("%s:\n got %+v\nwant %+v", line, got, want)
		}
	}
	got := parseTiming([]byte("1.02.003.004 I slot launch_slot_: id  0 | task 6 | processing task"))
	if !got.placed || got.at != 62_003_004_000 || got.what != launched || got.task != 6 {
		t.Errorf("%+v", got)
	}
	got = parseTiming([]byte("slot print_timing: id  0 | task 8 | draft acceptance = 0.57576 (  171 accepted /   297 generated), mean len =  2.10"))
	if got.what != drafts || got.accepted != 171 || got.n != 297 {
		t.Errorf("%+v", got)
	}
}
