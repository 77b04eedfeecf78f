// Package shapes writes logs of any size for benchmarks, the same bytes
// for the same Config. The requests are what a busy server would log: Poisson
// arrivals, lognormal lengths, 12 ms between tokens with jitter and now and then
// a stall.
package shapes

import (
	"bufio"
	"io"
	"math"
	"math/rand/v2"
	"strconv"
)

// Config says what to write.
type Config struct {
	Seed   uint64
	Size   int64   // stop behind the first request that reaches this many bytes; 0: no limit
	Count  int     // stop after this many requests; 0: no limit
	Tokens float64 // mean output tokens per request
	Open   int     // mean number of requests at a time
}

// start is the first arrival in ns since the epoch.
const start = int64(1764428000_250_000_000)

const (
	meanGap   = 12e6  // ns between tokens
	meanFirst = 180e6 // ns from arrival to first token
)

// request is one request; times in ns since the epoch.
type request struct {
	number   int
	arrival  int64
	prompt   int
	tokens   int   // still to come
	output   int   // all of them
	next     int64 // when the next event happens
	decimals int   // of its stamps
}

// source draws requests.
type source struct {
	r    *rand.Rand
	c    Config
	n    int
	at   float64 // last arrival, ns since start
	rate float64 // arrivals per ns
}

func newSource(c Config) *source {
	span := meanFirst + c.Tokens*meanGap
	return &source{r: rand.New(rand.NewPCG(c.Seed, 0x746f6b656e)), c: c, rate: float64(max(c.Open, 1)) / span}
}

// draw returns the next request by arrival.
func (s *source) draw() *request {
	s.at += s.r.ExpFloat64() / s.rate
	q := &request{number: s.n, arrival: start + int64(s.at)}
	s.n++
	q.prompt = int(lognormal(s.r, 600, 0.9)) + 1
	q.output = int(lognormal(s.r, s.c.Tokens, 0.5)) + 1
	q.tokens = q.output
	// Half of the servers write microseconds, a quarter a float64 as Python
	// prints it, a quarter nanoseconds.
	q.decimals = [4]int{6, 6, repr, 9}[s.r.IntN(4)]
	q.next = q.arrival + int64(lognormal(s.r, meanFirst, 0.6))
	return q
}

// gap draws the time between two tokens.
func (s *source) gap() int64 {
	if s.r.IntN(200) == 0 { // a prefill of another request, or a preemption
		return int64(lognormal(s.r, 90e6, 0.5))
	}
	return int64(lognormal(s.r, meanGap*0.96, 0.12))
}

// lognormal draws from a lognormal distribution with the given mean.
func lognormal(r *rand.Rand, mean, sigma float64) float64 {
	return mean * math.Exp(sigma*r.NormFloat64()-sigma*sigma/2)
}

// repr stands for the shortest decimals that give the same float64.
const repr = -1

// stamp appends ns as decimal seconds.
func stamp(b []byte, ns int64, decimals int) []byte {
	if decimals == repr {
		return strconv.AppendFloat(b, float64(ns)/1e9, 'f', -1, 64)
	}
	b = strconv.AppendInt(b, ns/1e9, 10)
	b = append(b, '.')
	frac := ns % 1e9
	for unit := int64(1e8); decimals > 0; decimals-- {
		b = append(b, '0'+byte(frac/unit%10))
		unit /= 10
	}
	return b
}

// id appends a request's identifier.
func id(b []byte, n int) []byte {
	b = append(b, "req-"...)
	for unit := 100_000; unit > 0; unit /= 10 {
		b = append(b, '0'+byte(n/unit%10))
	}
	return b
}

// Records writes one request per line.
func Records(w io.Writer, c Config) error {
	out := bufio.NewWriterSize(w, 1<<20)
	s := newSource(c)
	var written int64
	var b []byte
	for (c.Count == 0 || s.n < c.Count) && (c.Size == 0 || written < c.Size) {
		q := s.draw()
		b = append(b[:0], `{"request_id":"`...)
		b = id(b, q.number)
		b = append(b, `","arrival":`...)
		b = stamp(b, q.arrival, q.decimals)
		b = append(b, `,"prompt_tokens":`...)
		b = strconv.AppendInt(b, int64(q.prompt), 10)
		b = append(b, `,"output_tokens":`...)
		b = strconv.AppendInt(b, int64(q.output), 10)
		b = append(b, `,"token_timestamps":[`...)
		for i := range q.output {
			if i > 0 {
				b = append(b, ',')
				q.next += s.gap()
			}
			b = stamp(b, q.next, q.decimals)
		}
		b = append(b, "]}\n"...)
		written += int64(len(b))
		if _, err := out.Write(b); err != nil {
			return err
		}
	}
	return out.Flush()
}
