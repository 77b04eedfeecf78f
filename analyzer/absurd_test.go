package analyzer

import (
	"strings"
	"testing"
)

// TestAbsurdCounts: numbers of tokens that nobody can believe are unknown, and
// said to be; sums of what is left are right. Left out are six stated counts, a
// list and the tokens of its first chunk.
func TestAbsurdCounts(t *testing.T) {
	const stamps = `"arrival":0,"token_timestamps":[1,2]`
	run, r := ask(t, nil, lines(
		`"prompt_tokens":9223372036854775807,"output_tokens":9000000000000000000,`+stamps,
		`"prompt_tokens":9223372036854775807,"output_tokens":9000000000000000000,`+stamps,
		`"prompt_tokens":9223372036854775807,"output_tokens":9000000000000000000,"chunk_tokens":[9000000000000000000,9000000000000000000],`+stamps,
		`"prompt_tokens":6,"output_tokens":2,`+stamps,
	))
	wants(t, &run.Cell, "prompt_tokens", 1, "mean", 6.0)
	wants(t, &run.Cell, "output_tokens", 1, "mean", 2.0)
	for name, v := range run.Throughput.Values {
		if v.Known && v.V < 0 {
			t.Errorf("%s is %v", name, v.V)
		}
	}
	found := false
	for _, d := range r.Diags {
		if d.Code == "absurd_count" {
			found = d.Count == 8 && d.Line == 1 && strings.Contains(d.Msg, "unknown")
		}
	}
	if !found {
		t.Errorf("diags %+v", r.Diags)
	}
}

// TestCachedBeyondPrompt: a prompt has no more cached tokens than tokens; the
// request's are unknown, and the rate of computed tokens is without its prompt; the
// other rates stand: 2 prompts of 5 tokens in 2 s.
func TestCachedBeyondPrompt(t *testing.T) {
	const stamps = `"output_tokens":2,"arrival":0,"token_timestamps":[1,2]`
	run, r := ask(t, nil, lines(
		`"prompt_tokens":5,"cached_tokens":5,`+stamps,
		`"prompt_tokens":5,"cached_tokens":6,`+stamps,
	))
	wants(t, &run.Cell, "cached_tokens", 1, "mean", 5.0)
	if v := run.Throughput.Values["tps_prompt"]; v.V != 5 {
		t.Errorf("tps_prompt %+v", v)
	}
	rate(t, &run.Cell, "tps_end_to_end_computed", 4/2.0) // all of the first prompt is cached; two requests of 2 tokens
	n := int64(0)
	for _, d := range r.Diags {
		if d.Code == "cached_over_prompt" && d.Line == 2 {
			n += d.Count
		}
	}
	if n != 1 {
		t.Errorf("diags %+v", r.Diags)
	}
}

// TestFirstOfRows: requests come in the order in which they end, and as another one
// where there is little memory; a diagnostic tells where the first of the file stands.
func TestFirstOfRows(t *testing.T) {
	_, r := ask(t, nil, textFile{name: "log.jsonl", text: strings.Join([]string{
		`{"ts":1764428000,"request_id":"a","event":"arrival","prompt_tokens":5,"cached_tokens":6,"max_tokens":90000000000}`,
		`{"ts":1764428001,"request_id":"b","event":"arrival","prompt_tokens":5,"cached_tokens":6,"max_tokens":90000000000}`,
		`{"ts":1764428002,"request_id":"b","event":"finish"}`,
		`{"ts":1764428003,"request_id":"a","event":"finish"}`,
	}, "\n")})
	seen := 0
	for _, d := range r.Diags {
		if d.Code == "cached_over_prompt" || d.Code == "absurd_count" {
			if seen++; d.Line != 1 || d.Count != 2 {
				t.Errorf("%s: line %d, %d times; want line 1, twice", d.Code, d.Line, d.Count)
			}
		}
	}
	if seen != 2 {
		t.Errorf("diags %+v", r.Diags)
	}
}
