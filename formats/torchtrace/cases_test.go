package torchtrace

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// TestP68BadText: control characters and invalid UTF-8 in names, raw.
func TestP68BadText(t *testing.T) {
	g := readText(t, `{"traceEvents":[{"ph":"X","name":"a`+"\x01"+`b","ts":1,"dur":1},{"ph":"X","name":"`+"\xff\xfe"+`(0): x","ts":2,"dur":1}]}`)
	if d := g.diag("bad_text"); g.account.Total != 2 || d == nil || d.Count != 2 || d.Offset != 16 {
		t.Errorf("account %+v, diags %+v", g.account, g.diags)
	}
	// Of a kernel the name is shown, repaired; escapes and other scripts are fine.
	g = readText(t, traceText(kernelEvent("x", 0, 7, 0), strings.Replace(kernelEvent("NAME", 7, 9, 0), "NAME", "b\xffad\x02", 1),
		strings.Replace(kernelEvent("NAME", 9, 10, 0), "NAME", `q\"uoté\u00e9`, 1)))
	if d := g.diag("bad_text"); d == nil || d.Count != 1 {
		t.Errorf("diags %+v", g.diags)
	}
	if !g.note("x 7 ns, b\uFFFDad\uFFFD 2 ns") {
		t.Errorf("notes %q", g.meta.Notes)
	}
}

// TestP70Truncated cuts a trace at every byte: the events that are complete are
// kept, and it is said where it ends.
func TestP70Truncated(t *testing.T) {
	g := readText(t, `[{"ph":"X","ts":1,"dur":2,"name":"k"},`)
	if d := g.diag("truncated"); g.account.Total != 1 || d == nil || d.Msg != "truncated after event 1 at byte 37" || d.Offset != 37 || d.Severity != diag.DataLoss {
		t.Errorf("account %+v, diags %+v", g.account, g.diags)
	}
	events := []string{
		mark("step[DECODE bs=1]", 0, 5), callEvent("cudaLaunchKernel", 1, 1), kernelEvent("gemm", 2, 9, 1),
		strings.Replace(kernelEvent("NAME", 9, 12, 1), "NAME", `{\"a\": [}]\\`, 1),
		mark("step[DECODE bs=1]", 10, 15), callEvent("cudaLaunchKernel", 11, 2), kernelEvent("gemm", 12, 19, 2),
	}
	for _, open := range []string{"[", `{"traceEvents":[`, `{"schemaVersion":1, "traceEvents" : [ `} {
		text := open + strings.Join(events, ", ")
		for n := range len(text) + 1 {
			var whole int64
			end := len(open)
			for _, e := range events {
				if end+len(e) > n {
					break
				}
				whole++
				end += len(e) + 2
			}
			g := readText(t, text[:n])
			d := g.diag("truncated")
			if got := g.account.Parsed + g.account.Noise; got != whole || d == nil && n > 0 {
				t.Fatalf("cut at %d of %q: %d events, want %d; diags %+v", n, text[:n], got, whole, g.diags)
			}
			if whole > 0 {
				if want := fmt.Sprintf("truncated after event %d at byte %d", whole, end-2); d.Msg != want {
					t.Fatalf("cut at %d: %q, want %q", n, d.Msg, want)
				}
			}
			if rows := []int{0, 0, 0, 1, 1, 1, 1, 2}[whole]; len(g.steps) != rows {
				t.Fatalf("cut at %d: %d rows, want %d", n, len(g.steps), rows)
			}
		}
	}
}

// TestP70TruncatedGzip: what a compressed file without its end still holds is
// used, and both the file's end and the text's are reported.
func TestP70TruncatedGzip(t *testing.T) {
	var text, packed bytes.Buffer
	if err := shapes.TorchTrace(&text, shapes.Config{Seed: 5, Count: 4}); err != nil {
		t.Fatal(err)
	}
	w := gzip.NewWriter(&packed)
	w.Write(text.Bytes())
	w.Close()
	path := filepath.Join(t.TempDir(), "rank0.pt.trace.json.gz")
	if err := os.WriteFile(path, packed.Bytes()[:packed.Len()-100], 0o666); err != nil {
		t.Fatal(err)
	}
	in, err := source.Expand([]string{path}, nil, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	src := in.List[0].Source
	g := readTrace(t, src, nil)
	d := g.diag("truncated")
	if d == nil || d.Offset < int64(text.Len())/2 || len(formats.FaultsOf(src).All()) == 0 {
		t.Fatalf("diags %+v, faults %+v", g.diags, formats.FaultsOf(src).All())
	}
	before := readText(t, text.String()[:d.Offset])
	if got, want := g.account.Total-g.account.Diagnosed, before.account.Total; got != want || got < 1000 || g.account.Kinds["kernel"] != 1200 {
		t.Errorf("%d events, want %d; %+v", got, want, g.account)
	}
}

// TestP70Commas: trailing and missing commas, a bare array, NULs, nothing.
func TestP70Commas(t *testing.T) {
	k := kernelEvent("gemm", 0, 5, 0)
	for _, text := range []string{
		"[" + k + "," + k + "]", "[" + k + "," + k + ",]", "[" + k + k + "]", "[" + k + ",\n,\n" + k + "]\n", "\xef\xbb\xbf[" + k + "," + k + "]\x00\x00",
		`{"traceEvents":[` + k + "," + k + `,],}`, `{"traceEvents":[` + k + `],"x":{"y":[1,{}]},"traceEvents":[` + k + `]}`,
		`{"x":nan,"y":-inf "z":"\"","traceEvents":[` + strings.TrimSuffix(k, "}") + `,}` + "," + k + `]}`,
	} {
		g := readText(t, text)
		if g.account.Total != 2 || g.account.Parsed != 2 || g.diag("truncated") != nil {
			t.Errorf("%q: account %+v, diags %+v", text, g.account, g.diags)
		}
		for _, d := range g.diags {
			if d.Code != "no_step_range" {
				t.Errorf("%q: %+v", text, d)
			}
		}
	}
	g := readText(t, "["+k+"] {\"again\":1}")
	if d := g.diag("trailing_data"); d == nil || d.Offset != int64(len(k))+3 {
		t.Errorf("diags %+v", g.diags)
	}
}

// TestDamagedEvents: one damaged event costs itself and no other.
func TestDamagedEvents(t *testing.T) {
	k := func(i int) string { return kernelEvent("gemm", int64(10*i), int64(10*i+5), 0) }
	for _, bad := range []string{
		`{"ph":"X","ts":12 34}`, `{"ph":"X",]}`, `{"ph" "X"}`, `17`, `"text"`, `{"ph":"X","name":"C:\dir\","cat":"kernel"}`, `{"ph":"X","name":"a"b"}`,
		`{{"ph":"X"}}`, `}`, `[1,{"a":2}]`, `null`, `{"ph":"X","args":{"x":"y}}`, `x`,
	} {
		for _, last := range []bool{false, true} {
			list := []string{k(0), k(1), bad, k(2), k(3)}
			parsed := int64(4)
			if last {
				list = []string{k(0), k(1), bad}
				parsed = 2
			}
			g := readText(t, traceText(list...))
			if g.account.Parsed != parsed || g.account.Diagnosed == 0 || g.diag("event_malformed") == nil {
				t.Errorf("%s, last %v: account %+v, diags %+v", bad, last, g.account, g.diags)
			}
		}
	}
}

// TestP71Decimals: microseconds are decimals, never floats, and ts is in
// microseconds whatever displayTimeUnit says.
func TestP71Decimals(t *testing.T) {
	at := func(head string, ts ...string) []int64 {
		t.Helper()
		var events []string
		for i, ts := range ts {
			events = append(events,
				fmt.Sprintf(`{"ph":"X","cat":"user_annotation","name":"step[DECODE bs=1]","pid":1,"tid":1,"ts":%s,"dur":0.02}`, ts),
				fmt.Sprintf(`{"ph":"X","cat":"cuda_runtime","name":"cudaLaunchKernel","pid":1,"tid":1,"ts":%s,"dur":0.01,"args":{"correlation":%d}}`, ts, i+1),
				fmt.Sprintf(`{"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":1,"ts":%s,"dur":0.05,"args":{"correlation":%d}}`, ts, i+1))
		}
		g := readText(t, head+`"displayTimeUnit":"ms","traceEvents":[`+strings.Join(events, ",")+"]}")
		var out []int64
		for _, row := range g.steps {
			out = append(out, row["t"].(int64))
		}
		return out
	}
	want := []int64{1767225600123456150, 1767225600123456250, 1767225600123456400}
	for name, got := range map[string][]int64{
		"absolute": at("{", "1767225600123456.100", "1767225600123456.200", "1767225600123456.350"),
		"base":     at(`{"baseTimeNanoseconds": 1767225600000000000,`, "123456.100", "123456.2", "1.2345635e5"),
	} {
		if fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}

// TestOddNumbers: times that are no numbers are diagnosed; odd arguments are not
// even looked at.
func TestOddNumbers(t *testing.T) {
	g := readText(t, `[
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":nan,"dur":1},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1,"dur":-1},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":1e300,"dur":1},
		{"ph":"X","cat":"kernel","name":"k","pid":0,"tid":1,"ts":"3","dur":"4.5"},
		{"ph":"X","cat":"kernel","name":"gemm","pid":"0","tid":"s","ts":10,"dur":1,"args":{"occupancy":inf,"x":-Infinity,"y":NaN,"z":[nan,{}],"correlation":"12"}}
	]`)
	if d := g.diag("event_without_time"); g.account.Parsed != 2 || d == nil || d.Count != 4 || g.account.Diagnosed != 4 {
		t.Errorf("account %+v, diags %+v", g.account, g.diags)
	}
	if !g.note("8000 ns from the first event to the end of the last = compute 5500 ") || !g.note("k 4500 ns") {
		t.Errorf("notes %q", g.meta.Notes)
	}
}

// TestP72Communication: communication is known by its kernels' names, old and new.
func TestP72Communication(t *testing.T) {
	g := readText(t, traceText(
		mark("step[DECODE bs=1]", 0, 5), callEvent("cudaLaunchKernel", 1, 1), kernelEvent("gemm", 2, 1000, 1),
		mark("step[DECODE bs=1]", 10, 15), callEvent("cudaLaunchKernel", 11, 2),
		kernelEvent("ncclDevKernel_AllReduce_Sum_bf16_RING_LL", 1000, 2_001_000, 2),
		kernelEvent("cross_device_reduce_1stage", 2_001_000, 3_001_000, 2),
		kernelEvent("gemm", 3_001_000, 10_001_000, 2), kernelEvent("mystery", 10_001_000, 10_001_500, 2),
	))
	wantParts(t, g.steps[1], "communication=3000000", "compute=7000500", "unclassified=500")
	if !g.note("custom all-reduce 1000000 ns (0.500 ms a step), nccl 2000000 ns (1.000 ms a step)") || !g.note("mystery 500 ns") {
		t.Errorf("notes %q", g.meta.Notes)
	}
	// None at all, although there are ranks: unknown, not 0.
	g = readText(t, strings.Replace(traceText(
		mark("step[DECODE bs=1]", 0, 5), callEvent("cudaLaunchKernel", 1, 1), kernelEvent("gemm", 2, 10, 1),
		mark("step[DECODE bs=1]", 10, 15), callEvent("cudaLaunchKernel", 11, 2), kernelEvent("gemm", 11, 20, 2),
	), `{"schema`, `{"distributedInfo":{"backend":"nccl","rank":3,"world_size":4,"pg_config":[{"ranks":[0,1,2,3]}]},"schema`, 1))
	wantParts(t, g.steps[1], "communication=null", "compute=9", "rank=3", "launch_wait=0", "host_exec=1")
	if g.diag("comm_not_recognised") == nil {
		t.Errorf("diags %+v", g.diags)
	}
}

// TestP73BusyTime: busy time is a union, and synchronisation is no work.
func TestP73BusyTime(t *testing.T) {
	sync := complete("cuda_sync", "Stream Sync", 0, 7, 0, 15, `"stream":7`)
	call := complete("cuda_runtime", "cudaStreamSynchronize", 1, 1, 0, 15, `"correlation":8`)
	g := readText(t, traceText(kernelEvent("gemm", 0, 10, 0), kernelEvent("ncclDevKernel_AllReduce", 5, 15, 0), sync, call))
	if !g.note("15 ns from the first event to the end of the last = compute 5 + compute with overlapped communication 5 + sampling unknown + communication 5 + host transfer 0 + idle 0") {
		t.Errorf("notes %q", g.meta.Notes)
	}
	if g.account.Noise != 1 || g.account.Kinds["cuda_sync"] != 1 {
		t.Errorf("account %+v", g.account)
	}
}

// TestP74Graph: one replay, one correlation id, three kernels.
func TestP74Graph(t *testing.T) {
	g := readText(t, traceText(
		mark("step[DECODE bs=1]", 0, 10), callEvent("cudaGraphLaunch", 1, 9),
		kernelEvent("gemm", 1_000, 1_001_000, 9), kernelEvent("flash_attn", 1_001_000, 3_001_000, 9), kernelEvent("norm", 3_002_000, 6_002_000, 9),
		mark("step[DECODE bs=1]", 3_000_000, 3_000_010), callEvent("cudaGraphLaunch", 3_000_001, 10),
		kernelEvent("gemm", 6_003_000, 7_003_000, 10), kernelEvent("norm", 7_004_000, 8_004_000, 10), kernelEvent("norm", 8_004_000, 8_005_000, 10),
	))
	if !g.note("graph replay: no operator information for 100.0 % of device time") || g.note("unclassified") {
		t.Errorf("notes %q", g.meta.Notes)
	}
	wantParts(t, g.steps[1], "graph=true", "compute=2001000", "launch_wait=2000", "device_gap=1000", "duration=2003000")
}

// TestWrongFile: what is no trace is called so.
func TestWrongFile(t *testing.T) {
	for _, text := range []string{"", "   ", "prose", "12", "\x7fELF\x00\x00", "{", `{"a":1}`, "[]", "[1,2,3]", `{"traceEvents":{}}`} {
		g := readText(t, text)
		if len(g.steps) > 0 {
			t.Errorf("%q: %d rows", text, len(g.steps))
		}
		if text != "[]" && text != `{"a":1}` && text != `{"traceEvents":{}}` && len(g.diags) == 0 {
			t.Errorf("%q: no diag", text)
		}
	}
}

// TestSniff: the formats of others are not ours.
func TestSniff(t *testing.T) {
	for text, want := range map[string]formats.Score{
		`{"schemaVersion":1,"deviceProperties":[{"id":0`: formats.Sure,
		`{"schemaVersion":1,"traceEvents":[`:             formats.Sure,
		`{"traceEvents":[{"ph":"X"}]}`:                   formats.Likely,
		`[{"name":"k","ph":"X","ts":1`:                   formats.Likely,
		`{"resourceSpans":[]}`:                           formats.No,
		`[{"a":1}]`:                                      formats.No,
		`{"traceEvents":3}`:                              formats.No,
		`plain`:                                          formats.No,
		`{"date":"20250301","backend":"vllm","request_throughput":1.5}`: formats.No,
	} {
		if got, why := sniff(&formats.Head{Start: []byte(text), Size: int64(len(text))}); got != want || why == "" {
			t.Errorf("%s: score %d (%s), want %d", text, got, why, want)
		}
	}
}
