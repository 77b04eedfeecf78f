package analyzer

import (
	"bufio"
	"encoding/json"
	"math"
	"math/big"
	"os"
	"sort"
	"strings"
	"testing"
)

// What follows recomputes the figures of benchmark results and token logs from
// their raw arrays, in the plainest way, with encoding/json and exact rational
// numbers for times. It shares no code with the analyzer.

// bruteRequest is one request; times in ns.
type bruteRequest struct {
	ttft   int64 // 0: none
	gaps   []int64
	prompt int64
	output int64
	failed bool
}

// ns turns decimal seconds into ns, exactly, rounding half to even.
func ns(t *testing.T, seconds json.Number) int64 {
	t.Helper()
	r, ok := new(big.Rat).SetString(string(seconds))
	if !ok {
		t.Fatalf("%q is no number", seconds)
	}
	r.Mul(r, big.NewRat(1e9, 1))
	twice := new(big.Int).Mul(r.Num(), big.NewInt(2))
	floor, rest := new(big.Int).DivMod(twice, new(big.Int).Mul(r.Denom(), big.NewInt(2)), new(big.Int))
	switch rest.Cmp(r.Denom()) {
	case 1:
		floor.Add(floor, big.NewInt(1))
	case 0:
		if floor.Bit(0) == 1 {
			floor.Add(floor, big.NewInt(1))
		}
	}
	return floor.Int64()
}

// decode decodes JSON with its numbers as text.
func decode(t *testing.T, text string, into any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		t.Fatal(err)
	}
}

// bruteBench reads the requests of a benchmark result.
func bruteBench(t *testing.T, text string) []bruteRequest {
	t.Helper()
	var file struct {
		TTFTs      []json.Number   `json:"ttfts"`
		ITLs       [][]json.Number `json:"itls"`
		InputLens  []int64         `json:"input_lens"`
		OutputLens []int64         `json:"output_lens"`
		Errors     []string        `json:"errors"`
	}
	decode(t, text, &file)
	var out []bruteRequest
	for i := range file.TTFTs {
		r := bruteRequest{ttft: ns(t, file.TTFTs[i]), prompt: file.InputLens[i], output: file.OutputLens[i]}
		r.failed = i < len(file.Errors) && file.Errors[i] != ""
		for _, g := range file.ITLs[i] {
			r.gaps = append(r.gaps, ns(t, g))
		}
		out = append(out, r)
	}
	return out
}

// bruteTokenLog reads the requests of a token log of one line per request.
func bruteTokenLog(t *testing.T, text string) []bruteRequest {
	t.Helper()
	var out []bruteRequest
	for s := bufio.NewScanner(strings.NewReader(text)); s.Scan(); {
		var line struct {
			Arrival json.Number   `json:"arrival"`
			Prompt  int64         `json:"prompt_tokens"`
			Output  int64         `json:"output_tokens"`
			Tokens  []json.Number `json:"token_timestamps"`
		}
		decode(t, s.Text(), &line)
		r := bruteRequest{prompt: line.Prompt, output: line.Output, failed: len(line.Tokens) == 0}
		for i, stamp := range line.Tokens {
			if i == 0 {
				r.ttft = ns(t, stamp) - ns(t, line.Arrival)
			} else {
				r.gaps = append(r.gaps, ns(t, stamp)-ns(t, line.Tokens[i-1]))
			}
		}
		out = append(out, r)
	}
	return out
}

// bruteValues are the values of each metric over the requests that are ok.
func bruteValues(list []bruteRequest) map[string][]float64 {
	v := make(map[string][]float64)
	for _, r := range list {
		if r.failed || r.ttft == 0 {
			continue
		}
		var sum int64
		for _, g := range r.gaps {
			v["chunk_gap"] = append(v["chunk_gap"], float64(g))
			sum += g
		}
		v["ttft"] = append(v["ttft"], float64(r.ttft))
		v["e2e"] = append(v["e2e"], float64(r.ttft+sum))
		if r.output >= 2 {
			v["tpot"] = append(v["tpot"], float64(sum)/float64(r.output-1))
		}
	}
	return v
}

// bruteStat is a statistic of values as numpy computes it: mean, std
// (population), min, max, or the quantile of that rank, linear.
func bruteStat(values []float64, stat string) float64 {
	v := append([]float64(nil), values...)
	sort.Float64s(v)
	mean := 0.0
	for _, x := range v {
		mean += x / float64(len(v))
	}
	switch stat {
	case "mean":
		return mean
	case "min":
		return v[0]
	case "max":
		return v[len(v)-1]
	case "std":
		sum := 0.0
		for _, x := range v {
			sum += (x - mean) * (x - mean)
		}
		return math.Sqrt(sum / float64(len(v)))
	}
	var rank float64
	if err := json.Unmarshal([]byte(stat), &rank); err != nil {
		panic(err)
	}
	at := rank * float64(len(v)-1)
	i := int(at)
	if i+1 == len(v) {
		return v[i]
	}
	return v[i] + (at-float64(i))*(v[i+1]-v[i])
}

// TestBruteForce holds the brute force itself to numbers worked out by hand.
func TestBruteForce(t *testing.T) {
	for s, want := range map[json.Number]int64{"0.0000000005": 0, "0.0000000015": 2, "1764428000.250412": 1764428000250412000, "5.1e-05": 51000, "-0.0000000006": -1} {
		if got := ns(t, s); got != want {
			t.Errorf("%s s are %d ns, want %d", s, got, want)
		}
	}
	v := []float64{10, 20, 30, 40, 50, 60, 70, 80, 90, 1000} // of ten values
	for stat, want := range map[string]float64{"mean": 145, "min": 10, "max": 1000, "0.5": 55, "0.9": 181, "0.95": 590.5, "0.99": 918.1, "std": 286.0507} {
		if got := bruteStat(v, stat); math.Abs(got-want) > 1e-4 {
			t.Errorf("%s is %v, want %v", stat, got, want)
		}
	}
}

// sample returns a file of the samples that ship with the project.
func sample(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../testdata/sample/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
