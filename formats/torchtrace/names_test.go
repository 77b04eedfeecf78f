package torchtrace

import (
	"fmt"
	"testing"
)

// TestKernelNames: names as NCCL, RCCL, vLLM, SGLang, FlashInfer, TensorRT-LLM,
// PyTorch and DeepEP give them to their kernels.
func TestKernelNames(t *testing.T) {
	f := func(want class, family string, names ...string) {
		t.Helper()
		for _, name := range names {
			if got := match(kernelRules, []byte(name)); got.class != want || got.family != family || !got.known {
				t.Errorf("%s: %+v, want class %d of %q", name, got, want, family)
			}
		}
	}
	f(communication, "nccl", "ncclKernel_AllReduce_RING_LL_Sum_float(ncclDevComm*, unsigned long, ncclWork*)", "ncclDevKernel_AllGather_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
		"ncclDevKernel_SendRecv(ncclDevKernelArgsStorage<4096ul>)", "ncclSymkDevKernel_AllReduce_RSxLDMC_AGxSTMC_sum_bf16", "void rccl_main_kernel<1>", "ncclDevKernel_Generic_1(ncclDevKernelArgsStorage<4096ul>)")
	f(communication, "custom all-reduce", "void vllm::cross_device_reduce_1stage<__nv_bfloat16, 4>(vllm::RankData*)", "void sglang::cross_device_reduce_2stage<half, 8>()",
		"void aiter::cross_device_reduce_2stage_naive<x>", "one_shot_all_reduce_kernel", "two_shot_all_reduce_kernel_inplace", "void quickreduce::allreduce_prototype_twoshot<x>",
		"void flashinfer::trtllm_allreduce_fusion::allreduce_fusion_kernel_oneshot_lamport<x>", "oneShotAllreduceKernel")
	f(communication, "symmetric memory", "multimem_all_reduce_kernel", "void symm_mem::reduce<x>")
	f(communication, "fused collectives", "void tensorrt_llm::kernels::mnnvl::allreduce_rms<x>", "moeAllToAllKernel", "reduce_scatter_rmsnorm")
	f(communication, "expert parallel", "void deep_ep::internode_ll::combine<true, 7168>(void*)", "void deep_ep::intranode::notify_dispatch<8>()", "void pplx::dispatchSendKernel<x>",
		"mori::moe::EpDispatchIntraNodeKernel<x>")
	f(communication, "nvshmem", "nvshmemi_transfer_rma_p2p_kernel", "void nvshmem_barrier()")
	f(communication, "msccl", "mscclpp::allreduce7<half>")
	f(compute, "", "void smxx::decode::flash_fwd_mla_combine_kernel<cutlass::bfloat16_t, 512, 8, 160, 256>(CombineParams)", "void vllm::moe::moe_sum_vec_kernel<x>",
		"triton_red_fused_all_reduce_add_rms_norm_0", "nvjet_sm90_tst_192x8_64x8_2x1_v_bz_TNT", "Cijk_Alik_Bljk_BBS_BH_Bias", "_ZN5aiter24add_rmsnorm_quant_kernelIDF16b",
		"void at::native::reduce_kernel<512, 1, at::native::ReduceOp<float>>", "fused_moe_kernel", "kernel_unified_attention_3d", "memcpy32_post", "dispatch_tokens_moe_local", "combine_attn_splits")
	for name, want := range map[string]traits{
		"void vllm::moe::topkGatingSoftmax<8, 64, 4, 16, 32, int>(float*)": {known: true, routing: true},
		"void vllm::moe::moe_align_block_size_kernel<int>(int const*)":     {known: true, routing: true},
		"void deep_ep::layout::get_dispatch_layout<256>()":                 {known: true, routing: true},
		"void vllm::cooperative::cooperative_topk_cs8<2048u>()":            {known: true},
		"flash_fwd_splitkv_kernel":                                         {known: true, attn: true},
		"ncclDevKernel_SendRecv":                                           {class: communication, known: true, paired: true, family: "nccl"},
		"combine":                                                          {},
		"dispatch":                                                         {},
		"k":                                                                {},
	} {
		if got := match(kernelRules, []byte(name)); got != want {
			t.Errorf("%s: %+v, want %+v", name, got, want)
		}
	}
	for name, want := range map[string]class{
		"Memcpy HtoD (Pinned -> Device)": hostTransfer, "Memcpy DtoH (Device -> Pageable)": hostTransfer, "Memcpy DtoD (Device -> Device)": compute,
		"Memcpy PtoP (Device -> Device)": communication, "Memset (Device)": compute, "CopyHostToDevice": hostTransfer, "Memcpy HtoD (Host -> Device)": hostTransfer,
	} {
		if got := match(copyRules, []byte(name)); got.class != want || !got.known {
			t.Errorf("%s: %+v, want class %d", name, got, want)
		}
	}
}

func TestScopes(t *testing.T) {
	for text, want := range map[string]scope{
		"vllm/v1/core/sched/scheduler.py(172): schedule":                                        scheduling,
		"/usr/lib/python3.12/dist-packages/vllm/v1/core/kv_cache_manager.py(1): allocate_slots": scheduling,
		`C:\\x\\sglang\\srt\\managers\\scheduler.py(9): get_next_batch_to_run`:                  scheduling,
		"sglang/srt/managers/scheduler.py(800): event_loop_overlap":                             noScope,
		"sglang/srt/managers/scheduler.py(900): run_batch":                                      execution,
		"vllm/v1/worker/gpu_model_runner.py(900): execute_model":                                execution,
		"vllm/v1/sample/sampler.py(60): forward":                                                sampling,
		"nn.Module: Sampler_0":                                                                  sampling,
		"torch/nn/modules/module.py(1773): _wrapped_call_impl":                                  noScope,
		"<built-in method empty of type object>":                                                noScope,
		"):  (":                                                                                 noScope,
		"":                                                                                      noScope,
	} {
		if got := frameScope(text); got != want {
			t.Errorf("%q: scope %d, want %d", text, got, want)
		}
	}
}

// TestNameTable: beyond its size the table still classifies.
func TestNameTable(t *testing.T) {
	n := newNameTable()
	if a, b := n.find(kernelName, []byte("x")), n.find(frameName, []byte("x")); a == b {
		t.Error("kinds share names")
	}
	for i := range maxNames + 500 {
		name := fmt.Appendf(nil, "ncclDevKernel_%d", i)
		if i%2 == 0 {
			name = fmt.Appendf(nil, "gemm_%d", i)
		}
		id := n.find(kernelName, name)
		if again := n.find(kernelName, name); again != id {
			t.Fatalf("%s has the ids %d and %d", name, id, again)
		}
		if want := class(i % 2); n.names[id].class != want {
			t.Fatalf("%s is of class %d", name, n.names[id].class)
		}
	}
	if len(n.names) != maxNames+2 {
		t.Errorf("%d names", len(n.names))
	}
}
