//go:build unix

package main

import (
	"encoding/json"
	"fmt"
	"math"
)

// figures are what is asked of one metric, in seconds.
type figures struct {
	N                        float64
	Mean, Std, P50, P90, P99 float64
	P999                     float64 `json:"p99.9"`
}

// answers are what every contender computes from a log.
type answers struct {
	TTFT, TPOT, ITL figures
	Tokens          float64 // output tokens
	TPS             float64 // of these per second, from the first arrival to the last token
	Version         string  // of the tool
}

// Two answers are equal when they differ by at most a microsecond and a
// millionth. Peers read stamps of the epoch as float64, which resolve 0.24 µs;
// servescope reads nanoseconds.
const (
	sameSeconds = 1e-6
	sameShare   = 1e-6
)

// read returns the answers that a peer printed.
func (a *answers) read(out []byte) error { return json.Unmarshal(out, a) }

// readReport returns the answers in a report of servescope.
func (a *answers) readReport(out []byte) error {
	type metric struct {
		N, Mean, Std float64
		Exact        bool
		Quantiles    map[string]float64
	}
	var report struct {
		Runs []struct {
			Metrics    map[string]metric
			Throughput struct {
				Values map[string]struct{ Value float64 }
			}
		}
	}
	if err := json.Unmarshal(out, &report); err != nil {
		return err
	}
	if len(report.Runs) != 1 {
		return fmt.Errorf("%d runs", len(report.Runs))
	}
	run := report.Runs[0]
	for name, to := range map[string]*figures{"ttft": &a.TTFT, "tpot": &a.TPOT, "chunk_gap": &a.ITL} {
		m := run.Metrics[name]
		if !m.Exact {
			return fmt.Errorf("%s is not exact", name)
		}
		q := func(p string) float64 { return m.Quantiles[p] / 1e9 }
		*to = figures{m.N, m.Mean / 1e9, m.Std / 1e9, q("0.5"), q("0.9"), q("0.99"), q("0.999")}
	}
	tokens := run.Metrics["output_tokens"]
	a.Tokens = math.Round(tokens.Mean * tokens.N)
	a.TPS = run.Throughput.Values["tps"].Value
	return nil
}

// differs says how a differs from b, or nothing.
func (a *answers) differs(b *answers) string {
	for _, m := range []struct {
		name string
		a, b figures
	}{{"TTFT", a.TTFT, b.TTFT}, {"TPOT", a.TPOT, b.TPOT}, {"ITL", a.ITL, b.ITL}} {
		for _, f := range []struct {
			name string
			a, b float64
		}{{"mean", m.a.Mean, m.b.Mean}, {"std", m.a.Std, m.b.Std}, {"p50", m.a.P50, m.b.P50}, {"p90", m.a.P90, m.b.P90}, {"p99", m.a.P99, m.b.P99}, {"p99.9", m.a.P999, m.b.P999}} {
			if !same(f.a, f.b, sameSeconds) {
				return fmt.Sprintf("%s of %s is %g s and %g s", f.name, m.name, f.a, f.b)
			}
		}
		if m.a.N != m.b.N || m.a.N == 0 {
			return fmt.Sprintf("number of %s is %g and %g", m.name, m.a.N, m.b.N)
		}
	}
	if a.Tokens != b.Tokens || !same(a.TPS, b.TPS, 0) {
		return fmt.Sprintf("tokens are %g and %g, per second %g and %g", a.Tokens, b.Tokens, a.TPS, b.TPS)
	}
	return ""
}

func same(a, b, within float64) bool { return math.Abs(a-b) <= within+float64(sameShare*math.Abs(b)) }
