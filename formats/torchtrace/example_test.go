package torchtrace

import (
	"fmt"
	"strings"
	"testing"
)

// TestStepOfNinety is the worked example of the specification: a step of 90 ns
// whose predecessor ends at 0.
func TestStepOfNinety(t *testing.T) {
	text := traceText(
		mark("execute_context_0(0)_generation_4(4)", -40, -30),
		callEvent("cudaLaunchKernel", -35, 1),
		kernelEvent("gemm", -20, 0, 1),
		mark("scheduler.get_next_batch_to_run", -5, 6),
		mark("execute_context_0(0)_generation_5(5)", 7, 20),
		callEvent("cudaLaunchKernel", 9, 2),
		callEvent("cudaLaunchKernel", 11, 3),
		callEvent("cudaMemcpyAsync", 15, 4),
		kernelEvent("gemm", 12, 60, 2),
		kernelEvent("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 50, 80, 3),
		onDevice("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 84, 90, 4),
	)
	g := readText(t, text)
	if len(g.steps) != 2 {
		t.Fatalf("%d rows, want 2: %v", len(g.steps), g.diags)
	}
	wantParts(t, g.steps[0], "kind=decode", "running=4", "duration=null", "compute=null", fmt.Sprint("t=", base+0))
	wantParts(t, g.steps[1], "kind=decode", "running=5", "decode_tokens=5", "prefill_tokens=0", fmt.Sprint("t=", base+90), "duration=90",
		"quantity=interval", "graph=false",
		"compute=48", "sampling=null", "communication=20", "host_transfer=6", "launch_wait=7", "scheduling=6", "host_exec=2", "host_gap=1",
		"communication_overlapped=10", "unclassified=0", "routing_local=0", "device_gap=0", "scheduler_cpu=6")
	if len(g.links) != 1 {
		t.Fatalf("%d collectives, want 1", len(g.links))
	}
	wantParts(t, g.links[0], "step=1", "index=0", "duration=30", fmt.Sprint("t=", base+50), "exposed=[10 20]", "paired=false")
	if !g.note("sampling cannot be told") {
		t.Errorf("notes: %q", g.meta.Notes)
	}
}

// TestPrefillBetween continues the example: a step of prefill only and one of
// decode.
func TestPrefillBetween(t *testing.T) {
	g := readText(t, traceText(
		mark("execute_context_0(0)_generation_2(2)", -10, -5), callEvent("cudaLaunchKernel", -8, 1), kernelEvent("gemm", -4, 0, 1),
		mark("execute_context_1(512)_generation_0(0)", 0, 5), callEvent("cudaLaunchKernel", 0, 2), kernelEvent("gemm", 0, 50, 2),
		mark("execute_context_0(0)_generation_3(3)", 50, 65), callEvent("cudaLaunchKernel", 60, 3), kernelEvent("gemm", 60, 130, 3),
		callEvent("cudaLaunchKernel", 61, 4), kernelEvent("ncclDevKernel_AllGather_RING_LL", 130, 145, 4),
	))
	wantParts(t, g.steps[1], "kind=prefill", "running=0", "context_requests=1", "prefill_tokens=512", "duration=50", "compute=50", "communication=0")
	wantParts(t, g.steps[2], "kind=decode", "duration=95", "compute=70", "communication=15", "scheduling=0", "host_exec=10", "host_gap=0")
}

// TestSampling: behind the range of a vLLM step and in marked scopes what is
// launched samples, copies and memsets too, but never communication.
func TestSampling(t *testing.T) {
	g := readText(t, traceText(
		mark("execute_new_1_cached_0", 0, 10), callEvent("cudaLaunchKernel", 1, 1), kernelEvent("gemm", 2, 12, 1),
		mark("execute_new_1_cached_2", 20, 40),
		callEvent("cudaLaunchKernel", 22, 2), callEvent("cudaLaunchKernel", 23, 3), callEvent("cudaLaunchKernel", 39, 4),
		callEvent("cudaLaunchKernel", 40, 5), callEvent("cudaMemsetAsync", 44, 6), callEvent("cudaLaunchKernel", 45, 7),
		mark("gpu_model_runner: sample", 38, 39), // closed before the call at 39
		kernelEvent("gemm", 24, 30, 2), kernelEvent("gemm", 30, 35, 3), kernelEvent("gemm", 35, 41, 4),
		kernelEvent("argmax", 41, 48, 5), onDevice("gpu_memset", "Memset (Device)", 0, 48, 50, 6),
		kernelEvent("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 50, 55, 7),
	))
	wantParts(t, g.steps[1], "kind=mixed", "running=2", "context_requests=1", "prefill_tokens=null", "duration=43",
		"compute=17", "sampling=9", "communication=5", "host_gap=8", "host_exec=2", "launch_wait=2")
	g = readText(t, traceText(
		mark("step[DECODE bs=2]", 0, 10), callEvent("cudaLaunchKernel", 1, 1), kernelEvent("gemm", 2, 12, 1),
		mark("step[DECODE bs=2]", 20, 40), callEvent("cudaLaunchKernel", 22, 2), callEvent("cudaLaunchKernel", 35, 3),
		callEvent("cudaLaunchKernel", 45, 4),
		complete("python_function", "sglang/srt/layers/sampler.py(80): forward", 1, 1, 34, 36, ""),
		complete("python_function", "sglang/srt/layers/other.py(80): forward", 1, 1, 21, 50, ""),
		kernelEvent("gemm", 22, 36, 2), kernelEvent("argmax", 36, 40, 3), kernelEvent("copy", 46, 50, 4),
	))
	wantParts(t, g.steps[1], "compute=18", "sampling=4", "duration=38", "host_exec=2", "host_gap=13", "launch_wait=1")
	if g.account.Kinds["python_function"] != 2 || g.account.Noise != 1 {
		t.Errorf("account %+v", g.account)
	}
}

// TestLaunchOrder: events belong to steps by their call, wherever it stands in
// the file, and never by time: the device runs a step behind.
func TestLaunchOrder(t *testing.T) {
	events := []string{
		kernelEvent("gemm", 100, 200, 1), kernelEvent("gemm", 200, 300, 2), kernelEvent("gemm", 300, 420, 3),
		callEvent("cudaLaunchKernel", 1, 1), callEvent("cudaLaunchKernel", 31, 2), callEvent("cudaLaunchKernel", 61, 3),
		mark("step[EXTEND bs=2 toks=100]", 0, 20), mark("step[MIXED bs=5]", 30, 50), mark("step[IDLE]", 60, 80),
	}
	for range len(events) {
		events = append(events[1:], events[0])
		g := readText(t, traceText(events...))
		if len(g.steps) != 3 {
			t.Fatalf("%d rows", len(g.steps))
		}
		wantParts(t, g.steps[0], "kind=prefill", "running=0", "prefill_tokens=100", fmt.Sprint("t=", base+200))
		wantParts(t, g.steps[1], "kind=mixed", "running=null", "duration=100", "compute=100")
		wantParts(t, g.steps[2], "kind=dummy", "duration=120", "compute=120")
	}
}

// TestMergedSteps: a step that ends before its predecessor has no interval of
// its own, and neither has one without events.
func TestMergedSteps(t *testing.T) {
	g := readText(t, traceText(
		mark("step[DECODE bs=1]", 0, 5), mark("step[DECODE bs=2]", 10, 15), mark("step[DECODE bs=3]", 20, 25), mark("step[DECODE bs=4]", 30, 35),
		mark("step[DRAFT_EXTEND bs=1]", 31, 34), // nested
		callEvent("cudaLaunchKernel", 1, 1), callEvent("cudaLaunchKernel", 11, 2), callEvent("cudaLaunchKernel", 32, 4),
		callEvent("cudaLaunchKernel", -3, 9),
		kernelEvent("gemm", 10, 60, 1), kernelEvent("gemm", 20, 50, 2), kernelEvent("gemm", 60, 90, 4),
		kernelEvent("gemm", -2, -1, 9), kernelEvent("gemm", 70, 95, 0),
	))
	if len(g.steps) != 2 {
		t.Fatalf("%d rows, want 2", len(g.steps))
	}
	wantParts(t, g.steps[1], "running=4", "step=3", "duration=30", "compute=30")
	for code, n := range map[string]int64{"step_merged": 1, "step_without_event": 1, "before_first_step": 1, "event_without_launch": 1} {
		if d := g.diag(code); d == nil || d.Count != n {
			t.Errorf("%s: %+v, want %d", code, d, n)
		}
	}
}

// TestMergedRanks: in a merged trace ids mean something within one label only.
func TestMergedRanks(t *testing.T) {
	var events []string
	for rank := range 2 {
		label := fmt.Sprintf("[TP%02d-DP01] ", rank)
		at := int64(100 * rank)
		for i := range 3 {
			from := at + int64(50*i)
			events = append(events,
				complete("user_annotation", fmt.Sprintf("step[DECODE bs=%d]", 7+rank), label+"4711", 1, from, from+20, ""),
				complete("cuda_runtime", "cudaLaunchKernel", label+"4711", 1, from+1, from+2, fmt.Sprintf(`"correlation":%d`, i+1)),
				onDevice("kernel", "gemm", label+"0", from+5, from+40+int64(rank), i+1))
		}
	}
	g := readText(t, traceText(events...))
	if len(g.steps) != 6 {
		t.Fatalf("%d rows, want 6", len(g.steps))
	}
	for i, row := range g.steps {
		rank := i / 3
		want := []string{fmt.Sprint("tp=", rank), "dp=1", "replica=dp1", fmt.Sprint("running=", 7+rank), "rank=null", fmt.Sprint("step=", i%3)}
		if i%3 > 0 {
			want = append(want, "duration=50", fmt.Sprint("compute=", 35+rank), "communication=null", "communication_overlapped=null")
		}
		wantParts(t, row, want...)
	}
	if g.diag("comm_not_recognised") == nil {
		t.Error("two ranks without communication: no diag")
	}
}

// TestPeerDevice: a device that only takes part in copies has no steps.
func TestPeerDevice(t *testing.T) {
	events := []string{
		mark("step[DECODE bs=1]", 0, 5), callEvent("cudaLaunchKernel", 1, 1), kernelEvent("gemm", 2, 9, 1),
		mark("step[DECODE bs=1]", 10, 15), callEvent("cudaMemcpyPeerAsync", 11, 2), onDevice("gpu_memcpy", "Memcpy PtoP (Device -> Device)", 1, 12, 19, 2),
		callEvent("cudaLaunchKernel", 12, 3), kernelEvent("gemm", 13, 22, 3),
	}
	g := readText(t, traceText(events...))
	if len(g.steps) != 2 || g.diag("device_without_kernel") == nil || len(g.links) != 1 || g.links[0]["step"] != nil || g.links[0]["paired"] != true {
		t.Errorf("%v %v %+v", g.steps, g.links, g.diags)
	}
	wantParts(t, g.steps[1], "compute=9", "duration=13", "communication=0")
}

// TestInferredSteps: without ranges each graph launch begins a step, unless the
// graphs are parts of steps.
func TestInferredSteps(t *testing.T) {
	var whole, parts []string
	for i := range 5 {
		at := int64(100 * i)
		whole = append(whole, callEvent("cudaGraphLaunch", at, i+1), kernelEvent("flash_attn", at+10, at+40, i+1), kernelEvent("gemm", at+40, at+80, i+1))
		parts = append(parts, callEvent("hipGraphLaunch", at, 2*i+1), kernelEvent("gemm", at+10, at+40, 2*i+1),
			callEvent("cudaLaunchKernel", at+1, 2*i+2), kernelEvent("flash_attn", at+40, at+80, 2*i+2))
	}
	g := readText(t, traceText(whole...))
	if len(g.steps) != 5 || !g.note("graph launch is taken for the start of a step") {
		t.Fatalf("%d rows, notes %q", len(g.steps), g.meta.Notes)
	}
	wantParts(t, g.steps[4], "kind=null", "running=null", "graph=true", "duration=100", "compute=70", "launch_wait=10", "host_gap=20")
	for _, text := range []string{traceText(parts...), traceText(kernelEvent("gemm", 0, 10, 0)), strings.TrimSuffix(traceText(whole...), `],"baseTimeNanoseconds":1000000}`)} {
		g = readText(t, text)
		if len(g.steps) != 0 || g.diag("no_step_range") == nil {
			t.Errorf("%d rows, diags %+v", len(g.steps), g.diags)
		}
	}
	if g = readText(t, traceText(complete("cpu_op", "aten::add", 1, 1, 0, 5, ""))); g.diag("no_device_event") == nil {
		t.Errorf("a trace without a device: %+v", g.diags)
	}
}
