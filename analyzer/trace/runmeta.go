package trace

import "servescope/analyzer/unit"

// RunMeta describes one run of a source: what was measured, with what, and what
// its producer reported. A source may have one run or many.
type RunMeta struct {
	Key     int64  // byte offset of the run's record in its source, or 0; orders the runs of a source
	Label   string // name for people; empty: the caller picks one
	Origin  string // in exports only: identifies the exported inputs. Runs with equal label and origin are the same run
	Format  string // name of the format
	Engine  string // vllm, sglang, …; empty when unknown
	Version string // producer's version, or a guess such as "≥v0.15"; empty when unknown
	Model   string // empty when unknown
	Side    Side   // side of the run's rows
	Clock   Clock  // clock of the rows that do not state their own

	// DefaultDefinition names the definition set that the producer used for its
	// own figures ("vllm-2026"), or is empty.
	DefaultDefinition string

	// Duration is the run's length as the producer measured it, in ns, if
	// HasDuration is set.
	Duration    int64
	HasDuration bool

	// Positions says that the source gives requests no ids. request_id is then
	// the position in the source's arrays, and cannot be matched with other
	// sources.
	Positions bool

	// NoRequests says why the source has no rows per request, or is empty.
	NoRequests string

	// NoTPOT is the reason code for steps that have durations but give no time
	// per token, or is empty.
	NoTPOT string

	Config   []Pair     // settings of the run worth showing, in source order
	Reported []Reported // the producer's own figures; never mixed with computed values
	Doubts   []Doubt    // values of requests that cannot be true
	Notes    []string   // facts that everybody who reads the numbers must know
}

// Twin reports whether m and o describe the same run in two exports of the same
// inputs.
func (m *RunMeta) Twin(o *RunMeta) bool {
	return m.Origin != "" && m.Origin == o.Origin && m.Key == o.Key
}

// BeamSearch reports whether the settings of the run turn on beam search.
func (m *RunMeta) BeamSearch() bool {
	for _, p := range m.Config {
		if p.Key == "use_beam_search" {
			return p.Value == "true" || p.Value == "True"
		}
	}
	return false
}

// Doubt is a value of requests that cannot be true: a time of 0 for something
// that was never measured, or a first token after the end. Rows hold null
// instead.
type Doubt struct {
	Key    string    // member of a request in the source: "ttft_s"
	Metric string    // the metric that people would take it for; empty when there is none
	Same   bool      // all requests have the same value
	Value  float64   // one of the values, in Unit
	Unit   unit.Unit // base unit
	Count  int64     // requests with such a value
	Why    string    // why it cannot be true
}

// Doubt adds d to the doubts, or adds d.Count to the doubt with the same key
// and reason.
func (m *RunMeta) Doubt(d Doubt) {
	for i := range m.Doubts {
		if m.Doubts[i].Key == d.Key && m.Doubts[i].Why == d.Why {
			m.Doubts[i].Count += d.Count
			return
		}
	}
	m.Doubts = append(m.Doubts, d)
}

// Pair is one setting of a run.
type Pair struct{ Key, Value string }

// Reported is one figure that the producer computed, in base units.
type Reported struct {
	Key    string    // key in the source: "p99_ttft_ms"
	Metric string    // our name: a metric ("ttft") or a column of requests ("d_queue"); empty when there is none
	Stat   string    // mean, std, min, max, a quantile as "0.99", or "value"
	Value  float64   // in Unit
	Unit   unit.Unit // base unit
	Step   float64   // largest rounding error of Value, in Unit; 0: not rounded
}

// Default returns the value of dictionary column c for rows of the run that
// leave it null, or "" if the run does not say.
func (m *RunMeta) Default(c Col) string {
	switch c {
	case EngineCol:
		return m.Engine
	case Model:
		return m.Model
	case SideCol:
		return Requests.Fields[SideCol].Values[m.Side]
	case ClockCol:
		return m.Clock.String()
	}
	return ""
}

// ReportedBatch returns the producer's figures as rows of ReportedTable.
func (r *RunMeta) ReportedBatch(file string) *Batch {
	b := NewBuilder(ReportedTable)
	for _, f := range r.Reported {
		b.Dict(ReportedKey, []byte(f.Key))
		if f.Metric != "" {
			b.Dict(ReportedMetric, []byte(f.Metric))
		}
		b.Dict(ReportedStat, []byte(f.Stat))
		b.Float(ReportedValue, f.Value)
		b.Dict(ReportedUnit, []byte(f.Unit))
		b.EndRow()
	}
	return b.Take(r, file)
}
