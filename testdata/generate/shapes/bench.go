package shapes

import (
	"bufio"
	"io"
	"math"
	"slices"
	"strconv"
)

// Bench writes the result of a benchmark client as vLLM's writes it: one JSON
// object on one line, all requests spread over parallel arrays, durations as
// Python prints differences of a float64 clock, and texts with what looks like
// the end of an array in them. Config.Count is the number of requests.
func Bench(w io.Writer, c Config) error {
	r := result{out: bufio.NewWriterSize(w, 1<<20), s: newSource(c)}
	prompt, output := 0, 0
	for range c.Count {
		q := r.s.draw()
		r.requests = append(r.requests, q)
		prompt, output = prompt+q.prompt, output+q.output
	}
	r.b = append(r.b, `{"date": "20260205-142233", "endpoint_type": "vllm", "backend": "vllm", "label": null, "model_id": "acme/tiny-8b"`...)
	r.number("num_prompts", c.Count)
	r.b = append(r.b, `, "request_rate": "inf", "burstiness": 1.0, "max_concurrency": null, "duration": 100.5`...)
	r.number("completed", c.Count)
	r.number("failed", 0)
	r.number("total_input_tokens", prompt)
	r.number("total_output_tokens", output)
	r.array("input_lens", func(_ int, q *request) { r.b = strconv.AppendInt(r.b, int64(q.prompt), 10) })
	r.array("output_lens", func(_ int, q *request) { r.b = strconv.AppendInt(r.b, int64(q.output), 10) })
	r.array("ttfts", func(_ int, q *request) {
		r.ttfts = append(r.ttfts, perf(q.next)-perf(q.arrival))
		r.b = python(r.b, r.ttfts[len(r.ttfts)-1])
	})
	r.array("itls", r.gaps)
	r.array("start_times", func(_ int, q *request) { r.b = python(r.b, perf(q.arrival)) })
	r.array("generated_texts", r.text)
	r.array("errors", func(int, *request) { r.b = append(r.b, `""`...) })
	r.claims("ttft", r.ttfts)
	r.claims("tpot", r.tpots)
	r.b = append(r.b, '}')
	r.out.Write(r.b)
	return r.out.Flush() // reports what Write met, too
}

// result writes one result.
type result struct {
	out      *bufio.Writer
	s        *source
	requests []*request
	b        []byte

	ttfts, tpots []float64 // seconds
}

// claims writes what the client computed of values.
func (r *result) claims(name string, values []float64) {
	slices.Sort(values)
	var sum, squares float64
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(len(values))
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	quantile := func(p float64) float64 { // as numpy does
		at := p * float64(len(values)-1)
		i := int(at)
		return values[i] + (at-float64(i))*(values[min(i+1, len(values)-1)]-values[i])
	}
	for _, c := range []struct {
		statistic string
		value     float64
	}{{"mean", mean}, {"median", quantile(0.5)}, {"std", math.Sqrt(squares / float64(len(values)))}, {"p99", quantile(0.99)}} {
		r.b = append(r.b, `, "`...)
		r.b = append(r.b, c.statistic+"_"+name+`_ms": `...)
		r.b = python(r.b, c.value*1e3)
	}
}

func (r *result) number(key string, n int) {
	r.b = append(r.b, `, "`...)
	r.b = append(r.b, key...)
	r.b = append(r.b, `": `...)
	r.b = strconv.AppendInt(r.b, int64(n), 10)
}

// array writes an array; entry appends one request's entry to r.b.
func (r *result) array(key string, entry func(i int, q *request)) {
	r.b = append(r.b, `, "`...)
	r.b = append(r.b, key...)
	r.b = append(r.b, `": [`...)
	for i, q := range r.requests {
		if i > 0 {
			r.b = append(r.b, ", "...)
		}
		entry(i, q)
		r.out.Write(r.b)
		r.b = r.b[:0]
	}
	r.b = append(r.b, ']')
}

func (r *result) gaps(_ int, q *request) {
	var total float64
	r.b = append(r.b, '[')
	for k := 1; k < q.output; k++ {
		if k > 1 {
			r.b = append(r.b, ", "...)
		}
		last := perf(q.next)
		q.next += r.s.gap()
		total += perf(q.next) - last
		r.b = python(r.b, perf(q.next)-last)
	}
	if q.output > 1 {
		r.tpots = append(r.tpots, total/float64(q.output-1))
	}
	r.b = append(r.b, ']')
}

func (r *result) text(i int, q *request) {
	r.b = append(r.b, '"')
	for k := range q.output / 8 {
		r.b = append(r.b, words[(i+k)%len(words)]...)
	}
	r.b = append(r.b, '"')
}

// words are the pieces of generated texts.
var words = []string{` the quick brown`, ` fox \"jumps\"`, ` over], [[0.1]`, `\n\tthe lazy`, ` dog: {\"a\":`, ` 日本語 \u00e9 \\`}

// perf is a clock as time.perf_counter reads it: float64 seconds since boot.
func perf(ns int64) float64 { return float64(ns-start)/1e9 + 86412.25 }

// python appends a float as Python's repr does.
func python(b []byte, f float64) []byte {
	if f < 1e-4 {
		return strconv.AppendFloat(b, f, 'e', -1, 64)
	}
	return strconv.AppendFloat(b, f, 'f', -1, 64)
}
