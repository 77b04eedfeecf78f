package torchtrace

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/collective"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// sums adds the columns of rows.
func sums(rows []map[string]any) map[string]int64 {
	out := make(map[string]int64)
	for _, row := range rows {
		for name, v := range row {
			if n, ok := v.(int64); ok {
				out[name] += n
			}
		}
	}
	return out
}

// TestTP4 holds two ranks of a real deployment (H100, tensor parallel 4, 8
// decode steps) to the figures of the specification, to the publisher's, and
// to a brute force.
func TestTP4(t *testing.T) {
	for rank, want := range []map[string]int64{
		{"duration": 186841919, "compute": 113483682 + 6614969, "communication_overlapped": 6614969, "sampling": 100541, "communication": 44666514,
			"host_transfer": 131292, "launch_wait": 21844921, "scheduling": 0, "host_exec": 0, "host_gap": 0},
		{"duration": 186847903, "compute": 118332738 + 6398831, "communication_overlapped": 6398831, "sampling": 101312, "communication": 39766444,
			"host_transfer": 140955, "launch_wait": 22107623, "scheduling": 0, "host_exec": 0, "host_gap": 0},
	} {
		name := fmt.Sprintf("vllm/tp4-rank%d.pt.trace.json.gz", rank)
		src, text := unpacked(t, name)
		g := readTrace(t, src, nil)
		if len(g.steps) != 8 || len(g.diags) != 0 {
			t.Fatalf("%s: %d rows, diags %+v", name, len(g.steps), g.diags)
		}
		got := sums(g.steps)
		for column, v := range want {
			if got[column] != v {
				t.Errorf("%s: %s is %d, want %d", name, column, got[column], v)
			}
		}
		for i, row := range g.steps {
			wantParts(t, row, "kind=decode", "running=1", "decode_tokens=1", "prefill_tokens=0", "graph=true", "quantity=interval", "engine=vllm",
				fmt.Sprint("step=", i), fmt.Sprint("tp=", rank), fmt.Sprint("ep=", rank), "dp=null", "pp=null", fmt.Sprint("rank=", rank))
		}
		// The wall clock of the last step: base time and microseconds of the file.
		if rank == 0 {
			wantParts(t, g.steps[7], "t=1784329797097707724")
		}
		if nccl := []string{"nccl 58224007 ns (7.278 ms a step)", "nccl 52062154 ns (6.508 ms a step)"}[rank]; !g.note(nccl) {
			t.Errorf("%s: notes %q", name, g.meta.Notes)
		}
		if sum := []string{
			"186841919 ns in 7 intervals of steps = compute 113483682 + compute with overlapped communication 6614969 + sampling 100541 + communication 44666514 + host transfer 131292 + launch wait 21844921 + scheduling 0 + host execution 0 + host gap 0",
			"186847903 ns in 7 intervals of steps = compute 118332738 + compute with overlapped communication 6398831 + sampling 101312 + communication 39766444 + host transfer 140955 + launch wait 22107623 + scheduling 0 + host execution 0 + host gap 0",
		}[rank]; !g.note(sum) {
			t.Errorf("%s: notes %q, want %q", name, g.meta.Notes, sum)
		}
		newBrute(t, text, rank).compare(t, g, g.steps, fmt.Sprint(rank))
		countKinds(t, g, text)
	}
}

// TestPeers does the same for single steps of two other engines' builds, on
// devices of another maker. A single step has no interval; the whole recording
// is compared.
func TestPeers(t *testing.T) {
	for name, device := range map[string]int{"sglang_Qwen3-8B_decode.json.gz": 9, "vllm_decode_full_graph_execution.json.gz": 2} {
		src, text := unpacked(t, "peers/torch-traces/"+name)
		g := readTrace(t, src, nil)
		if len(g.steps) != 1 || g.diag("single_step") == nil {
			t.Fatalf("%s: %d rows, diags %+v", name, len(g.steps), g.diags)
		}
		wantParts(t, g.steps[0], "kind=decode", "running=32", "decode_tokens=32", "graph=true", "duration=null", "compute=null", "tp=null")
		newBrute(t, text, device).compare(t, g, g.steps, fmt.Sprint(device))
		countKinds(t, g, text)
	}
}

// countKinds holds the account to a count by encoding/json.
func countKinds(t *testing.T, g *got, text []byte) {
	t.Helper()
	var doc struct {
		TraceEvents []struct{ Ph, Cat, Name string }
	}
	if err := json.Unmarshal(text, &doc); err != nil {
		t.Fatal(err)
	}
	want := make(map[string]int64)
	var used int64
	for _, e := range doc.TraceEvents {
		switch {
		case e.Ph == "s" || e.Ph == "f":
			want["flow"]++
		case e.Ph == "M":
			want["metadata"]++
			if e.Name == "process_name" {
				used++
			}
		case e.Ph == "i":
			want["instant"]++
		default:
			want[e.Cat]++
			switch e.Cat {
			case "kernel", "gpu_memcpy", "gpu_memset", "cuda_runtime", "cuda_driver", "user_annotation":
				used++
			}
		}
	}
	a := g.account
	if fmt.Sprint(a.Kinds) != fmt.Sprint(want) {
		t.Errorf("kinds %v, want %v", a.Kinds, want)
	}
	if a.Total != int64(len(doc.TraceEvents)) || a.Diagnosed != 0 || a.Parsed < used || a.Parsed > used+want["python_function"]/4 {
		t.Errorf("account %+v, want %d parsed of %d", a, used, len(doc.TraceEvents))
	}
}

// TestTP4Waiting splits the communication of two of the four ranks. The sums
// over all four are known: 2.78 ms of transfer a step, and 3.7 to 4.5 ms of
// waiting for the slowest rank. Two ranks give an upper and a lower bound.
func TestTP4Waiting(t *testing.T) {
	ranks := make([][]collective.Kernel, 2)
	var durations [2][]int64 // in order of start, by encoding/json
	for rank := range ranks {
		src, text := unpacked(t, fmt.Sprintf("vllm/tp4-rank%d.pt.trace.json.gz", rank))
		by := make(map[collective.Place][]collective.Kernel)
		opened, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
		if err != nil {
			t.Fatal(err)
		}
		for opened.Next() {
			if b := opened.Batch(); b.Table == trace.Collectives {
				collective.Collect(by, b)
			}
		}
		opened.Close()
		ranks[rank] = by[collective.Place{DP: -1, TP: int64(rank), PP: -1, EP: int64(rank), Rank: int64(rank)}]
		collective.Order(ranks[rank])
		for _, g := range newBrute(t, text, rank).gpu {
			if g.class == "communication" {
				durations[rank] = append(durations[rank], g.to-g.from)
			}
		}
	}
	transfers, err := collective.Transfers(ranks...)
	if err != nil {
		t.Fatal(err)
	}
	if len(transfers) != 2464 {
		t.Fatalf("%d collectives", len(transfers))
	}
	for i, transfer := range transfers {
		if want := min(durations[0][i], durations[1][i]); transfer != want {
			t.Fatalf("collective %d: transfer %d, want %d", i, transfer, want)
		}
	}
	for rank, kernels := range ranks {
		var sum, nccl, ncclWait int64
		for i, k := range kernels {
			sum += k.Duration
			if strings.HasPrefix(k.Name, "nccl") {
				nccl += transfers[i]
				ncclWait += k.Duration - transfers[i]
			}
		}
		if s := collective.Durations(kernels, transfers); s.Transfer+s.Wait != sum {
			t.Errorf("rank %d: %+v of %d", rank, s, sum)
		}
		if nccl < 8*2_775_000 || ncclWait > 8*4_505_000 || nccl > 8*6_600_000 {
			t.Errorf("rank %d: NCCL transfer %d and wait %d a step do not bound 2.78 and 3.7 to 4.5 ms", rank, nccl/8, ncclWait/8)
		}
		// The exposed parts of the kernels are what the steps' class consists of.
		var inside []collective.Kernel
		var cost []int64
		for i, k := range kernels {
			if k.Step >= 1 {
				inside, cost = append(inside, k), append(cost, transfers[i])
			}
		}
		s := collective.Exposed(inside, cost)
		if total := []int64{44666514, 39766444}[rank]; s.Transfer+s.Wait != total || s.Transfer == 0 || s.Wait == 0 {
			t.Errorf("rank %d: exposed %+v, want a sum of %d", rank, s, total)
		}
		t.Logf("rank %d: transfer at most %d ns, wait at least %d ns a step", rank, nccl/8, ncclWait/8)
	}
}

// TestTruncatedReal cuts a real file anywhere: nothing but the end is lost.
func TestTruncatedReal(t *testing.T) {
	_, text := unpacked(t, "vllm/tp4-rank0.pt.trace.json.gz")
	const end = "\n  }" // of an event, as this file is indented
	if n := strings.Count(string(text), end); n != 64572 {
		t.Fatalf("%d ends of events", n)
	}
	for _, n := range []int{100, 3000, 40_000, 500_001, len(text) / 2, len(text) - 20_000, len(text) - 3} {
		g := readTrace(t, source.FromBytes("cut", text[:n]), nil)
		want := int64(strings.Count(string(text[:n]), end))
		if got := g.account.Parsed + g.account.Noise; got != want || g.diag("truncated") == nil {
			t.Errorf("cut at %d: %d events, want %d; diags %+v", n, got, want, g.diags)
		}
	}
}
