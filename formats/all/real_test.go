package all

import (
	"bytes"
	"compress/gzip"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

// real is what reading a real file must give.
type real struct {
	file, format             string
	total, parsed, diagnosed int64
	kinds                    string            // of the account, as Go prints a map
	diags                    string            // how often, by code
	found                    map[string]string // records of these kinds are as many as matches of these expressions
}

var reals = []real{
	{"vllm/bench-serve-2025-03-c128.json", "vllmbench", 1, 1, 0,
		"[requests:100]",
		"[]", nil},
	{"vllm/bench-serve-2026-07-spec-2of4-failed.json", "vllmbench", 1, 1, 0,
		"[requests:4]",
		"[]", nil},
	{"vllm/bench-serve-v0.25-aggregates.json", "vllmbench", 1, 1, 0,
		"[]",
		"[no_requests:1]", nil},
	{"vllm/bench-serve-v0.25-all-failed.json", "vllmbench", 1, 1, 0,
		"[]",
		"[no_requests:1]", nil},
	{"vllm/bench-sweep-summary.json", "vllmbench", 4, 2, 0,
		"[]",
		"[no_requests:2]", nil},
	{"vllm/metrics-v0.25-loaded.prom", "promtext", 607, 350, 0,
		"[began:37 bucket:253 count:15 help:86 other program:85 sum:15 type:86 value:30]",
		"[time_assumed:1]", map[string]string{"bucket": `(?m)^vllm:\S+_bucket\{`, "sum": `(?m)^vllm:\S+_sum\{`}},
	{"vllm/otlp-llm_request-v0.11-engineV1.traces.json", "otlp", 280, 280, 0,
		"[vllm request (V1):280]",
		"[]", map[string]string{"vllm request (V1)": `"spanId"`}},
	{"vllm/profiler_out_0.txt", "torchtable", 107, 103, 0,
		"[blank:1 heading:1 range:2 row:98 rule:3 total:2]",
		"[]", nil},
	{"vllm/server-paired-with-otlp.log", "vllmlog", 287, 228, 7,
		"[arguments:1 cache size:1 engine:1 message:52 stats:224 version:1]",
		"[unused_startup_time:7]", map[string]string{"stats": `Avg prompt throughput: `}},
	{"vllm/server-v0.25-stats.log", "vllmlog", 426, 194, 20,
		"[access:105 arguments:1 blank:2 cache size:1 engine:1 furniture:1 library:3 message:179 progress:18 speculation:37 stats:48 uvicorn:6 version:1 warning:3]",
		"[compilation_during_inference:4 unknown_field:74 unrecognised_line:1 unused_startup_time:15]", map[string]string{"stats": `Avg prompt throughput: `, "speculation": `SpecDecoding metrics: `, "access": `HTTP/1\.1" \d{3}`}},
	{"vllm/server-with-requests.log", "vllmlog", 525, 242, 15,
		"[access:208 arguments:2 blank:13 cache size:1 engine:1 furniture:4 library:7 message:149 progress:84 stats:28 uvicorn:7 version:2 warning:4]",
		"[unrecognised_line:4 unused_startup_time:11]", map[string]string{"stats": `Avg prompt throughput: `, "access": `HTTP/1\.1" \d{3}`}},
	{"vllm/tp4-rank0.pt.trace.json.gz", "torchtrace", 64572, 31220, 0,
		"[Trace:1 cpu_op:2048 cuda_driver:32 cuda_runtime:523 flow:31195 gpu_memcpy:104 gpu_memset:2504 gpu_user_annotation:48 instant:2 kernel:28032 metadata:70 overhead:5 user_annotation:8]",
		"[]", map[string]string{"kernel": `"cat": ?"kernel"`, "cuda_runtime": `"cat": ?"cuda_runtime"`, "flow": `"ph": ?"[sf]"`}},
	{"vllm/tp4-rank1.pt.trace.json.gz", "torchtrace", 64545, 31207, 0,
		"[Trace:1 cpu_op:2048 cuda_driver:32 cuda_runtime:510 flow:31182 gpu_memcpy:104 gpu_memset:2504 gpu_user_annotation:48 instant:2 kernel:28032 metadata:70 overhead:4 user_annotation:8]",
		"[]", map[string]string{"kernel": `"cat": ?"kernel"`, "cuda_runtime": `"cat": ?"cuda_runtime"`, "flow": `"ph": ?"[sf]"`}},
	{"sglang/bench_serving-console.txt", "benchconsole", 57, 35, 0,
		"[arguments:2 blank:2 heading:4 other text:16 row:31 table:1 table end:1]",
		"[]", nil},
	{"sglang/bench_serving-v0.4.0.jsonl", "sglangbench", 7, 7, 0,
		"[]",
		"[no_requests:7]", nil},
	{"sglang/bench_serving-v0.5.6-aggregates.jsonl", "sglangbench", 1, 1, 0,
		"[]",
		"[no_requests:1]", nil},
	{"sglang/multi-node-tqdm-glued.log", "sglanglog", 1541, 648, 105,
		"[access:218 arguments:1 blank:180 decode:45 furniture:206 installer:52 library:55 message:115 prefill:383 progress:134 started:1 uvicorn:4 warning:42]",
		"[engines_missing:1 unrecognised_line:94 unused_evaluation:3 unused_startup_time:8]", map[string]string{"prefill": `Prefill batch`, "decode": `Decode batch`, "access": `HTTP/1\.1" \d{3}`}},
	{"sglang/pd-decode-node.log", "sglanglog", 6842, 4909, 80,
		"[access:1553 arguments:1 blank:20 decode:3355 furniture:521 installer:30 library:127 message:416 progress:329 uvicorn:34 warning:376]",
		"[engines_missing:1 unrecognised_line:32 unused_startup_time:48]", map[string]string{"decode": `Decode batch`, "access": `HTTP/1\.1" \d{3}`}},
	{"sglang/pd-prefill-node.log", "sglanglog", 2885, 1216, 29,
		"[access:804 arguments:1 blank:20 furniture:478 installer:26 library:96 message:371 prefill:410 progress:312 started:1 uvicorn:4 warning:333]",
		"[unrecognised_line:29]", map[string]string{"prefill": `Prefill batch`, "access": `HTTP/1\.1" \d{3}`}},
	{"sglang/server-2026-09-reqtimestats.excerpt.log", "sglanglog", 24, 23, 0,
		"[access:7 decode:4 health check:1 prefill:7 time stats:5]",
		"[]", map[string]string{"prefill": `Prefill batch`, "decode": `Decode batch`, "time stats": `ReqTimeStats\(rid=[0-9a-f]`, "health check": `ReqTimeStats\(rid=HEALTH_CHECK`, "access": `HTTP/1\.1" \d{3}`}},
	{"peers/torch-traces/sglang_Qwen3-8B_decode.json.gz", "torchtrace", 2058, 603, 0,
		"[cpu_op:61 cuda_runtime:29 flow:587 gpu_memcpy:3 kernel:555 python_function:821 user_annotation:2]",
		"[single_step:1]", map[string]string{"kernel": `"cat": ?"kernel"`, "cuda_runtime": `"cat": ?"cuda_runtime"`, "flow": `"ph": ?"[sf]"`}},
	{"peers/torch-traces/vllm_decode_full_graph_execution.json.gz", "torchtrace", 1993, 488, 0,
		"[cpu_op:100 cuda_runtime:20 flow:454 gpu_memcpy:9 kernel:425 python_function:984 user_annotation:1]",
		"[single_step:1]", map[string]string{"kernel": `"cat": ?"kernel"`, "cuda_runtime": `"cat": ?"cuda_runtime"`, "flow": `"ph": ?"[sf]"`}},
}

// dataDirs are where real files of others may lie; they are no part of the project.
var dataDirs = []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"}

// dataDir returns the folder of real files, or skips the test.
func dataDir(t *testing.T) string {
	t.Helper()
	for _, dir := range dataDirs {
		if _, err := os.Stat(filepath.Join(dir, "vllm")); dir != "" && err == nil {
			return dir
		}
	}
	t.Skip("no real files")
	return ""
}

// TestRealFiles accounts for every line, or record, of every real file: it is
// detected without a hint, and what is read, diagnosed and known to carry nothing
// adds up to it. A file of which this says nothing fails the test.
func TestRealFiles(t *testing.T) {
	root := dataDir(t)
	known := make(map[string]real)
	for _, r := range reals {
		known[r.file] = r
	}
	for _, dir := range []string{"vllm", "sglang", "peers/torch-traces"} {
		files, err := os.ReadDir(filepath.Join(root, dir))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			name := dir + "/" + f.Name()
			t.Run(name, func(t *testing.T) {
				r, ok := known[name]
				if !ok {
					t.Errorf("nothing is known of it")
				}
				r.file = name
				r.check(t, filepath.Join(root, name))
			})
		}
	}
}

func (r real) check(t *testing.T, path string) {
	inputs, err := source.Expand([]string{path}, nil, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer inputs.Close()
	src := inputs.List[0].Source
	head, err := formats.ReadHead(src)
	if err != nil {
		t.Fatal(err)
	}
	d, err := Set().Detect(head)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := d.Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 2, Year: 2026, TZ: time.UTC})
	if err != nil {
		t.Fatal(err)
	}
	defer reader.Close()
	for reader.Next() {
	}
	if reader.Err() != nil {
		t.Fatal(reader.Err())
	}
	a := reader.Account()
	counts := make(map[string]int64)
	for _, d := range reader.Diags().All() {
		counts[d.Code] += d.Count
	}
	got := real{file: r.file, format: d.Format.Name, total: a.Total, parsed: a.Parsed, diagnosed: a.Diagnosed,
		kinds: fmt.Sprint(a.Kinds)[3:], diags: fmt.Sprint(counts)[3:], found: r.found}
	if g, w := fmt.Sprintf("%+v", got), fmt.Sprintf("%+v", r); g != w {
		t.Errorf("\n got %s\nwant %s", g, w)
	}
	if a.Parsed+a.Diagnosed+a.Noise != a.Total || a.Noise < 0 {
		t.Errorf("%d read, %d diagnosed and %d without data are not %d", a.Parsed, a.Diagnosed, a.Noise, a.Total)
	}
	text := content(t, path)
	if strings.HasSuffix(path, ".log") && a.Total != int64(bytes.Count(text, []byte("\n"))) {
		t.Errorf("%d lines, want %d", a.Total, bytes.Count(text, []byte("\n")))
	}
	for kind, expression := range r.found {
		if n := len(regexp.MustCompile(expression).FindAllIndex(text, -1)); int64(n) != a.Kinds[kind] || n == 0 {
			t.Errorf("%d records of kind %s, but %d matches", a.Kinds[kind], kind, n)
		}
	}
}

// content returns the text of a file.
func content(t *testing.T, path string) []byte {
	b, err := os.ReadFile(path)
	if err == nil && strings.HasSuffix(path, ".gz") {
		var z *gzip.Reader
		if z, err = gzip.NewReader(bytes.NewReader(b)); err == nil {
			b, err = io.ReadAll(z)
		}
	}
	if err != nil {
		t.Fatal(err)
	}
	return b
}
