package vllmlog

import "testing"

// TestBeamSearch: lines of requests say whether each is of beam search.
func TestBeamSearch(t *testing.T) {
	head := "INFO 09-01 10:00:00 logger.py:36] Received request "
	res := readText(t, head+`a: prompt: 'use_beam_search=True', params: SamplingParams(n=2, best_of=2, presence_penalty=0.0, temperature=0.0, use_beam_search=False, length_penalty=1.0, max_tokens=7), prompt_token_ids: [1], lora_request: None.
`+head+`b: prompt: 'x', params: SamplingParams(n=1, best_of=4, presence_penalty=0.0, temperature=0.0, use_beam_search=True, length_penalty=1.0, max_tokens=7), prompt_token_ids: [1], lora_request: None.
`+head+`c: prompt: 'beam_width=3', params: BeamSearchParams(beam_width=4, max_tokens=7, ignore_eos=False, temperature=0.0, length_penalty=1.0, include_stop_str_in_output=False), lora_request: None.
`+head+`d: prompt: 'beam_width=3', params: SamplingParams(n=1, max_tokens=7), lora_request: None.
`, given)
	want := map[string]any{"a": false, "b": true, "c": true, "d": nil}
	if len(res.requests) != len(want) {
		t.Fatalf("%v", res.requests)
	}
	for _, row := range res.requests {
		id, _ := row["request_id"].(string)
		if row["beam_search"] != want[id] || row["max_tokens"] != int64(7) {
			t.Errorf("%v, want beam_search %v", row, want[id])
		}
	}
}
