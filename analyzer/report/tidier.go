package report

import (
	"slices"
	"strconv"
	"strings"

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
	slices.SortStableFunc(keys, func(a, b string) int {
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

// changes adds the parts of each change to the rows of the window after it, under
// names as "change.ttft.server.queue|prefill.queue".
func (t *tidier) changes(scope string, list []Change, windows []Window) {
	for i := range list {
		c := &list[i]
		t.row.Scope, t.row.Window = scope, nil
		for j := range windows {
			if windows[j].From == c.To {
				t.row.Window = &windows[j]
			}
		}
		name := "change." + c.Of + "." + c.Side + "." + strings.ReplaceAll(c.Signature, ", ", "|")
		if c.Cohort != "" {
			name += "." + c.Cohort
		}
		add := func(what string, d *Difference) {
			t.emit(name+"."+what, "before", d.Before, c.NFrom)
			t.emit(name+"."+what, "after", d.After, c.NTo)
			t.add(name+"."+what, "change", d.Change)
			t.add(name+"."+what, "share", d.Share)
		}
		t.add(name, "from", KnownInt(c.From, unit.Nanosecond))
		for k := range c.Entries {
			add(strings.Join(c.Entries[k].Leaves, "+"), &c.Entries[k])
		}
		add("residual", &c.Residual)
		add("total", &c.Total)
	}
}

// decompositions adds the rows of decompositions, under names such as
// "parts.ttft.server" for values over all members, and
// "parts.ttft.server.queue|prefill.queue" for an entry of the table with that
// signature.
func (t *tidier) decompositions(list []Decomposition) {
	for i := range list {
		d := &list[i]
		name := "parts." + d.Of + "." + d.Side
		if d.Estimated() {
			name += ".estimated"
		}
		if d.Members != "" {
			t.stepParts(strings.TrimSuffix(name+"."+d.By, "."), d)
			continue
		}
		t.emit(name, "mean", d.Total, d.N)
		t.add(name, "censored", KnownInt(d.Censored, unit.Request))
		for _, code := range sorted(d.Excluded) {
			t.add(name, "excluded."+code, KnownInt(d.Excluded[code], unit.Request))
		}
		for _, rank := range sortedRanks(d.Late) {
			t.emit(name, "late."+rank, d.Late[rank], d.N+d.Censored)
		}
		for j := range d.Tables {
			t.breakdown(name, &d.Tables[j])
		}
	}
}

// stepParts adds the rows of a decomposition whose members are tokens or steps, not
// requests: "parts.tpot.engine.rank.SIGNATURE.tp0.compute".
func (t *tidier) stepParts(name string, d *Decomposition) {
	t.emit(name, "mean", d.Total, d.N)
	if d.Low.Known && d.High.Known {
		t.emit(name, "low", d.Low, d.N)
		t.emit(name, "high", d.High, d.N)
	}
	for _, code := range sorted(d.Excluded) {
		t.add(name, "excluded."+code, KnownInt(d.Excluded[code], unit.None))
	}
	for j := range d.Tables {
		t.breakdown(name, &d.Tables[j])
	}
	for _, m := range d.Memos {
		t.memo(name, m)
	}
}

// memo adds the row of a figure beside a table: its mean, or the bound of one.
func (t *tidier) memo(name string, m Memo) {
	what := map[string]string{"": "mean", "lower": "low", "upper": "high"}[m.Bound]
	t.emit(name+".memo."+m.Name, what, m.Mean, m.N)
}

func (t *tidier) breakdown(name string, b *Breakdown) {
	if name += "." + strings.ReplaceAll(b.Signature, ", ", "|"); b.Cohort != "" {
		name += "." + b.Cohort
	}
	part := func(what string, mean, share Value, negative int64, tail func(*Tail) Value) {
		t.emit(name+"."+what, "mean", mean, b.N)
		t.emit(name+"."+what, "share", share, b.N)
		t.add(name+"."+what, "negative", KnownInt(negative, unit.Request))
		for i := range b.Tails {
			t.emit(name+"."+what, "tail."+b.Tails[i].Rank, tail(&b.Tails[i]), b.Tails[i].N)
		}
	}
	t.emit(name, "share", b.Share, b.N)
	for i := range b.Entries {
		e := &b.Entries[i]
		part(strings.Join(e.Leaves, "+"), e.Mean, e.Share, e.Negative, func(x *Tail) Value { return x.Entries[i] })
		if e.Low.Known {
			t.emit(name+"."+strings.Join(e.Leaves, "+"), "low", e.Low, b.N)
			t.emit(name+"."+strings.Join(e.Leaves, "+"), "high", e.High, b.N)
		}
	}
	r := &b.Residual
	part("residual", r.Mean, r.Share, r.Negative, func(x *Tail) Value { return x.Residual })
	t.emit(name+".total", "mean", b.Total, b.N)
	for i := range b.Tails {
		t.emit(name+".total", "tail."+b.Tails[i].Rank, b.Tails[i].Total, b.Tails[i].N)
	}
	for _, l := range b.Leaves {
		if l.State == "null" {
			t.add(name+"."+l.Name, "mean", Null(l.Reason))
		}
	}
	for _, x := range b.Terms {
		t.emit(name+"."+x.Name, "mean", x.Mean, b.N)
		t.emit(name+"."+x.Name, "low", x.Low, b.N)
		t.emit(name+"."+x.Name, "high", x.High, b.N)
	}
	for _, m := range b.Memos {
		t.memo(name, m)
	}
}

// sides adds the figures of each side.
func (t *tidier) sides(list []Side) {
	for i := range list {
		s := &list[i]
		t.add("side."+s.Side+".requests", "total", KnownInt(s.Requests.Total, unit.Request))
		t.add("side."+s.Side+".requests", "ok", KnownInt(s.Requests.OK, unit.Request))
		t.add("side."+s.Side+".requests", "apart", KnownInt(s.Apart, unit.Request))
		for _, name := range sorted(s.Metrics) {
			m := s.Metrics[name]
			t.metric("side."+s.Side+"."+name, &m)
		}
	}
}

// join adds what came of joining inputs.
func (t *tidier) join(j *Join) {
	if j == nil {
		return
	}
	t.add("join", "requests", KnownInt(j.Requests, unit.Request))
	t.add("join", "joined", KnownInt(j.Joined, unit.Request))
	t.add("join", "rate", j.Rate)
	t.add("join", "ambiguous", KnownInt(j.Ambiguous, unit.None))
	t.add("join", "duplicates", KnownInt(j.Duplicates, unit.None))
	for i := range j.Ends {
		e := &j.Ends[i]
		t.add("join."+e.Side+"."+e.Input, "requests", KnownInt(e.Requests, unit.Request))
		t.add("join."+e.Side+"."+e.Input, "joined", KnownInt(e.Joined, unit.Request))
	}
	for i := range j.Pairs {
		p := &j.Pairs[i]
		name := "join." + p.A.Side + "." + p.A.Input + "." + p.B.Side + "." + p.B.Input
		t.add(name, "joined", KnownInt(p.Joined, unit.Request))
		t.add(name, "offset_low", p.Offset.Low)
		t.add(name, "offset_high", p.Offset.High)
	}
}

func (t *tidier) little(l *Little) {
	if l == nil {
		return
	}
	t.add("little", "in_flight", l.InFlight)
	t.add("little", "rate", l.Rate)
	t.add("little", "residence", l.Residence)
	t.add("little", "product", l.Product)
	t.add("little", "difference", l.Difference)
}

// loads adds the rates of replicas and what engines log, under names as
// "replica.NAME.tps" and "engine.REPLICA.GAUGE.batch_logged".
func (t *tidier) loads(c *Throughput) {
	for i := range c.Replicas {
		r := &c.Replicas[i]
		name := "replica." + r.Name + "."
		t.add(name+"tokens", "value", KnownInt(r.Tokens, unit.Token))
		t.add(name+"tps", "value", r.TPS)
		t.add(name+"batch_decode", "value", r.Batch)
		t.add(name+"tpot_weighted", "value", r.TPOT)
		t.add(name+"tps_replica_model", "value", r.Model)
	}
	for i := range c.Engines {
		e := &c.Engines[i]
		name := "engine."
		if e.Replica != "" {
			name += e.Replica + "."
		}
		name += e.Gauge + "."
		t.add(name+"lines", "value", KnownInt(e.Lines, unit.None))
		t.emit(name+"batch_logged", "mean", e.Batch, e.Lines)
		t.emit(name+"batch_logged", "max", e.Max, e.Lines)
		t.add(name+"coverage", "value", e.Coverage)
		t.add(name+"interval", "value", e.Interval)
		t.add(name+"generation_tps", "mean", e.Tokens)
		t.add(name+"prompt_tps", "mean", e.Prompts)
		t.add(name+"decode_capacity", "value", e.Capacity)
		t.add(name+"best_batch", "value", e.Best)
	}
}

func (t *tidier) tokens(x *Tokens) {
	t.add("tokens", "output", x.Output)
	t.add("tokens", "output_ok", x.OutputOK)
	t.add("tokens", "prompt", x.Prompt)
	t.add("tokens", "prompt_ok", x.PromptOK)
}

func (t *tidier) reconciled(list []Reconciled) {
	for i := range list {
		r := &list[i]
		name := "reconciled." + r.Quantity + "." + r.Source
		t.add(name, "engine", r.Engine)
		t.add(name, "finished", r.Finished)
		t.add(name, "all", r.All)
		t.add(name, "difference", r.Difference)
		t.add(name, "share", r.Share)
		t.add(name, "unlogged", r.Rest)
	}
}

func (t *tidier) verdicts(g *Goodput) {
	for i := range g.Conditions {
		c := &g.Conditions[i]
		name := "goodput." + c.Limit
		t.add(name, "met", KnownInt(c.Met, unit.Request))
		t.add(name, "missed", KnownInt(c.Missed, unit.Request))
		t.add(name, "not_applicable", KnownInt(c.NotApplicable, unit.Request))
		t.add(name, "unknown", KnownInt(c.Unknown, unit.Request))
	}
	if x := g.Beside; x != nil {
		name := "goodput.aborts_excluded"
		if g.Aborts == "exclude" {
			name = "goodput.aborts_missed"
		}
		t.add(name, "denominator", KnownInt(x.Denominator, unit.Request))
		t.add(name, "share", x.Share)
		t.add(name, "share_low", x.ShareLow)
		t.add(name, "share_high", x.ShareHigh)
	}
}
