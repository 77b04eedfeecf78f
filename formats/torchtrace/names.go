package torchtrace

// class is the class of work of a device event, by its name alone.
type class uint8

// The classes that a name decides. Sampling is decided by where an event was
// launched, idle time by what the launching thread does.
const (
	compute class = iota
	communication
	hostTransfer
)

// traits holds the facts that the name of an event implies.
type traits struct {
	class   class
	known   bool   // the name is in a table
	routing bool   // local part of MoE routing: top-k, align, sort
	paired  bool   // a send or receive: its duration on other ranks says nothing about this one
	attn    bool   // attention: one per layer
	family  string // of communication: what runs it
}

// rule gives the traits of names, in lower case, that hold one of the needles
// and, where more is set, one of those too.
type rule struct {
	needles, more []string
	traits        traits
}

// kernelRules are tried in order; the first that fits decides. Sources of the
// names: NCCL 2.x (ncclKernel_… until 2.18, ncclDevKernel_… since), RCCL,
// vLLM and SGLang custom all-reduce, PyTorch symmetric memory, FlashInfer and
// TensorRT-LLM fused all-reduce, AMD quick reduce, DeepEP, pplx-kernels, MoRI.
//
// A bare dispatch or combine is not communication: flash_fwd_mla_combine_kernel
// sums partial results of one device. Nor do operations in the name of an Inductor
// kernel count: triton_red_fused_all_reduce_add_0 is the add.
var kernelRules = []rule{
	{needles: []string{"triton_poi_", "triton_red_", "triton_per_", "triton_tem_", "triton_for_"}, traits: traits{known: true}},
	{needles: []string{"nccl", "rccl"}, more: []string{"sendrecv", "send_recv", "_send", "_recv"},
		traits: traits{class: communication, known: true, paired: true, family: "nccl"}},
	{needles: []string{"nccl", "rccl"}, traits: traits{class: communication, known: true, family: "nccl"}},
	{needles: []string{"deep_ep", "deepep", "pplx", "mori::", "mori_"}, more: []string{"layout"},
		traits: traits{class: compute, known: true, routing: true}},
	{needles: []string{"deep_ep", "deepep", "pplx", "mori::", "mori_"}, more: []string{"dispatch", "combine", "notify", "barrier", "all_to_all", "a2a"},
		traits: traits{class: communication, known: true, family: "expert parallel"}},
	{needles: []string{"nvshmem", "rocshmem"}, traits: traits{class: communication, known: true, family: "nvshmem"}},
	{needles: []string{"mscclpp", "msccl"}, traits: traits{class: communication, known: true, family: "msccl"}},
	{needles: []string{"cross_device_reduce", "one_shot", "two_shot", "quickreduce", "quick_reduce"},
		traits: traits{class: communication, known: true, family: "custom all-reduce"}},
	{needles: []string{"oneshot", "twoshot"}, more: []string{"reduce", "gather", "scatter"},
		traits: traits{class: communication, known: true, family: "custom all-reduce"}},
	{needles: []string{"multimem", "symm_mem", "symmetric_memory"},
		traits: traits{class: communication, known: true, family: "symmetric memory"}},
	{needles: []string{"allreduce", "all_reduce", "allgather", "all_gather", "reducescatter", "reduce_scatter", "alltoall", "all_to_all", "all2all"},
		traits: traits{class: communication, known: true, family: "fused collectives"}},
	{needles: []string{"moe_align", "count_and_sort_expert", "topkgating", "topk_gating", "grouped_topk", "moe_topk", "topk_softmax", "topk_sigmoid",
		"moesoftmax", "moe_softmax", "moe_fused_gate", "kimi_k2_moe_fused_gate", "_topk_forward", "_combined_routing", "_sum_bitmatrix", "_routing_",
		"::routing", "moe_sorting", "moesorting", "expert_sort", "sort_expert", "fusedbuildexpertmaps", "get_dispatch_layout", "computeexpertfirsttoken"},
		traits: traits{known: true, routing: true}},
	{needles: []string{"attn", "attention", "flash_fwd", "fmha", "mla_", "_mla", "::mla", "batchdecodewith", "batchprefillwith", "mqa_logits"},
		traits: traits{known: true, attn: true}},
	{needles: []string{
		// matrix products
		"gemm", "gemv", "matmul", "cutlass", "cublas", "hipblas", "cijk_", "nvjet", "xmma", "splitk", "marlin", "machete", "wgmma", "dot_kernel", "mm_kernel",
		// libraries whose kernels compute
		"at::native", "at_cuda_detail", "cub::", "cub_", "rocprim", "thrust", "triton", "vllm", "sgl", "aiter", "ck_tile", "ck::", "flashinfer", "tensorrt_llm",
		"trtllm", "deep_gemm", "tilelang", "tvm", "cudnn", "miopen", "torch", "c10::", "fbgemm",
		// what models are made of
		"norm", "rotary", "rope", "act_and_mul", "silu", "gelu", "swiglu", "relu", "elementwise", "softmax", "embedding", "quant", "fp8", "fp4", "int8",
		"conv", "pool", "scan", "mamba", "ssm", "ssd_", "gated_delta", "delta_rule", "lora", "sgmv", "bgmv", "moe", "expert",
		// moving and arranging data on one device
		"copy", "memcpy", "memset", "fill", "index", "gather", "scatter", "concat", "cat_", "transpose", "permute", "cast", "kv_cache", "kvcache", "kv_indices",
		"store_", "reshape", "slot_mapping", "block_table", "reduce", "cumsum", "arange", "where", "clamp", "position", "topk", "top_k", "top_p", "sort", "argmax",
		"sampl", "logits", "token_ids", "penalt", "random", "philox", "rejection",
	}, traits: traits{known: true}},
}

// copyRules are for events of the categories gpu_memcpy and gpu_memset.
var copyRules = []rule{
	{needles: []string{"memset"}, traits: traits{known: true}},
	{needles: []string{"ptop", "peer"}, traits: traits{class: communication, known: true, paired: true, family: "peer copies"}},
	{needles: []string{"htod", "dtoh", "htoa", "atoh", "htoh", "hosttodevice", "devicetohost", "host -> device", "device -> host", "hosttohost"},
		traits: traits{class: hostTransfer, known: true}},
	{needles: []string{"dtod", "dtoa", "atod", "atoa", "devicetodevice", "device -> device"}, traits: traits{known: true}},
}

// scope is the kind of work that a range on the host stands for.
type scope uint8

// The scopes.
const (
	noScope scope = iota
	scheduling
	execution
	sampling
)

// scopeRule gives the scope of ranges whose name begins with prefix.
type scopeRule struct {
	prefix string
	scope  scope
}

// annotationRules are for ranges that the engines themselves mark
// (user_annotation): SGLang since v0.5.14, vLLM with
// VLLM_CUSTOM_SCOPES_FOR_PROFILING since v0.10.2.
var annotationRules = []scopeRule{
	{"scheduler.recv_requests", scheduling},
	{"scheduler.process_input_requests", scheduling},
	{"scheduler.get_next_batch_to_run", scheduling},
	{"scheduler.run_batch", execution},
	{"scheduler.process_batch_result", execution},
	{"schedule: ", scheduling},
	{"gpu_model_runner: sample", sampling},
	{"gpu_model_runner: spec_verify", sampling},
	{"gpu_model_runner: ", execution},
	{"llm_engine step: ", execution},
}

// frameRule gives the scope of Python frames "FILE(LINE): FUNCTION". The file
// ends with the given path; "*" stands for every function.
type frameRule struct {
	file, function string
	scope          scope
}

// frameRules are for frames recorded with_stack. The event loops of the
// schedulers are not in it: they hold everything else.
var frameRules = []frameRule{
	{"vllm/v1/core/sched/scheduler.py", "schedule", scheduling},
	{"vllm/v1/core/sched/scheduler.py", "update_from_output", execution},
	{"vllm/v1/core/kv_cache_manager.py", "*", scheduling},
	{"vllm/v1/core/kv_cache_coordinator.py", "*", scheduling},
	{"vllm/v1/core/single_type_kv_cache_manager.py", "*", scheduling},
	{"vllm/v1/core/block_pool.py", "*", scheduling},
	{"vllm/core/scheduler.py", "schedule", scheduling},
	{"vllm/core/block_manager.py", "*", scheduling},
	{"vllm/v1/worker/gpu_worker.py", "execute_model", execution},
	{"vllm/v1/worker/gpu_worker.py", "sample_tokens", execution},
	{"vllm/v1/worker/gpu_model_runner.py", "*", execution},
	{"vllm/v1/engine/output_processor.py", "*", execution},
	{"vllm/v1/sample/sampler.py", "forward", sampling},
	{"vllm/v1/sample/rejection_sampler.py", "forward", sampling},
	{"sglang/srt/managers/scheduler.py", "recv_requests", scheduling},
	{"sglang/srt/managers/scheduler.py", "process_input_requests", scheduling},
	{"sglang/srt/managers/scheduler.py", "get_next_batch_to_run", scheduling},
	{"sglang/srt/managers/scheduler.py", "run_batch", execution},
	{"sglang/srt/managers/scheduler.py", "process_batch_result", execution},
	{"sglang/srt/disaggregation/prefill.py", "get_next_disagg_prefill_batch_to_run", scheduling},
	{"sglang/srt/disaggregation/decode.py", "get_next_disagg_decode_batch_to_run", scheduling},
	{"sglang/srt/managers/schedule_policy.py", "*", scheduling},
	{"sglang/srt/mem_cache/radix_cache.py", "*", scheduling},
	{"sglang/srt/mem_cache/hiradix_cache.py", "*", scheduling},
	{"sglang/srt/mem_cache/chunk_cache.py", "*", scheduling},
	{"sglang/srt/mem_cache/allocator.py", "*", scheduling},
	{"sglang/srt/managers/tp_worker.py", "*", execution},
	{"sglang/srt/model_executor/model_runner.py", "*", execution},
	{"sglang/srt/layers/sampler.py", "forward", sampling},
}

// modulePrefixes begin the frames of modules that sample.
var modulePrefixes = []string{"nn.Module: Sampler", "nn.Module: RejectionSampler"}
