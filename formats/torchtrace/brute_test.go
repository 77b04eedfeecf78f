package torchtrace

import (
	"encoding/json"
	"fmt"
	"io"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"sort"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// The computation in this file shares no code with the package: it holds the
// whole document, as encoding/json reads it, and looks at every instant between
// two ends of events.

type bruteEvent struct {
	Ph, Cat, Name string
	Pid, Tid      any
	TS, Dur       json.Number
	Args          map[string]any
}

type bruteGPU struct {
	from, to int64
	class    string
	step     int // -1: none
	launch   int64
	launched bool
	thread   string
	corr     string
}

type bruteRange struct {
	from, to  int64
	thread    string
	scheduler bool
	order     int
}

type brute struct {
	gpu    []bruteGPU // by start
	steps  [][2]int64
	ranges []bruteRange
}

// exact returns microseconds as ns by rational arithmetic.
func exact(t testing.TB, n json.Number) int64 {
	r, ok := new(big.Rat).SetString(n.String())
	if !ok {
		t.Fatalf("no number: %q", n)
	}
	r.Mul(r, big.NewRat(1000, 1))
	if !r.IsInt() {
		t.Fatalf("%s µs is no whole number of ns", n)
	}
	return r.Num().Int64()
}

var (
	bruteComm = regexp.MustCompile(`(?i)^(void )?(vllm::)?(nccl(Dev)?Kernel|cross_device_reduce|multimem|symm_mem|two_shot|one_shot|rccl)`)
	bruteHost = regexp.MustCompile(`HtoD|DtoH|Host -> Device|Device -> Host`)
	bruteStep = regexp.MustCompile(`^(execute_(new|context|\d+)_|step\[)`)
	bruteSchd = regexp.MustCompile(`^(schedule: |scheduler\.(recv_requests|process_input_requests|get_next_batch_to_run)$)`)
	bruteExec = regexp.MustCompile(`^(gpu_model_runner: |llm_engine step: |scheduler\.(run_batch|process_batch_result)$)`)
	bruteSamp = regexp.MustCompile(`^nn.Module: Sampler|/sampler.py\(\d+\): forward$|^gpu_model_runner: sample`)
)

func newBrute(t testing.TB, text []byte, device any) *brute {
	var doc struct{ TraceEvents []bruteEvent }
	d := json.NewDecoder(strings.NewReader(string(text)))
	d.UseNumber()
	if err := d.Decode(&doc); err != nil {
		t.Fatal(err)
	}
	b := new(brute)
	type call struct {
		at     int64
		thread string
	}
	calls := make(map[string]call)
	var vllm []bool
	type stepRange struct {
		from, to int64
		vllm     bool
	}
	var all []stepRange
	var scopes []bruteRange
	for i, e := range doc.TraceEvents {
		if e.Ph != "X" {
			continue
		}
		thread := fmt.Sprint(e.Pid, "/", e.Tid)
		from := exact(t, e.TS)
		to := from + exact(t, e.Dur)
		rng := bruteRange{from: from, to: to, thread: thread, order: i}
		switch e.Cat {
		case "user_annotation":
			if bruteStep.MatchString(e.Name) {
				all = append(all, stepRange{from, to, strings.HasPrefix(e.Name, "execute")})
				b.ranges = append(b.ranges, rng)
			} else if bruteExec.MatchString(e.Name) {
				b.ranges = append(b.ranges, rng)
			} else if bruteSchd.MatchString(e.Name) {
				rng.scheduler = true
				b.ranges = append(b.ranges, rng)
			}
		case "cuda_runtime", "cuda_driver":
			b.ranges = append(b.ranges, rng)
			if c, ok := e.Args["correlation"]; ok {
				key := fmt.Sprint(c)
				if old, ok := calls[key]; !ok || from < old.at {
					calls[key] = call{from, thread}
				}
			}
		}
		if (e.Cat == "python_function" || e.Cat == "user_annotation") && bruteSamp.MatchString(e.Name) {
			scopes = append(scopes, rng)
		}
	}
	sort.Slice(all, func(i, j int) bool {
		return all[i].from < all[j].from || all[i].from == all[j].from && all[i].to > all[j].to
	})
	var reach int64 = -1 << 62
	for _, s := range all {
		if s.to > reach {
			b.steps = append(b.steps, [2]int64{s.from, s.to})
			vllm = append(vllm, s.vllm)
			reach = s.to
		}
	}
	for _, e := range doc.TraceEvents {
		if e.Ph != "X" || e.Cat != "kernel" && e.Cat != "gpu_memcpy" && e.Cat != "gpu_memset" || fmt.Sprint(e.Pid) != fmt.Sprint(device) {
			continue
		}
		g := bruteGPU{from: exact(t, e.TS), step: -1, class: "compute", corr: fmt.Sprint(e.Args["correlation"])}
		g.to = g.from + exact(t, e.Dur)
		var c call
		if c, g.launched = calls[g.corr]; g.launched {
			g.launch, g.thread = c.at, c.thread
			for i, s := range b.steps {
				if s[0] <= g.launch {
					g.step = i
				}
			}
		}
		switch {
		case e.Cat == "kernel" && bruteComm.MatchString(e.Name):
			g.class = "communication"
		case e.Cat == "gpu_memcpy" && bruteHost.MatchString(e.Name):
			g.class = "host_transfer"
		case g.step >= 0 && vllm[g.step] && g.launch >= b.steps[g.step][1]:
			g.class = "sampling"
		case g.step >= 0:
			for _, s := range scopes {
				if s.thread == g.thread && s.from <= g.launch && g.launch < s.to {
					g.class = "sampling"
				}
			}
		}
		b.gpu = append(b.gpu, g)
	}
	sort.SliceStable(b.gpu, func(i, j int) bool { return b.gpu[i].from < b.gpu[j].from })
	return b
}

// ends returns e_k of the steps that have an interval end of their own.
func (b *brute) ends() (ends []int64, steps []int) {
	last := make(map[int]int64)
	for _, g := range b.gpu {
		if old, ok := last[g.step]; !ok || g.to > old {
			last[g.step] = g.to
		}
	}
	for k := range b.steps {
		if e, ok := last[k]; ok && (len(ends) == 0 || e > ends[len(ends)-1]) {
			ends, steps = append(ends, e), append(steps, k)
		}
	}
	return ends, steps
}

// measure returns the time of each class within [from, to), by looking at
// every stretch between two neighbouring instants at which anything changes.
func (b *brute) measure(from, to int64) map[string]int64 {
	cuts := map[int64]bool{from: true, to: true}
	add := func(at int64) {
		if at > from && at < to {
			cuts[at] = true
		}
	}
	var inside []bruteGPU
	for _, g := range b.gpu {
		add(g.from)
		add(g.to)
		if g.launched {
			add(g.launch)
		}
		if g.to > from && g.from < to {
			inside = append(inside, g)
		}
	}
	for _, r := range b.ranges {
		add(r.from)
		add(r.to)
	}
	var at []int64
	for c := range cuts {
		at = append(at, c)
	}
	sort.Slice(at, func(i, j int) bool { return at[i] < at[j] })
	change := make(map[string][]int) // running events by class, as differences
	index := func(x int64) int { return sort.Search(len(at), func(i int) bool { return at[i] >= x }) }
	for _, g := range inside {
		if change[g.class] == nil {
			change[g.class] = make([]int, len(at)+1)
		}
		change[g.class][index(g.from)]++
		change[g.class][index(g.to)]--
	}
	running := make(map[string]int)
	sum := make(map[string]int64)
	for i := range len(at) - 1 {
		for class, d := range change {
			running[class] += d[i]
		}
		class := ""
		for _, c := range []string{"compute", "sampling", "communication", "host_transfer"} {
			if class == "" && running[c] > 0 {
				class = c
			}
		}
		if class == "compute" && running["communication"] > 0 {
			sum["communication_overlapped"] += at[i+1] - at[i]
		}
		if class == "" {
			class = b.idle(at[i])
		}
		sum[class] += at[i+1] - at[i]
	}
	return sum
}

// idle returns why the device is idle at an instant.
func (b *brute) idle(at int64) string {
	i := sort.Search(len(b.gpu), func(i int) bool { return b.gpu[i].from > at })
	if i == len(b.gpu) || !b.gpu[i].launched {
		return "host_gap"
	}
	next := b.gpu[i]
	if next.launch <= at {
		return "launch_wait"
	}
	var inner *bruteRange
	for j := range b.ranges {
		r := &b.ranges[j]
		if r.thread != next.thread || r.from > at || r.to <= at {
			continue
		}
		if inner == nil || r.from > inner.from || r.from == inner.from && r.order > inner.order {
			inner = r
		}
	}
	switch {
	case inner == nil:
		return "host_gap"
	case inner.scheduler:
		return "scheduling"
	}
	return "host_exec"
}

// dataFile returns a real file, or skips.
func dataFile(t testing.TB, name string) string {
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), "../../../shared/data", "../../../../shared/data"} {
		if path := filepath.Join(dir, name); dir != "" {
			if _, err := os.Stat(path); err == nil {
				return path
			}
		}
	}
	t.Skipf("%s is not here", name)
	return ""
}

// unpacked returns the source and the text of a real file.
func unpacked(t testing.TB, name string) (formats.Source, []byte) {
	in, err := source.Expand([]string{dataFile(t, name)}, nil, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { in.Close() })
	r, err := in.List[0].Source.Open(0)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	text, err := io.ReadAll(r)
	if err != nil {
		t.Fatal(err)
	}
	return in.List[0].Source, text
}

// compare holds the rows of one device, and its totals, to the brute force.
func (b *brute) compare(t *testing.T, g *got, rows []map[string]any, device string) {
	t.Helper()
	ends, steps := b.ends()
	if len(rows) != len(ends) {
		t.Fatalf("%d rows, want %d", len(rows), len(ends))
	}
	for i, row := range rows {
		wantParts(t, row, fmt.Sprint("step=", steps[i]))
		if i == 0 {
			continue
		}
		if v := row["duration"]; v != ends[i]-ends[i-1] {
			t.Errorf("step %d: duration %v, want %d", steps[i], v, ends[i]-ends[i-1])
		}
		want := b.measure(ends[i-1], ends[i])
		for _, class := range append(classes, "communication_overlapped") {
			if v, ok := row[class].(int64); v != want[class] || !ok && class != "sampling" && class != "scheduling" {
				t.Errorf("step %d: %s is %v, want %d", steps[i], class, row[class], want[class])
			}
		}
	}
	from, to := b.gpu[0].from, b.gpu[0].to
	for _, e := range b.gpu {
		from, to = min(from, e.from), max(to, e.to)
	}
	s := b.measure(from, to)
	idle := s["launch_wait"] + s["scheduling"] + s["host_exec"] + s["host_gap"]
	sampling := "unknown"
	for _, g := range b.gpu {
		if g.class == "sampling" {
			sampling = fmt.Sprint(s["sampling"])
		}
	}
	note := fmt.Sprintf("device %s: %d ns from the first event to the end of the last = compute %d + compute with overlapped communication %d + sampling %s + communication %d + host transfer %d + idle %d",
		device, to-from, s["compute"]-s["communication_overlapped"], s["communication_overlapped"], sampling, s["communication"], s["host_transfer"], idle)
	if !g.note(note) {
		t.Errorf("want the note %q, got %q", note, g.meta.Notes)
	}
}
