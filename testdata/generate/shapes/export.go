package shapes

import (
	"bufio"
	"io"
	"strconv"
)

// SGLangExport writes SGLang's export of request metrics, a line per request: its
// parameters, with the prompt, as a string that is JSON itself, and the keys of
// meta_info as v0.5.12 writes them.
func SGLangExport(w io.Writer, c Config) error {
	out := bufio.NewWriterSize(w, 1<<20)
	s := newSource(c)
	var written int64
	var b []byte
	for (c.Count == 0 || s.n < c.Count) && (c.Size == 0 || written < c.Size) {
		q := s.draw()
		decode := int64(lognormal(s.r, meanGap, 0.1)) * int64(q.output-1)
		queued := q.arrival + (q.next-q.arrival)/9
		b = append(b[:0], `{"request_parameters": "{\"rid\": \"`...)
		b = id(b, q.number)
		b = append(b, `\", \"sampling_params\": {\"max_new_tokens\": 4096, \"temperature\": 0.7, \"top_p\": 0.95}, \"stream\": true, \"received_time\": `...)
		b = stamp(b, q.arrival-start+86412_250_000_000, 9)
		b = append(b, `, \"text\": \"`...)
		for k := range q.prompt / 8 {
			b = append(b, escaped[(q.number+k)%len(escaped)]...)
		}
		b = append(b, `\", \"return_logprob\": false, \"log_metrics\": true}", "id": "`...)
		b = id(b, q.number)
		b = append(b, `", "finish_reason": {"type": "length", "length": `...)
		b = strconv.AppendInt(b, int64(q.output), 10)
		for _, v := range []struct {
			key   string
			value int
		}{{`}, "prompt_tokens": `, q.prompt}, {`, "weight_version": "default", "num_retractions": `, 0}, {`, "reasoning_tokens": `, 0},
			{`, "completion_tokens": `, q.output}, {`, "cached_tokens": `, q.prompt / 3}, {`, "cached_tokens_details": {"device": `, q.prompt / 3}} {
			b = append(b, v.key...)
			b = strconv.AppendInt(b, int64(v.value), 10)
		}
		b = append(b, `, "host": 0}, "dp_rank": null`...)
		for _, v := range []struct {
			key string
			ns  int64
		}{{"forward_entry_time", queued}, {"prefill_finished_time", q.next - 2_000_000}, {"queue_time", queued - q.arrival - 1_000_000}, {"e2e_latency", q.next + decode - q.arrival},
			{"request_received_ts", q.arrival}, {"api_server_dispatch_finish_ts", q.arrival + 900_000}, {"response_sent_to_client_ts", q.next}, {"request_finished_ts", q.next + decode}} {
			b = append(b, `, "`...)
			b = append(b, v.key...)
			b = append(b, `": `...)
			b = stamp(b, v.ns, repr)
		}
		b = append(b, `, "decode_throughput": 84.2}`+"\n"...)
		written += int64(len(b))
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}

// escaped are words within a string within a string.
var escaped = []string{` the quick brown fox jumps over the lazy dog`, ` \\\"quoted\\\"`, `\\nand again`, ` 日本語 \\u00e9 `, ` {[0.1]}, a list of things to do`}

// BenchLines writes results of a benchmark client one per line, as it appends them
// to a file: each of a hundred requests, with all their gaps.
func BenchLines(w io.Writer, c Config) error {
	const requests = 100
	size := new(counter)
	out := io.MultiWriter(w, size)
	for n := 0; (c.Count == 0 || n < c.Count) && (c.Size == 0 || int64(*size) < c.Size); n += requests {
		one := c
		one.Count, one.Seed = requests, c.Seed+uint64(n)
		if err := Bench(out, one); err != nil {
			return err
		}
		if _, err := out.Write([]byte{'\n'}); err != nil {
			return err
		}
	}
	return nil
}
