package servebench

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"fmt"
	"io"
	"math"
	"math/big"
	"math/rand/v2"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// plain is a dialect that says little.
var plain = Dialect{Name: "plain", HowTo: "ask for more", Describe: func(r *Record) (*trace.RunMeta, Rules) {
	return &trace.RunMeta{Clock: trace.Clock{Kind: trace.Monotonic}}, Rules{Counted: true}
}, Judge: func(k records.Keys) (formats.Score, string) {
	if k.Has("completed") {
		return formats.Likely, "it says what was completed"
	}
	return formats.No, "nothing was completed"
}}

// stamps is what a row says about time, as text; -1 for null.
func stamps(t *testing.T, src formats.Source, opt formats.Options) (list []string, gaps int) {
	t.Helper()
	r, err := Open(context.Background(), src, formats.Whole, opt, &plain)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			get := func(c trace.Col) int64 {
				if v, ok := b.Ints(c).At(i); ok {
					return v
				}
				return -1
			}
			g, _ := b.Lists(trace.ChunkGaps).At(i)
			gaps += len(g)
			list = append(list, fmt.Sprint(get(trace.Sent), get(trace.FirstToken), get(trace.LastToken), get(trace.PromptTokens), get(trace.OutputTokens), g))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return list, gaps
}

// seconds turns the text of a number into ns, rounded half to even.
func seconds(t *testing.T, s stdjson.Number) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(string(s))
	if !ok {
		t.Fatal(s)
	}
	r.Mul(r, big.NewRat(1e9, 1))
	v, rest := new(big.Int).QuoRem(r.Num(), r.Denom(), new(big.Int))
	if c := rest.Lsh(rest, 1).Cmp(r.Denom()); c > 0 || c == 0 && v.Bit(0) == 1 {
		v.Add(v, big.NewInt(1))
	}
	return v.Int64()
}

// TestAgainstEncodingJSON compares every row of a generated result with what
// encoding/json reads, for random blocks, workers and sources.
func TestAgainstEncodingJSON(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.Bench(&text, shapes.Config{Seed: 3, Count: 300, Tokens: 40, Open: 20}); err != nil {
		t.Fatal(err)
	}
	var in struct {
		Input  []int64            `json:"input_lens"`
		Output []int64            `json:"output_lens"`
		TTFT   []stdjson.Number   `json:"ttfts"`
		ITL    [][]stdjson.Number `json:"itls"`
		Start  []stdjson.Number   `json:"start_times"`
	}
	if err := stdjson.Unmarshal(text.Bytes(), &in); err != nil {
		t.Fatal(err)
	}
	var want []string
	for i := range in.TTFT {
		sent := seconds(t, in.Start[i])
		first := sent + seconds(t, in.TTFT[i])
		last := first
		gaps := []int64{}
		for _, g := range in.ITL[i] {
			gaps = append(gaps, seconds(t, g))
			last += gaps[len(gaps)-1]
		}
		want = append(want, fmt.Sprint(sent, first, last, in.Input[i], in.Output[i], gaps))
	}
	r := rand.New(rand.NewPCG(5, 5))
	for range 25 {
		opt := formats.Options{Workers: 1 + r.IntN(4), Block: 1 << r.IntN(18), Lists: true}
		src := source.FromBytes("in.json", text.Bytes())
		if r.IntN(3) == 0 {
			src = sequential{src}
		}
		got, _ := stamps(t, src, opt)
		if !slices.Equal(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Fatalf("%+v: %d rows, want %d; row %d\n got %.300s\nwant %.300s", opt, len(got), len(want), i, append(got, "nothing")[i], append(want, "nothing")[i])
		}
	}
}

// sequential is a source without random access.
type sequential struct{ formats.Source }

func (sequential) At() io.ReaderAt { return nil }

// endless is a result of one line that nobody could hold in memory: pieces
// repeated by arithmetic.
type endless struct {
	parts []repeated
	size  int64
}

type repeated struct {
	text  string
	times int64
	at    int64
}

func newEndless(requests int64) *endless {
	e := new(endless)
	add := func(text string, times int64) {
		e.parts = append(e.parts, repeated{text, times, e.size})
		e.size += int64(len(text)) * times
	}
	gaps := "[" + strings.Repeat("0.011944736004807055, ", 199) + "5.1e-05], "
	add(`{"request_rate": "inf", "completed": `+fmt.Sprint(requests)+`, "output_lens": [`, 1)
	add("201, ", requests-1)
	add(`201], "ttfts": [`, 1)
	add("0.18012345678912345, ", requests-1)
	add(`0.18012345678912345], "itls": [`, 1)
	add(gaps, requests-1)
	add(gaps[:len(gaps)-2], 1)
	add(`], "generated_texts": [`, 1)
	add(`"`+strings.Repeat(`lorem [[\"ipsum\"]] `, 40)+`", `, requests-1)
	add(`"x"], "errors": [`, 1)
	add(`"", `, requests-1)
	add(`""]}`, 1)
	return e
}

func (e *endless) Name() string       { return "endless.json" }
func (e *endless) Size() int64        { return e.size }
func (e *endless) ModTime() time.Time { return time.Time{} }
func (e *endless) At() io.ReaderAt    { return e }
func (e *endless) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(e, off, e.size-off)), nil
}

func (e *endless) ReadAt(b []byte, off int64) (n int, err error) {
	for _, p := range e.parts {
		size := int64(len(p.text))
		for n < len(b) && off >= p.at && off < p.at+size*p.times {
			k := copy(b[n:], p.text[(off-p.at)%size:])
			n, off = n+k, off+int64(k)
		}
	}
	if n < len(b) {
		return n, io.EOF
	}
	return n, nil
}

// TestMemory reads a line of 250 MB in what its small arrays and some blocks take.
func TestMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 250 MB")
	}
	const requests = 50_000
	src := newEndless(requests)
	if src.size < 240e6 {
		t.Fatalf("only %d bytes", src.size)
	}
	for _, s := range []formats.Source{src, sequential{src}} {
		runtime.GC()
		var before, now runtime.MemStats
		runtime.ReadMemStats(&before)
		r, err := Open(context.Background(), s, formats.Whole, formats.Options{Workers: 2, Lists: true}, &plain)
		if err != nil {
			t.Fatal(err)
		}
		rows, gaps, most := 0, 0, uint64(0)
		for r.Next() {
			rows += r.Batch().Rows
			gaps += len(r.Batch().Lists(trace.ChunkGaps).Values)
			runtime.ReadMemStats(&now)
			most = max(most, now.HeapInuse)
		}
		if r.Err() != nil || rows != requests || gaps != 200*requests {
			t.Fatalf("%d rows, %d gaps, %v", rows, gaps, r.Err())
		}
		r.Close()
		// Two batches of 2 MiB of gaps, the same again before it was collected,
		// eight blocks and their gaps, and 64 B per request.
		if limit := before.HeapInuse + 40<<20 + 64*requests; most > limit {
			t.Errorf("%d MiB in use, want at most %d", most>>20, limit>>20)
		}
	}
}

// TestBudget: a record with more requests than the memory takes gives no rows
// and says so; the next one is read.
func TestBudget(t *testing.T) {
	text := `{"completed": 1, "ttfts": [` + strings.Repeat("0.5,", 200_000) + `0.5], "errors": [` + strings.Repeat(`"",`, 200_000) + `""]}` + "\n" + `{"completed": 1, "ttfts": [0.5], "errors": [""]}`
	r, err := Open(context.Background(), source.FromBytes("x", []byte(text)), formats.Whole, formats.Options{Workers: 1, Memory: 1 << 20}, &plain)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	rows := 0
	for r.Next() {
		rows += r.Batch().Rows
	}
	runs := r.Runs()
	if rows != 1 || len(runs) != 2 || !strings.Contains(runs[0].NoRequests, "memory") || runs[1].NoRequests != "" {
		t.Errorf("%d rows, %+v", rows, runs)
	}
	if all := r.Diags().All(); len(all) != 1 || all[0].Code != "memory" {
		t.Errorf("%v", all)
	}
}

// TestLongLists: a list that no response can have, and a number that never
// ends, cost their own row only.
func TestLongLists(t *testing.T) {
	text := `{"completed": 4, "ttfts": [1, 1, 1, 1], "itls": [[` + strings.Repeat("1,", maxGaps+10) + `1], [2], [` + strings.Repeat("1", 100_000) + `], [2]], "errors": ["", "", "", ""]}`
	for _, workers := range []int{1, 3} {
		got, gaps := stamps(t, source.FromBytes("x", []byte(text)), formats.Options{Workers: workers, Block: 5000, Lists: true})
		want := []string{"0 1000000000 -1 -1 -1 []", "0 1000000000 3000000000 -1 -1 [2000000000]", "0 1000000000 -1 -1 -1 []", "0 1000000000 3000000000 -1 -1 [2000000000]"}
		if !slices.Equal(got, want) || gaps != 2 {
			t.Errorf("%d workers: %v", workers, got)
		}
	}
}

// TestBetweenRecords accounts for what stands around results.
func TestBetweenRecords(t *testing.T) {
	const one = `{"completed": 1, "ttfts": [0.5], "errors": [""]}`
	for _, c := range []struct {
		text                            string
		runs                            int
		total, parsed, diagnosed, noise int64
	}{
		{"", 0, 0, 0, 0, 0},
		{one, 1, 1, 1, 0, 0},
		{one + one + "\n\n" + one, 3, 3, 3, 0, 0},
		{"[" + one + "," + one + "]", 2, 2, 2, 0, 0},
		{"[\n" + one + ",\n " + one + "\n]\n", 2, 4, 2, 0, 2},
		{"starting\n" + one + "\ndone 100%\n]\n", 1, 4, 1, 2, 1},
		{`{"a": 1}` + "\n" + one, 1, 2, 1, 1, 0},
		{"[1, 2, 3]\n" + one + ` trailing "text` + "\n" + one, 2, 4, 2, 2, 0},
		{"{\n\"completed\": 1,\n\"duration\"! 5\n}\n" + one, 2, 3, 2, 1, 0},
		{one + "\n\xEF\xBB\xBF" + one + "\n\x1e" + one + "\x00\x00\x00", 3, 3, 3, 0, 0},
	} {
		r, err := Open(context.Background(), source.FromBytes("x", []byte(c.text)), formats.Whole, formats.Options{Workers: 1}, &plain)
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
		}
		a := r.Account()
		if len(r.Runs()) != c.runs || a.Total != c.total || a.Parsed != c.parsed || a.Diagnosed != c.diagnosed || a.Noise != c.noise || a.Total != a.Parsed+a.Diagnosed+a.Noise {
			t.Errorf("%q: %d runs, %+v", c.text, len(r.Runs()), a)
		}
		if (len(r.Diags().All()) == 0) != (c.diagnosed == 0 && c.runs > 0) {
			t.Errorf("%q: %v", c.text, r.Diags().All())
		}
		r.Close()
	}
}

func TestStatistic(t *testing.T) {
	for key, want := range map[string]string{"mean": "mean", "median": "0.5", "p99": "0.99", "p99.9": "0.999", "p5": "0.05", "p50": "0.5", "p90": "0.9",
		"p100": "", "p0": "", "px": "", "std": "std", "count": "", "p1.2.3": "",
		"avg": "mean", "average": "mean", "stddev": "std", "std_dev": "std", "p0.1": "0.001", "p90.0": "0.9", "p": "", "variance": ""} {
		if got := Statistic(key); got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// TestReported: base units, and no metric of ours for figures of a part.
func TestReported(t *testing.T) {
	for key, want := range map[string]string{
		"p99.9_e2el_ms": "e2e 0.999 1500000 ns", "median_e2e_latency_ms": "e2e 0.5 1500000 ns", "std_itl_ms": "chunk_gap std 1500000 ns",
		"steady_state.mean_ttft_ms": " mean 1500000 ns", "probe_p99_e2el_ms": " 0.99 1500000 ns", "request_inthroughput": "request_rate_ok value 1.5 requests/s",
		"cache_report.cache_hit_rate_pct": " value 0.015 ratio", "mean_foo_ms": "", "avg_turns_completed": "", "duration": "", "mean_ms": "", "_ms": "",
	} {
		r := Record{Settings: []Setting{{Key: key, Kind: json.Number, Text: "1.5"}}}
		got := ""
		for _, rep := range r.Reported() {
			got = fmt.Sprintf("%s %s %s %s", rep.Metric, rep.Stat, strconv.FormatFloat(rep.Value, 'f', -1, 64), rep.Unit)
		}
		if got != want {
			t.Errorf("%s: %q, want %q", key, got, want)
		}
	}
}

// TestSum: durations on both sides of where their sum is known to fit, and of
// what is no plausible time: one over a quarter, a sum over half of an int64.
func TestSum(t *testing.T) {
	const short, long = 1<<39 - 1, math.MaxInt64 / 4
	for _, c := range []struct {
		gaps  []int64
		total int64
		ok    bool
	}{
		{nil, 0, true},
		{[]int64{5, -7, 0}, -2, true},
		{[]int64{short, short, -short}, short, true},
		{[]int64{short + 1, 1}, short + 2, true},
		{[]int64{-short - 2, 1}, -short - 1, true},
		{[]int64{long, long}, 2 * long, true},
		{[]int64{long, -long, -long}, -long, true},
		{[]int64{long, long, 2}, 0, false},
		{[]int64{long + 1}, 0, false},
		{[]int64{1, -long - 1}, 0, false},
		{[]int64{math.MinInt64}, 0, false},
	} {
		if total, ok := sum(c.gaps); total != c.total || ok != c.ok {
			t.Errorf("sum(%d) = %d, %v, want %d, %v", c.gaps, total, ok, c.total, c.ok)
		}
	}
}
