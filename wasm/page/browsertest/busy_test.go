package browsertest

import (
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// load is a request of the made run.
type load struct {
	id, model               string
	arrival                 float64 // s, as all times
	prompt, cached, output  int
	admitted, begun, filled float64
	tokens                  []float64
	left                    int
	failed, aborted         bool
}

// served is a run of a server with continuous batching, made step by step: a batch
// of at most 24, prompts that hold up the batch while they are filled in, a burst
// that makes a queue, and some requests that fail or are given up.
func served(n int) []*load {
	r := rand.New(rand.NewPCG(5, 17))
	all := make([]*load, n)
	at := 1764428000.0
	for i := range all {
		pause := 0.17
		if i > n/3 && i < n/2 {
			pause = 0.03 // the burst
		}
		at += pause * (0.2 + 1.6*r.Float64())
		q := &load{id: fmt.Sprintf("cmpl-%08x", r.Uint32()), model: "llama-3.1-8b", arrival: at, prompt: 60 + r.IntN(900), output: 12 + r.IntN(110)}
		if i%6 == 0 {
			q.prompt += 2500 + r.IntN(5000)
		}
		if i%4 == 1 {
			q.cached = q.prompt * 3 / 4
		}
		if i%5 == 3 {
			q.model = "qwen3-8b"
		}
		q.failed, q.aborted = i%67 == 20, i%53 == 31
		q.left = q.output
		all[i] = q
	}
	now, next := all[0].arrival, 0
	var queue, batch []*load
	for next < n || len(queue)+len(batch) > 0 {
		for next < n && all[next].arrival <= now {
			queue = append(queue, all[next])
			next++
		}
		if len(queue)+len(batch) == 0 {
			now = all[next].arrival
			continue
		}
		if len(queue) > 0 && len(batch) < 24 {
			q := queue[0]
			queue = queue[1:]
			q.admitted, q.begun = now, now+0.001
			now += 0.006 + 0.000045*float64(q.prompt-q.cached)*(0.9+0.2*r.Float64())
			q.filled = now
			batch = append(batch, q)
		}
		now += 0.009 + 0.0004*float64(len(batch))*(0.8+0.4*r.Float64())
		if r.IntN(400) == 0 {
			now += 0.25 // a stall
		}
		var kept []*load
		for _, q := range batch {
			q.tokens = append(q.tokens, now)
			if q.left--; q.left > 0 && !(q.failed && len(q.tokens) > 4) && !(q.aborted && len(q.tokens) > 9) {
				kept = append(kept, q)
			}
		}
		batch = kept
	}
	return all
}

// busy writes the made run as its server and as its client saw it.
func busy(t *testing.T, n int) (server, client string) {
	t.Helper()
	var s, c strings.Builder
	r := rand.New(rand.NewPCG(8, 1))
	for _, q := range served(n) {
		end, last := "", q.tokens[len(q.tokens)-1]
		switch {
		case q.failed:
			end = `,"error":"RuntimeError: out of blocks"`
		case q.aborted:
			end = `,"finish_reason":"abort"`
		}
		fmt.Fprintf(&s, `{"request_id":%q,"side":"server","model":%q,"arrival":%.6f,"queued":%.6f,"admitted":%.6f,"prefill_start":%.6f,"prefill_done":%.6f,"prompt_tokens":%d,"cached_tokens":%d,"output_tokens":%d,"token_timestamps":[%s],"finished":%.6f%s}`+"\n",
			q.id, q.model, q.arrival, q.arrival+0.0004, q.admitted+0.0005, q.begun+0.0005, q.filled, q.prompt, q.cached, len(q.tokens), stamps(q.tokens, func() float64 { return 0 }), last+0.0003, end)
		far := 0.004 + 0.003*r.Float64()
		fmt.Fprintf(&c, `{"request_id":%q,"side":"client","model":%q,"sent":%.6f,"prompt_tokens":%d,"output_tokens":%d,"token_timestamps":[%s],"finished":%.6f%s}`+"\n",
			q.id, q.model, q.arrival-far, q.prompt, len(q.tokens), stamps(q.tokens, func() float64 { return far }), last+far+0.001, end)
	}
	dir := t.TempDir()
	server, client = filepath.Join(dir, "server.jsonl"), filepath.Join(dir, "client.jsonl")
	for name, text := range map[string]string{server: s.String(), client: c.String()} {
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return server, client
}

func stamps(list []float64, late func() float64) string {
	var b strings.Builder
	for i, at := range list {
		if i > 0 {
			b.WriteByte(',')
		}
		fmt.Fprintf(&b, "%.6f", at+late())
	}
	return b.String()
}
