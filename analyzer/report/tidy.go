package report

import (
	"iter"
	"slices"
	"strconv"

	"servescope/analyzer/sorting"
	"servescope/analyzer/unit"
)

// Row is one figure of a report in long ("tidy") form: the shape that data
// frames and spreadsheets take. Each figure of each run, group and window is
// one row, in base units; a figure that is null is a row with its reason.
type Row struct {
	Run    string            // label
	Scope  string            // what the figure is about: run, untrimmed, steady, window, group, group_window
	Group  map[string]string // nil: the whole run
	Window *Window           // nil: the whole time
	Metric string            // "ttft", "requests", "throughput.tps", "reported.p99_ttft_ms", …
	Stat   string            // "mean", "p99" style ranks as "0.99", "value", or a status
	Value  Value
	N      int64 // values that a statistic is over; -1: not a statistic
}

// Tidy returns the report's rows: run by run, the whole run first, then its
// windows, then each group with its windows; metrics in sorted order.
func (r *Report) Tidy() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		t := tidier{yield: yield}
		for i := range r.Runs {
			run := &r.Runs[i]
			t.row = Row{Run: run.Label, Scope: "run"}
			t.add("run", "duration", run.Duration)
			t.cell(&run.Cell)
			for _, f := range run.Reported {
				t.add("reported."+f.Key, f.Stat, Known(f.Value, f.Unit))
				t.add("ours."+f.Key, f.Stat, f.Ours)
			}
			t.audit(run.Audit)
			t.reconciled(run.Reconciled)
			for _, part := range []struct {
				scope string
				cell  *Cell
			}{{"untrimmed", run.Untrimmed}, {"steady", run.Steady}} {
				if part.cell != nil {
					t.row = Row{Run: run.Label, Scope: part.scope}
					t.cell(part.cell)
				}
			}
			t.row = Row{Run: run.Label}
			t.sides(run.Sides)
			t.join(run.Join)
			t.windows("window", run.Windows)
			t.changes("window", run.Changes, run.Windows)
			for j := range run.Groups {
				g := &run.Groups[j]
				t.row = Row{Run: run.Label, Scope: "group", Group: g.By}
				t.cell(&g.Cell)
				t.windows("group_window", g.Windows)
				t.changes("group_window", g.Changes, g.Windows)
			}
		}
	}
}

// tidier yields rows that share what row says, until the consumer has enough.
type tidier struct {
	yield func(Row) bool
	row   Row
	done  bool
}

func (t *tidier) emit(metric, stat string, v Value, n int64) {
	if t.done {
		return
	}
	row := t.row
	row.Metric, row.Stat, row.Value, row.N = metric, stat, v, n
	t.done = !t.yield(row)
}

func (t *tidier) add(metric, stat string, v Value) { t.emit(metric, stat, v, -1) }

func (t *tidier) windows(scope string, ws []Window) {
	t.row.Scope = scope
	for i := range ws {
		t.row.Window = &ws[i]
		t.cell(&ws[i].Cell)
	}
}

func (t *tidier) cell(c *Cell) {
	n := &c.Requests
	for _, s := range []struct {
		stat string
		n    int64
	}{
		{"total", n.Total}, {"ok", n.OK}, {"failed", n.Failed}, {"aborted", n.Aborted}, {"empty", n.Empty},
		{"open", n.Open}, {"head_missing", n.HeadMissing}, {"filtered", n.Filtered},
		{"end_later", n.EndLater}, {"begun_earlier", n.BegunEarlier},
	} {
		t.add("requests", s.stat, n.count(s.n))
	}
	if x := n.Claimed; x != nil {
		t.add("requests.claimed", "ok", x.OK)
		t.add("requests.claimed", "failed", x.Failed)
	}
	for _, name := range sorted(c.Metrics) {
		m := c.Metrics[name]
		t.metric(name, &m)
	}
	t.add("throughput", "from", c.Throughput.From)
	t.add("throughput", "to", c.Throughput.To)
	t.add("throughput", "window", c.Throughput.Window)
	for _, name := range sorted(c.Throughput.Values) {
		t.add("throughput."+name, "value", c.Throughput.Values[name])
	}
	t.tokens(&c.Throughput.Tokens)
	t.loads(&c.Throughput)
	t.add("concurrency", "mean", c.Concurrency.Mean)
	t.add("concurrency", "max", c.Concurrency.Max)
	t.add("concurrency", "steady_from", c.Concurrency.SteadyFrom)
	t.add("concurrency", "steady_to", c.Concurrency.SteadyTo)
	t.little(c.Concurrency.Little)
	t.goodput(c.Goodput)
	t.decompositions(c.Decompositions)
	for i := range c.Steps {
		t.steps(&c.Steps[i])
	}
}

// audit adds what the check of the producer's figures came to.
func (t *tidier) audit(a *Audit) {
	if a == nil {
		return
	}
	for _, c := range []struct {
		stat string
		n    int64
	}{{"figures", a.Figures}, {"equal", a.Equal}, {"explained", a.Explained}, {"differs", a.Differs}, {"unchecked", a.Unchecked}, {"checks", a.Checks}, {"broken", a.Broken}} {
		t.add("audit", c.stat, KnownInt(c.n, unit.None))
	}
	for i := range a.Findings {
		f := &a.Findings[i]
		name := "audit." + f.Kind + "." + f.Key
		t.add(name, "reported", f.Value)
		t.add(name, "expected", f.Expected)
		t.add(name, "factor", f.Factor)
	}
}

// steps adds what an engine says of one kind of its steps, under names as
// "steps.REPLICA.RANK.KIND.running". A mean over time has the stat time_mean.
func (t *tidier) steps(s *Steps) {
	name := "steps"
	for _, part := range []string{s.Replica, s.Rank, s.Kind, s.Quantity} {
		if part != "" {
			name += "." + part
		}
	}
	t.add(name, "n", KnownInt(s.N, unit.None))
	t.add(name, "after_idle", KnownInt(s.AfterIdle, unit.None))
	t.add(name, "from", s.From)
	t.add(name, "to", s.To)
	t.add(name, "resolution", s.Resolution)
	for _, g := range []struct {
		name string
		*Gauge
	}{
		{".running", &s.Running}, {".waiting", &s.Waiting}, {".kv_usage", &s.KVUsage}, {".prompt_tps", &s.PromptTPS},
		{".generation_tps", &s.GenerationTPS}, {".duration", &s.Duration},
	} {
		mean := "mean"
		if g.Timed {
			mean = "time_mean"
		}
		t.emit(name+g.name, mean, g.Mean, g.N)
		t.emit(name+g.name, "max", g.Max, g.N)
	}
	t.add(name+".duration", "total", s.Total)
	for _, class := range sorted(s.Classes) {
		t.add(name+"."+class, "total", s.Classes[class])
	}
}

// metric adds the statistics of a metric, or one row that says why it is null,
// and a row per reason of exclusion.
func (t *tidier) metric(name string, m *Metric) {
	if m.N == 0 {
		t.emit(name, "mean", Value{Unit: m.Unit, Reason: m.Reason}, 0)
	} else {
		stat := func(stat string, v float64) {
			value := Known(v, m.Unit)
			value.Unit = m.Unit
			t.emit(name, stat, value, m.N)
		}
		stat("mean", m.Mean)
		stat("std", m.Std)
		stat("min", m.Min)
		for _, rank := range sortedRanks(m.Quantiles) {
			stat(rank, m.Quantiles[rank])
		}
		stat("max", m.Max)
		t.intervals(name, m)
		t.upper(name, m)
	}
	for _, code := range sorted(m.Excluded) {
		t.add(name, "excluded."+code, KnownInt(m.Excluded[code], unit.None))
	}
}

// intervals adds the bounds of each quantile as RANK.low and RANK.high.
func (t *tidier) intervals(name string, m *Metric) {
	for _, rank := range sortedRanks(m.Intervals) {
		for i, side := range []string{".low", ".high"} {
			v := Null("unbounded")
			if f, ok := m.Intervals[rank][i].(float64); ok {
				v = Known(f, m.Unit)
			}
			v.Unit = m.Unit
			t.emit(name, rank+side, v, m.N)
		}
	}
}

// upper adds the bound of each quantile of a TTFT as RANK.upper.
func (t *tidier) upper(name string, m *Metric) {
	if m.Censored == 0 {
		return
	}
	t.add(name, "censored", KnownInt(m.Censored, unit.Request))
	for _, rank := range sortedRanks(m.Upper) {
		v := Null("unbounded")
		if f, ok := m.Upper[rank].(float64); ok {
			v = Known(f, m.Unit)
		}
		v.Unit = m.Unit
		t.emit(name, rank+".upper", v, m.N+m.Censored)
	}
}

func (t *tidier) goodput(g *Goodput) {
	if g == nil {
		return
	}
	t.add("goodput", "denominator", KnownInt(g.Denominator, unit.Request))
	t.add("goodput", "good", KnownInt(g.Good, unit.Request))
	t.add("goodput", "missed", KnownInt(g.Missed, unit.Request))
	t.add("goodput", "unknown", KnownInt(g.Unknown, unit.Request))
	t.add("goodput", "share", g.Share)
	t.add("goodput", "share_low", g.ShareLow)
	t.add("goodput", "share_high", g.ShareHigh)
	t.add("goodput", "rate", g.Rate)
	for _, limit := range sorted(g.MissedBy) {
		t.add("goodput", "missed_by."+limit, KnownInt(g.MissedBy[limit], unit.Request))
	}
	t.verdicts(g)
}

func sorted[V any](m map[string]V) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// sortedRanks orders ranks by number: 0.9 before 0.95.
func sortedRanks[V any](m map[string]V) []string {
	keys := sorted(m)
	sorting.Stable(keys, func(a, b string) int {
		x, _ := strconv.ParseFloat(a, 64)
		y, _ := strconv.ParseFloat(b, 64)
		switch {
		case x < y:
			return -1
		case x > y:
			return 1
		}
		return 0
	})
	return keys
}
