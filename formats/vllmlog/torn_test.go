package vllmlog

import (
	"strings"
	"testing"
)

const receivedLine = "INFO 03-01 09:00:00 [logger.py:40] Received request cmpl-ID-0: prompt: None, params: SamplingParams(n=1, temperature=0.5, max_tokens=1678), prompt_token_ids: None, lora_request: None."

// TestNumberCutByNextRecord: of a number that another writer's record cuts off,
// the beginning is no value.
func TestNumberCutByNextRecord(t *testing.T) {
	for _, digits := range []string{"1", "16", "167", "1678"} {
		cut, _, _ := strings.Cut(receivedLine, "1678")
		res := readText(t, strings.Replace(cut, "ID", "a", 1)+digits+strings.Replace(receivedLine, "ID", "b", 1)+"\n", given)
		if len(res.requests) != 2 {
			t.Fatalf("%s: %v", digits, res.requests)
		}
		for _, r := range res.requests {
			most, known := r["max_tokens"]
			if whole := r["request_id"] == "cmpl-b-0"; known != whole || whole && most != int64(1678) {
				t.Errorf("%s: %v", digits, r)
			}
		}
	}
}

// TestOverlongID: a record whose id is longer than any may be is in a diag.
func TestOverlongID(t *testing.T) {
	res := readText(t, strings.Replace(receivedLine, "ID", strings.Repeat("A", 70_000), 1)+"\n"+strings.Replace(receivedLine, "ID", "b", 1)+"\n", given)
	if a := res.account; len(res.requests) != 1 || a.Total != 2 || a.Parsed != 1 || a.Diagnosed != 1 || res.diags["incomplete_line"].Count != 1 {
		t.Errorf("%d requests, account %+v, diags %v", len(res.requests), a, res.diags)
	}
}
