package assemble

import (
	"testing"

	"servescope/analyzer/dataset"
	"servescope/analyzer/trace"
)

// TestCounted: which of the figures of a run are the counter that is asked for.
func TestCounted(t *testing.T) {
	figure := func(key, stat string) trace.Reported { return trace.Reported{Key: key, Stat: stat, Value: 7} }
	for key, counts := range map[string]bool{
		"vllm:prompt_tokens_total": true, "ray_vllm_prompt_tokens_total": true, `sglang:prompt_tokens_total{model_name="m"}`: true,
		"vllm:prompt_tokens_total in window 2": false, `vllm:prompt_tokens_total{model_name="m"} in window 2`: false,
		"vllm:request_prompt_tokens_total": false, "prompt_tokens_total": false, "vllm:prompt_tokens": false, "other:prompt_tokens_total": false,
	} {
		sum, _, _ := counted(&dataset.Run{Members: []*trace.RunMeta{{Reported: []trace.Reported{figure(key, "value"), figure(key, "mean")}}}}, "prompt_tokens_total")
		if sum.Known != counts || counts && sum.V != 7 {
			t.Errorf("%s: %+v", key, sum)
		}
	}
}
