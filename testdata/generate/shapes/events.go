package shapes

import (
	"bufio"
	"container/heap"
	"io"
	"strconv"
)

// Events writes one event per line in the order of time, the requests'
// interleaved. Config.Size bounds the file up to the events of the requests
// that are open then.
func Events(w io.Writer, c Config) error {
	out := bufio.NewWriterSize(w, 1<<20)
	s := newSource(c)
	var open queue
	var written int64
	var b []byte
	line := func(q *request, at int64, event string) {
		b = append(b, `{"ts":`...)
		b = stamp(b, at, 6)
		b = append(b, `,"request_id":"`...)
		b = id(b, q.number)
		b = append(b, `","event":"`...)
		b = append(b, event...)
		b = append(b, '"')
	}
	number := func(key string, n int) {
		b = append(b, key...)
		b = strconv.AppendInt(b, int64(n), 10)
	}
	more := func() bool { return (c.Count == 0 || s.n < c.Count) && (c.Size == 0 || written < c.Size) }
	arriving := s.draw()
	for arriving != nil || len(open) > 0 {
		b = b[:0]
		if arriving != nil && (len(open) == 0 || arriving.arrival <= open[0].next) {
			q := arriving
			line(q, q.arrival, "arrival")
			number(`,"prompt_tokens":`, q.prompt)
			b = append(b, "}\n"...)
			heap.Push(&open, q)
			if arriving = nil; more() {
				arriving = s.draw()
			}
		} else {
			q := open[0]
			line(q, q.next, "token")
			b = append(b, "}\n"...)
			if q.tokens--; q.tokens > 0 {
				q.next += s.gap()
				heap.Fix(&open, 0)
			} else {
				heap.Pop(&open)
				line(q, q.next+40_000, "finish")
				number(`,"output_tokens":`, q.output)
				b = append(b, ",\"finish_reason\":\"stop\"}\n"...)
			}
		}
		written += int64(len(b))
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}

// queue is a heap of open requests by the time of their next event.
type queue []*request

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].next < q[j].next }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*request)) }
func (q *queue) Pop() any {
	last := len(*q) - 1
	x := (*q)[last]
	*q = (*q)[:last]
	return x
}
