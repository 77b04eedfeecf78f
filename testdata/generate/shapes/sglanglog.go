package shapes

import (
	"bufio"
	"container/heap"
	"io"
	"strconv"
	"time"
)

// SGLangLog writes the log of an SGLang server in the order of time: a line per
// prefill and per window of decode steps, access lines, and the time stats of each
// request. Config.Size bounds the file up to the lines of the requests that are
// open then.
func SGLangLog(w io.Writer, c Config) error {
	l := sglangLog{out: bufio.NewWriterSize(w, 1<<20), s: newSource(c), window: start}
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
		l.written += int64(len(l.b))
		if _, err := l.out.Write(l.b); err != nil {
			return err
		}
		l.b = l.b[:0]
	}
	return l.out.Flush()
}

// sglangLog writes lines of a server of four data-parallel ranks.
type sglangLog struct {
	out     *bufio.Writer
	s       *source
	open    queue
	b       []byte
	window  int64 // end of the last decode window
	written int64
}

func (l *sglangLog) head(at int64, rank int) {
	l.b = append(l.b, '[')
	l.b = time.Unix(0, at).UTC().AppendFormat(l.b, "2006-01-02 15:04:05")
	if rank >= 0 {
		for _, part := range [...]string{" DP", " TP", " EP"} {
			l.b = strconv.AppendInt(append(l.b, part...), int64(rank), 10)
		}
	}
	l.b = append(l.b, "] "...)
}

// pair writes a key and a whole number, share a key and one with two decimals.
func (l *sglangLog) pair(key string, n int) {
	l.b = strconv.AppendInt(append(l.b, key...), int64(n), 10)
}

func (l *sglangLog) share(key string, v float64) {
	l.b = strconv.AppendFloat(append(l.b, key...), v, 'f', 2, 64)
}

func (l *sglangLog) arrive(q *request) {
	l.decode(q.arrival)
	rank := q.number % 4
	l.head(q.arrival, rank)
	l.pair("Prefill batch, #new-seq: ", 1)
	l.pair(", #new-token: ", q.prompt)
	l.pair(", #cached-token: ", q.number%100)
	l.share(", token usage: ", float64(len(l.open)%100)/100)
	l.pair(", #running-req: ", len(l.open)/4)
	l.b = append(l.b, ", #queue-req: 0, #pending-token: 0, cuda graph: False"...)
	l.share(", input throughput (token/s): ", 8000*l.s.r.Float64())
	l.b = append(l.b, '\n')
	for ; q.tokens > 1; q.tokens-- {
		q.next += l.s.gap()
	}
	heap.Push(&l.open, q)
}

// decode writes the windows of 40 steps that have ended by the given time.
func (l *sglangLog) decode(at int64) {
	const span = 40 * int64(meanGap)
	for ; l.window+span <= at; l.window += span {
		for rank := range 4 {
			running := len(l.open) / 4
			l.head(l.window+span, rank)
			l.pair("Decode batch, #running-req: ", running)
			l.pair(", #token: ", running*700)
			l.share(", token usage: ", float64(len(l.open)%100)/100)
			l.b = append(l.b, ", cuda graph: True"...)
			l.share(", gen throughput (token/s): ", float64(running)*1e9/meanGap)
			l.b = append(l.b, ", #queue-req: 0\n"...)
		}
	}
}

func (l *sglangLog) leave(q *request) {
	l.decode(q.next)
	l.head(q.next, q.number%4)
	l.b = append(l.b, "ReqTimeStats(rid="...)
	l.b = hex(hex(l.b, l.s.r.Uint64()), l.s.r.Uint64())
	l.pair(", input_len=", q.prompt)
	l.pair(", cached_input_len=", q.number%100)
	l.pair(", output_len=", q.output)
	queue := 50 * l.s.r.Float64()
	l.share(", attempts=0, type=unified): queue_duration=", queue)
	l.share("ms, forward_duration=", float64(q.next-q.arrival)/1e6-queue)
	l.b = append(stamp(append(l.b, "ms, entry_time="...), q.arrival, 3), '\n')
	l.head(q.next, -1)
	l.pair("INFO:     127.0.0.1:", 30_000+q.number%30_000)
	l.b = append(l.b, ` - "POST /v1/chat/completions HTTP/1.1" 200 OK`+"\n"...)
}

// VLLMSteps writes the log of a vLLM server with a line per engine step: eight
// engines, each of whose steps takes about as long as the gap between tokens.
// Config.Count, if it is given, is the number of steps of all engines.
func VLLMSteps(w io.Writer, c Config) error {
	out := bufio.NewWriterSize(w, 1<<20)
	s := newSource(c)
	var written int64
	var b []byte
	for i := 0; (c.Count == 0 || i < c.Count) && (c.Size == 0 || written < c.Size); i++ {
		at := start + int64(i/8)*int64(meanGap)
		b = strconv.AppendInt(append(b[:0], "(EngineCore_DP"...), int64(i%8), 10)
		b = append(b, " pid=1205) INFO "...)
		b = time.Unix(0, at).UTC().AppendFormat(b, "01-02 15:04:05")
		b = strconv.AppendInt(append(b, " [v1/engine/core.py:359] Iteration("...), int64(i/8), 10)
		context := s.r.IntN(2)
		b = strconv.AppendInt(append(b, "): "...), int64(context), 10)
		b = strconv.AppendInt(append(b, " context requests, "...), int64(context*s.r.IntN(8192)), 10)
		running := int64(max(c.Open/8, 1))
		b = strconv.AppendInt(append(b, " context tokens, "...), running, 10)
		b = strconv.AppendInt(append(b, " generation requests, "...), running, 10)
		b = strconv.AppendFloat(append(b, " generation tokens, iteration elapsed time: "...), float64(s.gap())/1e6, 'f', 2, 64)
		b = append(b, " ms\n"...)
		written += int64(len(b))
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}
