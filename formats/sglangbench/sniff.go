package sglangbench

import (
	"servescope/formats"
	"servescope/formats/internal/records"
)

func sniff(h *formats.Head) (formats.Score, string) { return records.Sniff(h, judge) }

// judge looks at the keys of an object. Every version begins a result with
// backend, dataset_name and request_rate.
func judge(o records.Keys) (formats.Score, string) {
	own := o.Count("sharegpt_output_len", "random_input_len", "random_output_len", "random_range_ratio", "total_output_tokens_retokenized", "mean_e2e_latency_ms", "median_e2e_latency_ms", "server_info")
	switch {
	case o.Has("model_id"):
		return formats.No, "model_id: vLLM's benchmark writes this"
	case o.Has("backend", "dataset_name", "request_rate") && own > 0:
		return formats.Sure, "a benchmark result with backend, dataset_name and request_rate, as SGLang writes it"
	case o.Has("backend", "dataset_name", "request_rate"):
		return formats.Likely, "backend, dataset_name and request_rate, as SGLang's benchmark begins a result"
	case o.Has("total_output_tokens_retokenized"):
		return formats.Likely, "total_output_tokens_retokenized, which only SGLang's benchmark writes"
	}
	return formats.No, "no result of a benchmark: backend, dataset_name and request_rate do not stand together"
}
