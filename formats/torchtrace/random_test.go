package torchtrace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"servescope/formats"
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
		g := readTrace(t, formats.FromBytes("random", []byte(text)), func(rd *reader) {
			rd.limit = limit
			if spill {
				rd.vault = vault{budget: int64(r.IntN(300)), dir: dir}
			}
		})
		from := 0
		for device := range 2 {
			if !strings.Contains(strings.ReplaceAll(text, " ", ""), fmt.Sprintf(`"pid":%d,`, device)) {
				continue
			}
			b := newBrute(t, []byte(text), device)
			ends, _ := b.ends()
			first := from
			if !g.note(fmt.Sprintf("device %d:", device)) {
				t.Fatalf("round %d: device %d is not there", round, device)
			}
			from += len(ends)
			if from > len(g.steps) {
				t.Fatalf("round %d: %d rows, want %d or more", round, len(g.steps), from)
			}
			b.compare(t, g, deviceRows(g, first, len(ends), ends), fmt.Sprint(device))
			for _, row := range g.steps[first:from] {
				if v, ok := row["scheduling"].(int64); ok {
					idle += v
				}
			}
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

// deviceRows returns the n rows that end at the given times: the devices of a
// trace follow each other in the order in which the file first names them.
func deviceRows(g *got, first, n int, ends []int64) []map[string]any {
	for from := range len(g.steps) - n + 1 {
		match := true
		for i := range n {
			match = match && g.steps[from+i]["t"] == base+ends[i]
		}
		if match {
			return g.steps[from : from+n]
		}
	}
	return g.steps[first : first+n]
}
