package vllmbench

import (
	"servescope/formats"
	"servescope/formats/internal/records"
)

func sniff(h *formats.Head) (formats.Score, string) { return records.Sniff(h, judge) }

// judge looks at the keys of an object. The header (model_id, num_prompts,
// request_rate) is what no other tool writes together.
func judge(o records.Keys) (formats.Score, string) {
	arrays := o.Count("input_lens", "output_lens", "ttfts", "itls", "errors")
	figures := o.Count("duration", "completed", "total_input_tokens", "request_throughput", "request_inthroughput")
	switch {
	case o.Has("benchmark", "model", "metric"):
		return formats.No, "the records of a PyTorch benchmark file: aggregates only, their result file stands beside it"
	case o.Has("dataset_name") && !o.Has("model_id"):
		return formats.No, "dataset_name without model_id: SGLang's benchmark writes this"
	case o.Has("model_id", "num_prompts", "request_rate") && arrays+figures > 0:
		return formats.Sure, "a benchmark result with model_id, num_prompts and request_rate"
	case o.Has("model_id", "num_prompts", "request_rate"):
		return formats.Likely, "model_id, num_prompts and request_rate, as vLLM's benchmark begins a result"
	case o.Has("ttft_description") && arrays >= 3:
		return formats.Likely, "the arrays of vLLM's structured-output benchmark"
	case o.Has("ttfts", "itls") && arrays >= 3 && figures > 0:
		return formats.Likely, "the arrays and sums of a vLLM benchmark result without its header"
	case o.Has("ttfts", "itls") && arrays >= 3:
		return formats.Maybe, "the arrays of a benchmark result (ttfts, itls) without its header"
	}
	return formats.No, "no result of a benchmark: model_id, num_prompts and request_rate do not stand together, nor ttfts with itls"
}
