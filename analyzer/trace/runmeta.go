package trace

import "servescope/analyzer/unit"

// RunMeta describes one run of a source: what was measured, with what, and what
// its producer claimed about it. A source with one record per run has many.
type RunMeta struct {
	Key     int64  // orders the runs of one source and names them in batches: the byte offset of the run's record, or 0
	Label   string // name for people; empty: the caller picks one
	Origin  string // of an export: what the inputs were that it was made of. Runs of one label and origin are one, whichever exports they are in
	Format  string // name of the format that read it
	Engine  string // vllm, sglang, …; empty when unknown
	Version string // producer's version or a guess such as "≥v0.15"; empty when unknown
	Model   string // empty when unknown
	Side    Side   // side of the run's rows
	Clock   Clock  // clock of the run's rows unless a row says otherwise

	// DefaultDefinition names the definition set under which this producer
	// computed its own figures ("vllm-2026"), or is empty.
	DefaultDefinition string

	// Duration is the run's length as the producer measured it, in ns;
	// HasDuration says whether it did.
	Duration    int64
	HasDuration bool

	// Positions says that the source names no requests: request_id is the place of
	// each in its arrays, and tells nothing to another source.
	Positions bool

	// NoRequests says why the source holds no per-request rows, or is empty.
	NoRequests string

	// NoTPOT is the reason code why the run's steps give no time per token,
	// though they have lengths, or is empty.
	NoTPOT string

	Config   []Pair     // settings of the run worth showing, in source order
	Reported []Reported // what the producer itself claimed; never mixed with computed values
	Doubts   []Doubt    // values of requests that cannot be true
	Notes    []string   // facts a reader of the numbers must know
}

// Twin reports whether another export of the same inputs describes the same record.
func (m *RunMeta) Twin(o *RunMeta) bool {
	return m.Origin != "" && m.Origin == o.Origin && m.Key == o.Key
}

// BeamSearch reports whether the run is said to have used beam search.
func (m *RunMeta) BeamSearch() bool {
	for _, p := range m.Config {
		if p.Key == "use_beam_search" {
			return p.Value == "true" || p.Value == "True"
		}
	}
	return false
}

// Doubt is a value that a source states of requests and that cannot be: a time
// of 0 for what was never measured, a first token behind the end. Rows hold
// null in its place.
type Doubt struct {
	Key    string    // member of a request in the source: "ttft_s"
	Metric string    // our metric's name that a reader would take it for; empty when there is none
	Same   bool      // all state the same value
	Value  float64   // that value, in Unit
	Unit   unit.Unit // base unit
	Count  int64     // requests that state it
	Why    string    // why it cannot be
}

// Doubt adds values that cannot be, d.Count of them, to those of the same key
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

// Reported is one figure that the producer computed itself, in base units.
type Reported struct {
	Key    string    // key in the source: "p99_ttft_ms"
	Metric string    // our name: of a metric ("ttft"), or of a column of requests ("d_queue"); empty when it has no counterpart
	Stat   string    // mean, std, min, max, a quantile as "0.99", or "value"
	Value  float64   // in Unit
	Unit   unit.Unit // base unit
	Step   float64   // how far Value may be off because the source rounds it, in Unit; 0: it does not
}

// Default returns what a dictionary column of the requests table holds for rows
// of the run that do not state it themselves, or "" where the run does not say.
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

// ReportedBatch returns what the producer of the run claimed as rows of
// ReportedTable.
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
