package kerneltest

import (
	"math/rand/v2"
	"slices"
	"testing"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// RandomRequest is a request of any kind: every status, every stamp missing now
// and then, token counts that do not fit the chunks.
func RandomRequest(r *rand.Rand) Request {
	q := Of(trace.Status([]int{0, 0, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5}[r.IntN(12)]))
	maybe := func(v int64) int64 {
		if r.IntN(12) == 0 {
			return -1
		}
		return v
	}
	q.Send = maybe(r.Int64N(20_000))
	q.First = q.Send + r.Int64N(500)
	chunks := 1 + r.IntN(30)
	q.Gaps = []int64{}
	at := q.First
	for range chunks - 1 {
		gap := r.Int64N(60)
		if r.IntN(50) == 0 {
			gap = r.Int64N(2500)
		}
		q.Gaps = append(q.Gaps, gap)
		at += gap
	}
	q.Last = at
	q.Finish = maybe(at + r.Int64N(80))
	q.N = int64(chunks)
	switch r.IntN(4) {
	case 0:
		q.Tokens = make([]int64, chunks)
		q.N = 0
		for i := range q.Tokens {
			q.Tokens[i] = 1 + r.Int64N(4)
			q.N += q.Tokens[i]
		}
		q.Accepted = r.Int64N(2)
	case 1:
		q.N += r.Int64N(9)
	}
	if r.IntN(8) == 0 {
		q.Source = trace.FromRequested
		q.Max = q.N
	}
	q.N, q.Client = maybe(q.N), maybe(q.N+r.Int64N(3))
	q.Prompt, q.Cached = maybe(r.Int64N(4000)), maybe(r.Int64N(100))
	q.Event = maybe(q.First - r.Int64N(3)*20)
	if r.IntN(3) == 0 {
		q.Answer, q.Kind = q.First, int64(r.IntN(2))
		if len(q.Gaps) > 2 {
			q.Answer += q.Gaps[0] + q.Gaps[1]
		}
	}
	q.Scheduled = maybe(q.Send - r.Int64N(100))
	q.Replica = []string{"", "a", "b"}[r.IntN(3)]
	q.Admitted, q.Stall, q.Preempted = maybe(q.Send+r.Int64N(300)), maybe(r.Int64N(2)*9), maybe(r.Int64N(2))
	q.Stream = []int64{1, 1, 1, 1, -1, 0}[r.IntN(6)]
	switch r.IntN(15) {
	case 0:
		q.Gaps, q.Tokens = nil, nil
	case 1:
		q.First, q.Gaps, q.Tokens = -1, nil, nil
	case 2:
		q.Last = -1
	case 3:
		q.Clock = "request"
	}
	if q.Status == trace.Empty {
		q.First, q.Answer, q.Last, q.N, q.Gaps, q.Tokens = -1, -1, -1, 0, nil, nil
	}
	return q
}

// RandomViews are batches of requests in groups; group -1 is removed. Rows of a
// run are on one clock.
func RandomViews(r *rand.Rand, rows int) []View {
	metas := []*trace.RunMeta{
		{Key: 0, Clock: trace.Clock{Kind: trace.Wall}, Duration: 25e9, HasDuration: true},
		{Key: 1, Clock: trace.Clock{Kind: trace.RunClock}},
		{Key: 2, Clock: trace.Clock{Kind: trace.Monotonic, Source: "h"}, Config: []trace.Pair{{Key: "accept_length", Value: "2.5"}}},
	}
	var views []View
	for rows > 0 {
		n := min(1+r.IntN(12), rows)
		rows -= n
		run := r.IntN(3)
		var list []Request
		v := View{run: int32(run)}
		for range n {
			q := RandomRequest(r)
			if run == 2 && r.IntN(2) == 0 {
				q.Side = trace.Server
			}
			list = append(list, q)
			v.Group = append(v.Group, int32(r.IntN(4)-1))
		}
		v.B = Build(metas[run], list...).Clone(true)
		views = append(views, v)
	}
	return views
}

// Shuffled folds views into several states in random order, sends some through
// their encoding, and merges them in a random tree.
func Shuffled(t testing.TB, r *rand.Rand) func(fresh func() kernel.State, views []View) kernel.State {
	return func(fresh func() kernel.State, views []View) kernel.State {
		views = slices.Clone(views)
		r.Shuffle(len(views), func(i, j int) { views[i], views[j] = views[j], views[i] })
		states := make([]kernel.State, 1+r.IntN(5))
		for i := range states {
			states[i] = fresh()
		}
		for _, v := range views {
			state := states[r.IntN(len(states))]
			state.Update(v.Of())
			settle(r, state)
		}
		for len(states) > 1 {
			i, j := r.IntN(len(states)), r.IntN(len(states))
			if i == j {
				continue
			}
			if r.IntN(2) == 0 {
				loaded := fresh()
				if err := loaded.LoadState(states[j].AppendState(nil)); err != nil {
					t.Fatalf("%T: %v", loaded, err)
				}
				states[j] = loaded
			}
			if err := states[i].Merge(states[j]); err != nil {
				t.Fatal(err)
			}
			settle(r, states[i])
			states = slices.Delete(states, j, j+1)
		}
		return states[0]
	}
}

// settle settles a state now and then, if it can.
func settle(r *rand.Rand, s kernel.State) {
	if r.IntN(4) == 0 {
		s.Settle()
	}
}
