package shapes

import (
	"bufio"
	"io"
	"math/rand/v2"
	"strconv"
)

// A profiled step: kernels on two streams every 50 µs or so, a collective among
// eight of them, calls 10 ms before. Two of three steps launch every kernel by a
// call of its own, the third replays a graph.
const (
	stepKernels = 300
	stepLength  = int64(20_000_000) // ns
	traceBase   = int64(1782967788_000_000_000)
	traceStart  = int64(1362008881_000_000) // ns after the base
)

// kernelNames are as long as real ones, which are mostly template arguments.
var kernelNames = [8]string{
	"ncclDevKernel_AllReduce_Sum_bf16_RING_LL(ncclDevKernelArgsStorage<4096ul>)",
	"nvjet_sm90_tst_64x8_64x16_4x1_v_bz_NNT",
	"triton_red_fused_fused_add_rms_norm_moe_forward_shared_0",
	"void cutlass::device_kernel<cutlass::gemm::kernel::GemmUniversal<cute::tuple<int, int, int, int>, cutlass::gemm::collective::CollectiveMma<cutlass::gemm::MainloopSm90TmaGmmaWarpSpecialized<14, cute::tuple<cute::C<2>, cute::C<1>, cute::C<1> > > > > >(cutlass::gemm::Params)",
	"void flash::flash_fwd_splitkv_kernel<Flash_fwd_kernel_traits<128, 64, 128, 4, false, false, cutlass::bfloat16_t>, false, false, true, false, true>(flash::Flash_fwd_params)",
	"void vllm::act_and_mul_kernel<c10::BFloat16, &(c10::BFloat16 vllm::silu_kernel<c10::BFloat16>(c10::BFloat16 const&)), true>(c10::BFloat16*, c10::BFloat16 const*, int)",
	"void at::native::vectorized_elementwise_kernel<4, at::native::FillFunctor<int>, std::array<char*, 1ul> >(int, at::native::FillFunctor<int>, std::array<char*, 1ul>)",
	"void vllm::moe::moe_align_block_size_kernel<int>(int const*, int*, int*, int*, int*, int, int, int, int)",
}

// profiled is one kernel; times in ns on the trace's clock.
type profiled struct {
	name          string
	stream        int64
	start, length int64
	call          int64 // when it was launched
	corr          int64
	first         bool // the call's first kernel
}

// profile draws the kernels of a step, the same for the same seed and number.
func profile(seed uint64, step int64, out []profiled) []profiled {
	r := rand.New(rand.NewPCG(seed, uint64(step)))
	graph := step%3 == 2
	at := traceStart + step*stepLength
	call := at - stepLength/2
	for i := range int64(stepKernels) {
		k := profiled{name: kernelNames[r.IntN(8)], stream: 7 + i%2, start: at + i*55_000 + r.Int64N(20_000), length: 3_000 + r.Int64N(50_000),
			call: call + i*9_000 + r.Int64N(4_000), corr: step*(stepKernels+1) + i + 1, first: true}
		if graph {
			k.call, k.corr, k.first = call, step*(stepKernels+1)+1, i == 0
		}
		out = append(out, k)
	}
	return out
}

// TorchTrace writes a trace of the PyTorch profiler as Kineto lays it out:
// kernels first, then step ranges, calls and flows, the base time at the end.
// Config.Count is the number of steps; Config.Size ends with the step that
// reaches it.
func TorchTrace(w io.Writer, c Config) error {
	count := int64(c.Count)
	if count == 0 {
		n := new(counter)
		if err := torchTrace(n, c.Seed, 30); err != nil {
			return err
		}
		count = max(1, c.Size*30/int64(*n))
	}
	return torchTrace(w, c.Seed, count)
}

// counter counts the bytes written to it.
type counter int64

func (c *counter) Write(b []byte) (int, error) {
	*c += counter(len(b))
	return len(b), nil
}

func torchTrace(w io.Writer, seed uint64, steps int64) error {
	out := bufio.NewWriterSize(w, 1<<20)
	out.WriteString("{\n  \"schemaVersion\": 1,\n  \"deviceProperties\": [\n    {\n      \"id\": 0, \"name\": \"NVIDIA H100 80GB HBM3\"\n    }\n  ],\n" +
		"  \"distributedInfo\": {\"backend\": \"nccl\", \"rank\": 0, \"world_size\": 2},\n  \"displayTimeUnit\": \"ms\",\n  \"traceEvents\": [")
	var kernels []profiled
	var b []byte
	for section := range 4 {
		for step := range steps {
			kernels = profile(seed, step, kernels[:0])
			b = b[:0]
			if section == 1 {
				b = stepRange(b, step, kernels[0].call)
			}
			for i := range kernels {
				switch k := &kernels[i]; {
				case section == 0:
					b = deviceEvent(b, k)
				case section == 2 && k.first:
					b = callEvent(b, k, step%3 == 2)
				case section == 3:
					b = flow(b, 'f', k.corr, 0, k.stream, k.start)
					if k.first {
						b = flow(b, 's', k.corr, 4711, 4711, k.call)
					}
				}
			}
			if section == 0 && step == 0 {
				b = b[1:] // the comma before the first event
			}
			if _, err := out.Write(b); err != nil {
				return err
			}
		}
	}
	out.WriteString("\n  ],\n  \"traceName\": \"/tmp/trace.json\",\n  \"baseTimeNanoseconds\": ")
	out.WriteString(strconv.FormatInt(traceBase, 10))
	out.WriteString("\n}\n")
	return out.Flush()
}

func deviceEvent(b []byte, k *profiled) []byte {
	b = append(b, ",\n  {\n    \"ph\": \"X\", \"cat\": \"kernel\", \"name\": \""...)
	b = append(b, k.name...)
	b = append(b, "\", \"pid\": 0, \"tid\": "...)
	b = strconv.AppendInt(b, k.stream, 10)
	b = span(b, k.start, k.length)
	b = append(b, "      \"External id\": 6, \"queued\": 0, \"device\": 0, \"context\": 1, \"stream\": "...)
	b = strconv.AppendInt(b, k.stream, 10)
	b = append(b, ", \"correlation\": "...)
	b = strconv.AppendInt(b, k.corr, 10)
	return append(b, ",\n      \"registers per thread\": 168, \"shared memory\": 0, \"blocks per SM\": 0.090909, \"warps per SM\": 0.727273,\n"+
		"      \"grid\": [12, 1, 1], \"block\": [256, 1, 1],\n      \"est. achieved occupancy %\": 2\n    }\n  }"...)
}

func stepRange(b []byte, step, at int64) []byte {
	b = append(b, ",\n  {\n    \"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"execute_context_0(0)_generation_"...)
	b = strconv.AppendInt(b, 1+step%64, 10)
	b = append(b, '(')
	b = strconv.AppendInt(b, 1+step%64, 10)
	b = append(b, ")\", \"pid\": 4711, \"tid\": 4711"...)
	b = span(b, at-20_000, 5_000_000)
	b = append(b, "      \"External id\": "...)
	b = strconv.AppendInt(b, step, 10)
	return append(b, ", \"Record function id\": 0, \"Ev Idx\": 0\n    }\n  }"...)
}

func callEvent(b []byte, k *profiled, graph bool) []byte {
	name := "cudaLaunchKernel"
	if graph {
		name = "cudaGraphLaunch"
	}
	b = append(b, ",\n  {\n    \"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \""...)
	b = append(b, name...)
	b = append(b, "\", \"pid\": 4711, \"tid\": 4711"...)
	b = span(b, k.call, 3_500)
	b = append(b, "      \"External id\": 6, \"cbid\": 211, \"correlation\": "...)
	b = strconv.AppendInt(b, k.corr, 10)
	return append(b, "\n    }\n  }"...)
}

// span appends ts and dur and begins the arguments.
func span(b []byte, start, length int64) []byte {
	b = append(b, ",\n    \"ts\": "...)
	b = trace3(b, start)
	b = append(b, ", \"dur\": "...)
	b = trace3(b, length)
	return append(b, ",\n    \"args\": {\n"...)
}

func flow(b []byte, ph byte, id, pid, tid, at int64) []byte {
	b = append(b, ",\n  {\n    \"ph\": \""...)
	b = append(b, ph)
	b = append(b, "\", \"id\": "...)
	b = strconv.AppendInt(b, id, 10)
	b = append(b, ", \"pid\": "...)
	b = strconv.AppendInt(b, pid, 10)
	b = append(b, ", \"tid\": "...)
	b = strconv.AppendInt(b, tid, 10)
	b = append(b, ", \"ts\": "...)
	b = trace3(b, at)
	return append(b, ",\n    \"cat\": \"ac2g\", \"name\": \"ac2g\", \"bp\": \"e\"\n  }"...)
}

// trace3 appends ns as microseconds with three decimals.
func trace3(b []byte, ns int64) []byte {
	b = strconv.AppendInt(b, ns/1000, 10)
	f := ns % 1000
	return append(b, '.', '0'+byte(f/100), '0'+byte(f/10%10), '0'+byte(f%10))
}
