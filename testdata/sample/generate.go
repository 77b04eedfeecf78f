// Command generate writes the sample files beside it: one run of 64 requests,
// seen by a benchmark client (vllm-bench.json) and by the server
// (tokenlog.jsonl). It simulates a server with continuous batching: at most 12
// sequences run at a time, prompts are prefilled between decode steps, and a
// burst in the middle makes requests queue. Run it in this folder:
//
//	go run generate.go
package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"strings"
)

const (
	requests = 64
	slots    = 12
	failed   = 41                    // this request gets an error instead of tokens
	single   = 17                    // this one is cut at one token
	start    = int64(352817_481093)  // client's monotonic clock at the first send, µs
	epoch    = int64(1764428000_250) // server's wall clock at the same moment, ms
	network  = 412                   // one way, µs
)

// request is one request on the client's clock; times in µs since the first send.
type request struct {
	sent, admitted int64
	prompt, output int
	tokens         []int64 // when the server emitted each token
}

func main() {
	rng := rand.New(rand.NewPCG(2026, 64))
	list := arrivals(rng)
	serve(rng, list)
	write("vllm-bench.json", benchResult(rng, list))
	write("tokenlog.jsonl", tokenLog(list))
}

func write(name string, text []byte) {
	if err := os.WriteFile(name, text, 0o666); err != nil {
		panic(err)
	}
}

// arrivals draws Poisson arrivals at 6 per second, 24 per second in the burst.
func arrivals(rng *rand.Rand) []*request {
	list := make([]*request, requests)
	t := 0.0
	for i := range list {
		r := &request{sent: int64(t), prompt: 120 + int(rng.Uint64()%1400), output: 12 + int(rng.Uint64()%24)}
		switch i {
		case single:
			r.output = 1
		case failed:
			r.output = 0
		}
		list[i] = r
		rate := 6.0
		if i >= 24 && i < 44 {
			rate = 24
		}
		u := float64(rng.Uint64()>>11) / (1 << 53)
		t += -math.Log(1-u) / rate * 1e6
	}
	return list
}

// serve runs the simulated server until every request is done.
func serve(rng *rand.Rand, list []*request) {
	var running []*request
	now, next := int64(0), 0
	for next < len(list) || len(running) > 0 {
		if len(running) == 0 && now < list[next].sent+network {
			now = list[next].sent + network
		}
		prefill := 0
		for next < len(list) && list[next].sent+network <= now && len(running) < slots {
			r := list[next]
			next++
			if r.output > 0 {
				r.admitted = now
				prefill += r.prompt
				running = append(running, r)
			}
		}
		now += 11_000 + 420*int64(len(running)) + int64(prefill)*62 + int64(rng.Uint64()%900)
		for _, r := range running {
			r.tokens = append(r.tokens, now)
		}
		running = slices.DeleteFunc(running, func(r *request) bool { return len(r.tokens) == r.output })
	}
}

// seconds writes µs as decimal seconds.
func seconds(us int64) json.Number { return json.Number(fmt.Sprintf("%d.%06d", us/1e6, us%1e6)) }

// tokenLog is what the server recorded, on its wall clock.
func tokenLog(list []*request) []byte {
	var out bytes.Buffer
	wall := func(us int64) json.Number { return seconds(epoch*1000 + us) }
	for i, r := range list {
		fmt.Fprintf(&out, `{"request_id":"chatcmpl-bench-5e12ca9e-%d","arrival":%s,"prompt_tokens":%d`, i, wall(r.sent+network), r.prompt)
		if i == failed {
			fmt.Fprintf(&out, `,"status":"failed","error_class":"prompt_too_long","finished":%s}`+"\n", wall(r.sent+network+3120))
			continue
		}
		times := make([]string, len(r.tokens))
		for j, t := range r.tokens {
			times[j] = string(wall(t))
		}
		fmt.Fprintf(&out, `,"admitted":%s,"output_tokens":%d,"token_timestamps":[%s]}`+"\n", wall(r.admitted), r.output, strings.Join(times, ","))
	}
	return out.Bytes()
}

// benchResult is what `vllm bench serve --save-result --save-detailed` records
// at the client, its aggregates included, which are computed here as that tool
// computes them.
func benchResult(rng *rand.Rand, list []*request) []byte {
	d := detail{
		Date: "20251129-145333", EndpointType: "openai", Backend: "openai", Model: "example-8b-instruct", Tokenizer: "example-8b-instruct",
		Prompts: requests, Rate: 6, Burstiness: 1, Texts: make([]string, requests),
	}
	var ttfts, tpots, itls []float64 // ms
	end, in, out := int64(0), 0, 0
	for i, r := range list {
		seen := make([]int64, len(r.tokens))
		for j, t := range r.tokens {
			seen[j] = t + network + int64(rng.Uint64()%60)
		}
		d.Starts = append(d.Starts, seconds(start+r.sent))
		d.Inputs = append(d.Inputs, r.prompt)
		d.Outputs = append(d.Outputs, r.output)
		gaps := []json.Number{}
		if i == failed {
			d.Failed++
			d.TTFTs, d.Errors, d.ITLs = append(d.TTFTs, "0.0"), append(d.Errors, "Bad Request"), append(d.ITLs, gaps)
			continue
		}
		d.Completed++
		in, out = in+r.prompt, out+r.output
		d.TTFTs, d.Errors = append(d.TTFTs, seconds(seen[0]-r.sent)), append(d.Errors, "")
		ttfts = append(ttfts, float64(seen[0]-r.sent)/1e3)
		for j := 1; j < len(seen); j++ {
			gaps = append(gaps, seconds(seen[j]-seen[j-1]))
			itls = append(itls, float64(seen[j]-seen[j-1])/1e3)
		}
		d.ITLs = append(d.ITLs, gaps)
		last := seen[len(seen)-1]
		end = max(end, last)
		if r.output > 1 {
			tpots = append(tpots, float64(last-seen[0])/1e3/float64(r.output-1))
		}
	}
	end += 1874
	d.Duration, d.TotalIn, d.TotalOut = seconds(end), in, out
	s := float64(end) / 1e6
	d.RequestRate, d.OutputRate, d.TotalRate = float64(d.Completed)/s, float64(out)/s, float64(in+out)/s
	d.MeanTTFT, d.MedianTTFT, d.StdTTFT, d.P99TTFT = summary(ttfts)
	d.MeanTPOT, d.MedianTPOT, d.StdTPOT, d.P99TPOT = summary(tpots)
	d.MeanITL, d.MedianITL, d.StdITL, d.P99ITL = summary(itls)
	text, err := json.Marshal(d)
	if err != nil {
		panic(err)
	}
	return text
}

// detail lists the keys of the result file in the order in which they are written.
type detail struct {
	Date         string          `json:"date"`
	EndpointType string          `json:"endpoint_type"`
	Backend      string          `json:"backend"`
	Label        *string         `json:"label"`
	Model        string          `json:"model_id"`
	Tokenizer    string          `json:"tokenizer_id"`
	Prompts      int             `json:"num_prompts"`
	Rate         float64         `json:"request_rate"`
	Burstiness   float64         `json:"burstiness"`
	Concurrency  *int            `json:"max_concurrency"`
	Duration     json.Number     `json:"duration"`
	Completed    int             `json:"completed"`
	Failed       int             `json:"failed"`
	TotalIn      int             `json:"total_input_tokens"`
	TotalOut     int             `json:"total_output_tokens"`
	RequestRate  float64         `json:"request_throughput"`
	Goodput      *float64        `json:"request_goodput"`
	OutputRate   float64         `json:"output_throughput"`
	TotalRate    float64         `json:"total_token_throughput"`
	Inputs       []int           `json:"input_lens"`
	Outputs      []int           `json:"output_lens"`
	TTFTs        []json.Number   `json:"ttfts"`
	ITLs         [][]json.Number `json:"itls"`
	Starts       []json.Number   `json:"start_times"`
	Texts        []string        `json:"generated_texts"`
	Errors       []string        `json:"errors"`
	MeanTTFT     float64         `json:"mean_ttft_ms"`
	MedianTTFT   float64         `json:"median_ttft_ms"`
	StdTTFT      float64         `json:"std_ttft_ms"`
	P99TTFT      float64         `json:"p99_ttft_ms"`
	MeanTPOT     float64         `json:"mean_tpot_ms"`
	MedianTPOT   float64         `json:"median_tpot_ms"`
	StdTPOT      float64         `json:"std_tpot_ms"`
	P99TPOT      float64         `json:"p99_tpot_ms"`
	MeanITL      float64         `json:"mean_itl_ms"`
	MedianITL    float64         `json:"median_itl_ms"`
	StdITL       float64         `json:"std_itl_ms"`
	P99ITL       float64         `json:"p99_itl_ms"`
}

// summary returns mean, median, population standard deviation and the 99th
// percentile with linear interpolation.
func summary(values []float64) (mean, median, std, p99 float64) {
	slices.Sort(values)
	n := float64(len(values))
	for _, v := range values {
		mean += v / n
	}
	for _, v := range values {
		std += (v - mean) * (v - mean) / n
	}
	at := func(q float64) float64 {
		i, f := math.Modf(q * (n - 1))
		return values[int(i)] + f*(values[min(int(i)+1, len(values)-1)]-values[int(i)])
	}
	return mean, at(0.5), math.Sqrt(std), at(0.99)
}
