package shapes

import (
	"bufio"
	"container/heap"
	"fmt"
	"io"
	"strconv"
	"time"
)

// VLLMLog writes the log of a vLLM server in the order of time: request lines
// with prompts, access lines, statistics every ten seconds, and now and then
// something that carries nothing. Config.Size bounds the file up to the lines of
// the requests that are open then.
func VLLMLog(w io.Writer, c Config) error {
	l := serverLog{out: bufio.NewWriterSize(w, 1<<20), s: newSource(c), second: start / 1e9}
	more := func() bool { return (c.Count == 0 || l.s.n < c.Count) && (c.Size == 0 || l.written < c.Size) }
	arriving := l.s.draw()
	for arriving != nil || len(l.open) > 0 {
		if arriving != nil && (len(l.open) == 0 || arriving.arrival <= l.open[0].next) {
			l.arrive(arriving)
			if arriving = nil; more() {
				arriving = l.s.draw()
			}
		} else {
			l.leave(heap.Pop(&l.open).(*request))
		}
		if err := l.flush(); err != nil {
			return err
		}
	}
	return l.out.Flush()
}

// serverLog writes lines.
type serverLog struct {
	out     *bufio.Writer
	s       *source
	open    queue
	b       []byte
	second  int64 // of the last statistics
	tokens  int   // generated since then
	prompts int
	written int64
}

func (l *serverLog) head(at int64, file string) {
	l.b = append(l.b, "(APIServer pid=148236) INFO "...)
	l.b = time.Unix(0, at).UTC().AppendFormat(l.b, "01-02 15:04:05 ")
	l.b = append(l.b, file...)
}

func (l *serverLog) arrive(q *request) {
	l.stats(q.arrival)
	l.head(q.arrival, "[logger.py:57] Received request chatcmpl-")
	l.b = id(l.b, q.number)
	l.b = append(l.b, ": prompt: '"...)
	for range q.prompt {
		l.b = append(l.b, prompt[l.s.r.IntN(len(prompt))]...)
	}
	l.b = append(l.b, `', params: SamplingParams(n=1, presence_penalty=0.0, temperature=0.7, stop=['\n'], max_tokens=`...)
	l.b = strconv.AppendInt(l.b, int64(q.output), 10)
	l.b = append(l.b, "), lora_request: None.\n"...)
	l.head(q.arrival, "[async_llm.py:360] Added request chatcmpl-")
	l.b = id(l.b, q.number)
	l.b = append(l.b, "-a8a65d16.\n"...)
	for ; q.tokens > 1; q.tokens-- {
		q.next += l.s.gap()
	}
	l.prompts += q.prompt
	heap.Push(&l.open, q)
}

// prompt holds what prompts are made of.
var prompt = []string{" the", " of", " a", ": yes", "\\n", " it\\'s", " 12:30", " understanding"}

func (l *serverLog) leave(q *request) {
	l.stats(q.next)
	l.tokens += q.output
	l.b = append(l.b, `(APIServer pid=148236) INFO:     127.0.0.1:38608 - "POST /v1/chat/completions HTTP/1.1" 200 OK`+"\n"...)
	if q.number%50 == 0 {
		l.head(q.next, "[cache.py:12] Something that carries nothing was done in 3 of 4 places\n")
	}
	l.head(q.next, "[logger.py:89] Generated response chatcmpl-")
	l.b = id(l.b, q.number)
	l.b = append(l.b, " (streaming complete): output: '<streaming_complete: "...)
	l.b = strconv.AppendInt(l.b, int64(q.output), 10)
	l.b = append(l.b, " tokens>', output_token_ids: None, finish_reason: streaming_complete\n"...)
}

// stats writes the statistics that are due at the given time.
func (l *serverLog) stats(at int64) {
	for ; l.second+10 <= at/1e9; l.second += 10 {
		l.head((l.second+10)*1e9, "[loggers.py:250] Engine 000: ")
		l.b = fmt.Appendf(l.b, "Avg prompt throughput: %.1f tokens/s, Avg generation throughput: %.1f tokens/s, Running: %d reqs, Waiting: 0 reqs, GPU KV cache usage: %.1f%%, Prefix cache hit rate: 0.0%%\n",
			float64(l.prompts)/10, float64(l.tokens)/10, len(l.open), float64(len(l.open)%1000)/10)
		l.prompts, l.tokens = 0, 0
	}
}

func (l *serverLog) flush() error {
	l.written += int64(len(l.b))
	_, err := l.out.Write(l.b)
	l.b = l.b[:0]
	return err
}
