// Package kerneltest helps to test kernels: it builds batches of requests, runs
// kernels over them and checks the cells that they fill.
package kerneltest

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// MS is a millisecond in ns.
const MS = int64(1e6)

// Request is a request as tests write it: stamps in ms, -1 (or a nil list) unknown.
type Request struct {
	Side      trace.Side
	Status    trace.Status
	Send      int64
	Scheduled int64
	Event     int64
	First     int64
	Answer    int64
	Last      int64
	Finish    int64
	N         int64
	Source    trace.TokenSource
	Max       int64
	Client    int64
	Reasoning int64
	Prompt    int64
	Cached    int64
	Gaps      []int64 // ms
	Tokens    []int64
	Untold    bool // tokens is not recorded
	Beam      bool
	Stream    int64 // 1 yes, 0 no, -1 unknown
	Kind      int64
	Replica   string
	Clock     string
	Accepted  int64
	Drafted   int64
	Verified  int64
	Decode    int64 // ms
	Admitted  int64
	Prefill   int64 // ms
	Stall     int64 // ms
	Preempted int64
}

// Of returns a request with every optional column unknown.
func Of(status trace.Status) Request {
	return Request{Status: status, Send: 0, Scheduled: -1, Event: -1, First: -1, Answer: -1, Last: -1, Finish: -1, N: -1,
		Max: -1, Client: -1, Reasoning: -1, Prompt: -1, Cached: -1, Stream: 1, Kind: -1, Accepted: -1, Drafted: -1, Verified: -1, Decode: -1,
		Admitted: -1, Prefill: -1, Stall: -1, Preempted: -1}
}

// Streamed returns an ok request sent at send whose chunks come at the given
// times, in ms.
func Streamed(send, n int64, chunks ...int64) Request {
	r := Of(trace.OK)
	r.Send, r.N = send, n
	r.First, r.Last = chunks[0], chunks[len(chunks)-1]
	r.Gaps = []int64{}
	for i := 1; i < len(chunks); i++ {
		r.Gaps = append(r.Gaps, chunks[i]-chunks[i-1])
	}
	return r
}

// Evented returns r with its first event at its first token: no role chunk came
// before it.
func Evented(r Request) Request {
	r.Event = r.First
	return r
}

// WallMeta returns the metadata of a run on a wall clock.
func WallMeta() *trace.RunMeta { return &trace.RunMeta{Format: "test"} }

// Build makes a batch of the rows, their stamps in ms.
func Build(meta *trace.RunMeta, rows ...Request) *trace.Batch {
	b := trace.NewBuilder(trace.Requests)
	for _, r := range rows {
		set := func(c trace.Col, v, scale int64) {
			if v != -1 {
				b.Int(c, v*scale)
			}
		}
		b.Code(trace.SideCol, int32(r.Side))
		b.Code(trace.StatusCol, int32(r.Status))
		start := trace.Sent
		switch {
		case r.Side == trace.Server || r.Side == trace.Proxy:
			start = trace.Received
		case r.Side >= trace.Engine:
			start = trace.Queued
		}
		set(start, r.Send, MS)
		set(trace.ScheduledSend, r.Scheduled, MS)
		set(trace.FirstEvent, r.Event, MS)
		set(trace.FirstToken, r.First, MS)
		set(trace.FirstAnswerToken, r.Answer, MS)
		set(trace.LastToken, r.Last, MS)
		set(trace.DDecode, r.Decode, MS)
		set(trace.Finished, r.Finish, MS)
		set(trace.Admitted, r.Admitted, MS)
		set(trace.DPrefill, r.Prefill, MS)
		set(trace.DStall, r.Stall, MS)
		set(trace.Preemptions, r.Preempted, 1)
		set(trace.OutputTokens, r.N, 1)
		set(trace.MaxTokens, r.Max, 1)
		set(trace.ClientTokens, r.Client, 1)
		set(trace.ReasoningTokens, r.Reasoning, 1)
		set(trace.PromptTokens, r.Prompt, 1)
		set(trace.CachedTokens, r.Cached, 1)
		set(trace.SpecAccepted, r.Accepted, 1)
		set(trace.SpecDrafted, r.Drafted, 1)
		set(trace.VerifySteps, r.Verified, 1)
		if r.N != -1 || r.Source != 0 {
			b.Code(trace.OutputTokensSource, int32(r.Source))
		}
		if r.Stream != -1 {
			b.Bool(trace.Stream, r.Stream == 1)
		}
		if r.Beam {
			b.Bool(trace.BeamSearch, true)
		}
		if r.Kind != -1 {
			b.Code(trace.TokenKind, int32(r.Kind))
		}
		if r.Replica != "" {
			b.Dict(trace.Replica, []byte(r.Replica))
		}
		if r.Clock != "" {
			b.Dict(trace.ClockCol, []byte(r.Clock))
		}
		if r.Gaps != nil {
			gaps := make([]int64, len(r.Gaps))
			for i, g := range r.Gaps {
				gaps[i] = g * MS
			}
			b.List(trace.ChunkGaps, gaps)
		}
		if r.Tokens != nil && !r.Untold {
			b.List(trace.ChunkTokens, r.Tokens)
			b.Int(trace.FirstChunkTokens, r.Tokens[0])
		}
		b.EndRow()
	}
	return b.Take(meta, "test.jsonl")
}

// View is a batch with its run and groups.
type View struct {
	B     *trace.Batch
	run   int32
	Group []int32 // nil: all in group 0
}

func (v View) Of() *kernel.View {
	g := v.Group
	if g == nil {
		g = make([]int32, v.B.Rows)
	}
	return &kernel.View{Batch: v.B, RunIndex: v.run, Group: g}
}
