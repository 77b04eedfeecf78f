package torchtrace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/formats/source"
)

// randomTrace writes a trace of one process and two devices in which anything
// may happen: kernels of several streams, copies, graphs, calls on two threads,
// nested ranges, missing calls, events in any order and in any layout.
func randomTrace(r *rand.Rand) string {
	var events []string
	thread := func() int { return 1 + r.IntN(2) }
	length := int64(20 + r.IntN(600))
	at := func() int64 { return r.Int64N(length) - length/8 }
	names := []string{"gemm", "mystery", "ncclDevKernel_AllReduce", "void vllm::cross_device_reduce_1stage<x>", "flash_fwd_mla_combine_kernel", "moe_align_block_size_kernel"}
	ranges := []string{"scheduler.run_batch", "scheduler.recv_requests", "schedule: allocate_slots", "gpu_model_runner: forward", "gpu_model_runner: sample",
		"nothing known", "scheduler.get_next_batch_to_run", "llm_engine step: get_output"}
	add := func(cat, name string, pid, tid int, args string, longest int64) {
		from := at()
		events = append(events, complete(cat, name, pid, tid, from, from+r.Int64N(longest), args))
	}
	form := []string{"execute_context_0(0)_generation_1(1)", "step[DECODE bs=3]"}[r.IntN(2)]
	for range 1 + r.IntN(8) {
		add("user_annotation", form, 50, thread(), "", length/4)
	}
	for range r.IntN(20) {
		add("user_annotation", ranges[r.IntN(len(ranges))], 50, thread(), "", length/3)
	}
	calls := 1 + r.IntN(30)
	for i := range calls {
		name := []string{"cudaLaunchKernel", "cudaGraphLaunch", "cuLaunchKernelEx"}[r.IntN(3)]
		add("cuda_runtime", name, 50, thread(), fmt.Sprintf(`"correlation":%d`, i+1-r.IntN(2)), 8)
	}
	for range 1 + r.IntN(60) {
		cat, name := "kernel", names[r.IntN(len(names))]
		switch r.IntN(8) {
		case 0:
			cat, name = "gpu_memcpy", []string{"Memcpy HtoD (Pinned -> Device)", "Memcpy DtoH (Device -> Pageable)", "Memcpy DtoD (Device -> Device)"}[r.IntN(3)]
		case 1:
			cat, name = "gpu_memset", "Memset (Device)"
		}
		args := fmt.Sprintf(`"stream":%d,"correlation":%d`, r.IntN(3), 1+r.IntN(calls+2))
		add(cat, name, r.IntN(5)/4, r.IntN(3), args, 1+length/int64(5+r.IntN(40)))
	}
	for device := range 2 { // one that runs no kernel gives no steps
		add("kernel", names[r.IntN(len(names))], device, 0, `"correlation":1`, 20)
	}
	r.Shuffle(len(events), func(i, j int) { events[i], events[j] = events[j], events[i] })
	text := traceText(events...)
	if r.IntN(2) == 0 {
		text = strings.NewReplacer(`,"`, ",\n   \"", `":`, `" : `).Replace(text)
	}
	return text
}

// TestAgainstBruteForce compares random traces, read with stores of tiny runs
// in memory and in a file, with the brute force.
func TestAgainstBruteForce(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	dir := t.TempDir()
	rows, idle := 0, int64(0)
	for round := range 400 {
		text := randomTrace(r)
		limit, spill := 1+r.IntN(200), r.IntN(2) == 0
		g := readTrace(t, source.FromBytes("random", []byte(text)), func(rd *reader) {
			rd.limit = limit
			if spill {
				rd.vault = vault{budget: int64(r.IntN(300)), file: source.TempFile{Dir: dir}}
			}
		})
		from := 0
		devices := []int{0, 1} // in the order in which the file first names them
		if strings.Index(squeezed(text), `"pid":1,`) < strings.Index(squeezed(text), `"pid":0,`) {
			devices = []int{1, 0}
		}
		for _, device := range devices {
			b := newBrute(t, []byte(text), device)
			ends, _ := b.ends()
			to := from + len(ends)
			if to > len(g.steps) {
				t.Fatalf("round %d: %d rows, want %d or more", round, len(g.steps), to)
			}
			b.compare(t, g, g.steps[from:to], fmt.Sprint(device))
			for _, row := range g.steps[from:to] {
				if v, ok := row["scheduling"].(int64); ok {
					idle += v
				}
			}
			from = to
		}
		if from != len(g.steps) {
			t.Errorf("round %d: %d rows, want %d", round, len(g.steps), from)
		}
		rows += len(g.steps)
		if t.Failed() {
			t.Fatalf("round %d, runs of %d, in a file %v:\n%s", round, limit, spill, text)
		}
	}
	if rows < 400 || idle == 0 {
		t.Fatalf("%d rows with %d ns of scheduling: too few to mean anything", rows, idle)
	}
}

func squeezed(text string) string { return strings.ReplaceAll(text, " ", "") }
