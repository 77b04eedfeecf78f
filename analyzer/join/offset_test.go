package join

import (
	"math"
	"math/rand/v2"
	"testing"

	"servescope/analyzer/trace"
)

// pair links two inputs and returns their one pair.
func pair(t *testing.T, a, b input) Pair {
	t.Helper()
	s := Link(parts(t, 10, a, b), Options{IDs: true}).Summarize(0)
	if len(s.Pairs) != 1 {
		t.Fatalf("%d pairs: %+v", len(s.Pairs), s)
	}
	return s.Pairs[0]
}

func on(side trace.Side, clock trace.Clock, rows ...cells) input {
	return input{trace.RunMeta{Side: side, Clock: clock}, rows}
}

var hostA, hostB = trace.Clock{Kind: trace.Wall, Source: "a"}, trace.Clock{Kind: trace.Wall, Source: "b"}

// TestP57OffsetFromCausality: the decode host is 500 ms behind. Its wait for the
// KV cache ends at 390 by the prefill host's clock; the cache was computed at 310.
// So it is at least 420 ms behind, and nothing says how much more.
func TestP57OffsetFromCausality(t *testing.T) {
	p := pair(t,
		on(trace.Prefill, hostA, cells{"request_id": "r", "prefill_end": int(310e6)}),
		on(trace.Decode, hostB, cells{"request_id": "r", "admitted": int(-110e6)}))
	if o := p.Offset; !o.HasLow || o.Low != 420e6 || o.HasHigh || o.N != 1 || p.SameClock || p.ClockB != hostA {
		t.Errorf("the clock of the prefill host over that of the decode host: %+v", p)
	}
}

func TestOffsetOfAServer(t *testing.T) {
	// The server's clock is 1000 ahead; requests take 3 and 5 to it, tokens 4 and 7 back.
	a := on(trace.Client, trace.Clock{Kind: trace.Monotonic}, cells{"request_id": "r", "sent": 100, "first_token": 180, "last_token": 260}, cells{"request_id": "s", "sent": 300, "first_token": 390})
	b := on(trace.Server, hostB, cells{"request_id": "r", "received": 1103, "first_token": 1176, "last_token": 1255}, cells{"request_id": "s", "received": 1305, "first_token": 1383})
	o := pair(t, a, b).Offset
	if !o.Bounded() || o.Low != 996 || o.High != 1003 || o.N != 2 || o.Width() != 7 {
		t.Errorf("%+v", o)
	}
	// With the clocks aligned by 999.5: (3+5)/2 + 0.5 there and (4+7)/2 - 0.5 back.
	if in, out, wrong := o.Between(); in != 4.5 || out != 5 || wrong != 3.5 {
		t.Errorf("%v there, %v back, ± %v", in, out, wrong)
	}
	b.rows[0]["resolution"] = 10
	if o := pair(t, a, b).Offset; o.Low != 993 || o.High != 1005 {
		t.Errorf("a stamp may be off by the step of its clock: %+v", o) // s bounds it now
	}
	b.rows[1]["received"] = 1200
	if o := pair(t, a, b).Offset; !o.Empty() || o.Bounded() {
		t.Errorf("a request comes in 100 before it is sent by the others: %+v", o)
	}
}

func TestNoOffsetWithoutAClock(t *testing.T) {
	a := on(trace.Client, trace.Clock{Kind: trace.RequestClock}, cells{"request_id": "r", "sent": 0, "first_token": 80})
	b := on(trace.Server, hostB, cells{"request_id": "r", "received": 1103, "first_token": 1176})
	if o := pair(t, a, b).Offset; o.N != 0 || o.HasLow || o.HasHigh {
		t.Errorf("%+v", o)
	}
	a = on(trace.Client, hostB, cells{"request_id": "r", "sent": 1100, "first_token": 1180})
	if p := pair(t, a, b); !p.SameClock {
		t.Error("both name their host")
	}
	a = on(trace.Client, trace.Clock{}, cells{"request_id": "r", "sent": 1100, "first_token": 1180})
	b.run.Clock = trace.Clock{}
	if p := pair(t, a, b); p.SameClock {
		t.Error("two wall clocks may be of two hosts")
	}
	// A first event may come before the first token: it bounds nothing.
	a.rows[0] = cells{"request_id": "r", "sent": 1100, "first_event": 1110}
	if o := pair(t, a, b).Offset; o.HasLow || !o.HasHigh {
		t.Errorf("%+v", o)
	}
}

// TestOffsetHoldsTheTruth: over random delays the true offset is in the interval,
// and the interval is that of the shortest delays.
func TestOffsetHoldsTheTruth(t *testing.T) {
	for seed := range uint64(50) {
		r := rand.New(rand.NewPCG(seed, 57))
		ahead := r.Int64N(2e12) - 1e12
		a, b := on(trace.Client, trace.Clock{}), on(trace.Server, hostB)
		there, back := int64(math.MaxInt64), int64(math.MaxInt64)
		for i := range 30 {
			id := string(rune('a' + i))
			sent, in, work, out := r.Int64N(1e12), 1+r.Int64N(1e9), r.Int64N(1e10), 1+r.Int64N(1e9)
			there, back = min(there, in), min(back, out)
			a.rows = append(a.rows, cells{"request_id": id, "sent": int(sent), "first_token": int(sent + in + work + out)})
			b.rows = append(b.rows, cells{"request_id": id, "received": int(sent + in + ahead), "first_token": int(sent + in + work + ahead)})
		}
		o := pair(t, a, b).Offset
		if o.Low != ahead-back || o.High != ahead+there || o.N != 30 {
			t.Errorf("seed %d: [%d, %d], want [%d, %d]", seed, o.Low, o.High, ahead-back, ahead+there)
		}
	}
}

// TestClocksFarApart: stamps near the ends of an int64 do not overflow.
func TestClocksFarApart(t *testing.T) {
	a := on(trace.Client, trace.Clock{}, cells{"request_id": "r", "sent": math.MinInt64 + 1, "first_token": math.MaxInt64})
	b := on(trace.Server, hostB, cells{"request_id": "r", "received": math.MaxInt64, "first_token": math.MinInt64 + 1})
	if o := pair(t, a, b).Offset; o.HasLow || o.HasHigh || o.NIn != 0 || o.NOut != 0 {
		t.Errorf("%+v", o)
	}
}
