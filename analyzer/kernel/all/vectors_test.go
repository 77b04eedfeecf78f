package all

import (
	"math"
	"strings"
	"testing"

	"servescope/analyzer/kernel/kerneltest"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

// TestGoodputBounds: a verdict that nobody can give leaves bounds.
func TestGoodputBounds(t *testing.T) {
	blind := kerneltest.Streamed(0, 2, 100, 150)
	blind.N, blind.Client = -1, -1
	open := kerneltest.Of(trace.Open)
	open.First = 3000
	waiting := kerneltest.Of(trace.Open)
	q := &query.Query{SLO: []query.Limit{{Metric: "ttft", Max: 1000 * kerneltest.MS}, {Metric: "tpot", Max: 60 * kerneltest.MS}}}
	g := runOf(t, metric.Default, q, kerneltest.WallMeta(), kerneltest.Streamed(0, 2, 100, 150), blind, open, waiting).Goodput
	if g.Good != 1 || g.Unknown != 1 || g.Missed != 1 || g.Denominator != 3 {
		t.Errorf("%+v", g)
	}
	if g.Share.Known || g.Share.Reason != "unknown_verdicts" || g.ShareLow.V != 1.0/3 || g.ShareHigh.V != 2.0/3 || g.Rate.Known {
		t.Errorf("share %+v, between %+v and %+v", g.Share, g.ShareLow, g.ShareHigh)
	}
}

// TestD3Concurrency: departures first; Little's law beside the sweep.
func TestD3Concurrency(t *testing.T) {
	at := func(send, end int64) kerneltest.Request {
		r := kerneltest.Streamed(send, 2, send+100, end)
		r.Finish = end
		return r
	}
	c := cellOf(t, metric.Default, at(0, 400), at(500, 900))
	kerneltest.Near(t, "mean", c.Concurrency.Mean.V, 800.0/900)
	kerneltest.Near(t, "max", c.Concurrency.Max.V, 1)
	kerneltest.Value(t, c, "concurrency_little", 800.0/900)
	if c = cellOf(t, metric.Default, at(0, 500), at(500, 1000)); c.Concurrency.Max.V != 1 {
		t.Errorf("touching requests: max %v", c.Concurrency.Max.V)
	}
}

func TestD6TokenWeighted(t *testing.T) {
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 2, 0, 10), kerneltest.Streamed(0, 1001, 0, 20_000))
	kerneltest.Mean(t, c, "tpot", 2, 15)
	kerneltest.Value(t, c, "tpot_weighted", 20_010e6/1001)
}

// TestD8Identity: E2E = TTFT + TPOT·(N - 1) when both ends are token events.
func TestD8Identity(t *testing.T) {
	c := cellOf(t, metric.Default, worked())
	ttft, tpot, e2e := c.Metrics["ttft"].Mean, c.Metrics["tpot"].Mean, c.Metrics["e2e"].Mean
	kerneltest.Near(t, "e2e", ttft+9*tpot, e2e)
}

func TestD11StaticBatch(t *testing.T) {
	var rows []kerneltest.Request
	for range 10 {
		rows = append(rows, kerneltest.Streamed(0, 2, 1000, 1100))
	}
	c := cellOf(t, metric.Default, rows...)
	kerneltest.Mean(t, c, "ttft", 10, 1000)
}

// TestD13Choices: two sequences of one request, each with its own TPOT.
func TestD13Choices(t *testing.T) {
	var a, b []int64
	for i := range int64(10) {
		a, b = append(a, 100+20*i), append(b, 110+20*i)
	}
	c := cellOf(t, metric.Default, kerneltest.Streamed(0, 10, a...), kerneltest.Streamed(0, 10, b...))
	kerneltest.Mean(t, c, "tpot", 2, 20)
	kerneltest.Mean(t, c, "chunk_gap", 18, 20)
	if got := c.Throughput.Values["tps"].V * 0.290; math.Abs(got-20) > 1e-9 {
		t.Errorf("%v tokens, want 20", got)
	}
}

// TestModelExamples holds the two examples of B, TPOT and R.
func TestModelExamples(t *testing.T) {
	a, b := kerneltest.Streamed(0, 81, 100, 900), kerneltest.Streamed(0, 26, 500, 1000)
	c := cellOf(t, metric.Default, a, b)
	kerneltest.Value(t, c, "batch_decode", 1.3)
	kerneltest.Value(t, c, "tpot_weighted", 1300e6/105)
	kerneltest.Value(t, c, "tps_total_model", 105)
	kerneltest.Value(t, c, "tps", 107)
	kerneltest.Value(t, c, "identity_ratio", 105.0/107)
	kerneltest.Value(t, c, "weighting_ratio", 1.3/0.015/107)
	if v := c.Throughput.Values["replicas"]; v.Known || v.Reason != "coverage" {
		t.Errorf("replicas without names: %+v", v)
	}
	if v := c.Throughput.Values["tps_replica_model"]; v.Known || v.Reason != "coverage" {
		t.Errorf("a replica's model without names: %+v", v)
	}
	// Replicas with B 10, TPOT 10 ms and B 2, TPOT 5 ms over 10 s.
	var rows []kerneltest.Request
	for i := range 12 {
		r := kerneltest.Streamed(0, 1001, 0, 10_000)
		if r.Replica = "a"; i >= 10 {
			r.N, r.Replica = 2001, "b"
		}
		rows = append(rows, r)
	}
	c = cellOf(t, metric.Default, rows...)
	kerneltest.Value(t, c, "tps_total_model", 1400)
	kerneltest.Value(t, c, "replicas", 2)
	kerneltest.Value(t, c, "tps_replica_model", 700)
	list := c.Throughput.Replicas
	if len(list) != 2 || list[0].Name != "a" || list[0].Batch.V != 10 || list[0].TPOT.V != 10e6 || list[0].Model.V != 1000 ||
		list[1].Batch.V != 2 || list[1].TPOT.V != 5e6 || list[1].Model.V != 400 || list[1].Tokens != 4002 || list[1].TPS.V != 400.2 {
		t.Fatalf("replicas %+v", list)
	}
	kerneltest.Value(t, c, "tpot_weighted", 12e9/1400) // 12/1400 s
	kerneltest.Near(t, "R·mean(B)/TPOT", 2*(list[0].Batch.V+list[1].Batch.V)/2/(c.Throughput.Values["tpot_weighted"].V/1e9), 1400)
	kerneltest.Near(t, "the same with the mean of TPOTs", 2*(list[0].Batch.V+list[1].Batch.V)/2/((list[0].TPOT.V+list[1].TPOT.V)/2/1e9), 1600)
	given := runOf(t, metric.Default, &query.Query{Replicas: 4}, kerneltest.WallMeta(), a, b)
	kerneltest.Value(t, given, "replicas", 4)
	kerneltest.Value(t, given, "tps_replica_model", 105.0/4)
}

// TestReplicasBehindAClient: the client's rows name no replica, those of the two
// servers do; the client counts the requests.
func TestReplicasBehindAClient(t *testing.T) {
	var rows []kerneltest.Request
	for i, name := range []string{"a", "b", "b"} {
		client := kerneltest.Streamed(0, 11, 100, 1000)
		server := kerneltest.Streamed(5, 11, 90, 990)
		server.Side, server.Replica = trace.Server, name
		server.Send += int64(i)
		rows = append(rows, client, server)
	}
	c := cellOf(t, metric.Default, rows...)
	kerneltest.Value(t, c, "replicas", 2)
	kerneltest.Value(t, c, "tps_total_model", 30)
	kerneltest.Value(t, c, "tps_replica_model", 15)
	list := c.Throughput.Replicas
	if len(list) != 2 || list[1].Name != "b" || list[1].Side != "server" || list[1].Tokens != 22 || list[1].TPOT.V != 90e6 || c.Requests.Total != 3 {
		t.Errorf("%+v", list)
	}
	prefill := kerneltest.Streamed(0, 1, 50)
	prefill.Side, prefill.Replica = trace.Prefill, "p0"
	kerneltest.NoRate(t, cellOf(t, metric.Default, prefill), "replicas", "coverage")
	decode := kerneltest.Streamed(60, 11, 100, 1000)
	decode.Side, decode.Replica = trace.Decode, "d0"
	kerneltest.Value(t, cellOf(t, metric.Default, prefill, decode), "replicas", 1)
}

// TestClockOfRequests: without a common clock there is no W; rates come from
// the producer's duration, or are null.
func TestClockOfRequests(t *testing.T) {
	meta := &trace.RunMeta{Clock: trace.Clock{Kind: trace.RequestClock}, Duration: 10e9, HasDuration: true}
	a, b := kerneltest.Streamed(0, 81, 100, 900), kerneltest.Streamed(0, 26, 500, 1000)
	c := runOf(t, metric.Default, &query.Query{Window: 500 * kerneltest.MS}, meta, a, b)
	kerneltest.Value(t, c, "tps", 10.7)
	kerneltest.Value(t, c, "batch_decode", 0.13)
	if c.Throughput.From.Known || c.Concurrency.Mean.Reason != "clock" || c.Throughput.Values["tps_peak"].Reason != "clock" {
		t.Errorf("from %+v, concurrency %+v", c.Throughput.From, c.Concurrency.Mean)
	}
	if note := c.Throughput.Values["tps"].Note; !strings.Contains(note, "producer") {
		t.Errorf("tps says nothing about its duration: %q", note)
	}
	meta.HasDuration = false
	c = runOf(t, metric.Default, &query.Query{}, meta, a, b)
	if v := c.Throughput.Values["tps"]; v.Known || v.Reason != "clock" {
		t.Errorf("tps without any duration: %+v", v)
	}
	kerneltest.Mean(t, c, "ttft", 2, 300)
}

// TestSides: the server's TTFT is the run's where it is known, the engine's
// never is, and each request counts once.
func TestSides(t *testing.T) {
	client, server, engine := kerneltest.Streamed(0, 2, 100, 120), kerneltest.Streamed(10, 2, 90, 110), kerneltest.Streamed(20, 2, 80, 100)
	server.Side, engine.Side = trace.Server, trace.Engine
	c := cellOf(t, metric.Default, client, server, engine)
	kerneltest.Mean(t, c, "ttft", 1, 80)
	kerneltest.Mean(t, c, "ttft_client", 1, 100)
	kerneltest.Mean(t, c, "ttft_server", 1, 80)
	kerneltest.Mean(t, c, "ttft_engine", 1, 60)
	if c.Metrics["ttft"].Side != "server" || c.Requests.Total != 1 {
		t.Errorf("side %s, %d requests", c.Metrics["ttft"].Side, c.Requests.Total)
	}
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "vllm-2026"), kerneltest.Evented(client), server), "ttft", 1, 100)
	kerneltest.Null(t, cellOf(t, kerneltest.Definition(t, "vllm-2026"), client), "ttft", "not_recorded") // nothing tells of a role chunk
	c = cellOf(t, metric.Default, engine)
	kerneltest.Null(t, c, "ttft", "not_recorded")
	kerneltest.Mean(t, c, "ttft_engine", 1, 60)
	kerneltest.Mean(t, c, "tpot", 1, 20)
}

// TestReasons: every request is in a metric or in its exclusions.
func TestReasons(t *testing.T) {
	oneShot := kerneltest.Of(trace.OK)
	oneShot.Stream, oneShot.Finish, oneShot.Last, oneShot.N = 0, 500, 500, 20
	aborted, backwards, far := kerneltest.Of(trace.Aborted), kerneltest.Streamed(100, 2, 50, 60), kerneltest.Streamed(0, 2, 2*86_400_000, 2*86_400_000+10)
	open, head := kerneltest.Of(trace.Open), kerneltest.Of(trace.HeadMissing)
	c := cellOf(t, metric.Default, oneShot, aborted, backwards, far, open, head, kerneltest.Streamed(0, 2, 10, 20))
	want := map[string]int64{"not_streamed": 1, "aborted": 1, "order": 1, "clock": 1, "open": 1, "head_missing": 1}
	got := c.Metrics["ttft"].Excluded
	for why, n := range want {
		if got[why] != n {
			t.Errorf("%s: %d, want %d", why, got[why], n)
		}
	}
	kerneltest.Mean(t, c, "ttft", 1, 10)
	kerneltest.Mean(t, cellOf(t, kerneltest.Definition(t, "sglang"), oneShot), "ttft", 1, 500)
}
