package report

import "servescope/analyzer/unit"

// DefinitionsSchema is the name and version of the JSON form of Definitions.
const DefinitionsSchema = "servescope.definitions/1"

// Definitions holds the metrics of runs under several definition sets, side by
// side. Its JSON form only grows, as the form of a report does;
// definitions.schema.json is its JSON Schema.
type Definitions struct {
	Schema string       `json:"schema"` // always "servescope.definitions/1"
	Query  Query        `json:"query"`  // what was asked
	Inputs []Input      `json:"inputs"` // every source that was read, in the order given
	Sets   []Definition `json:"sets"`   // the sets in the order asked for; the first is the default, ours
	Runs   []DefinedRun `json:"runs"`   // in the order of their first input
}

// DefinedRun is a run under every set.
type DefinedRun struct {
	Label    string          `json:"label"`    // unique within the report
	Format   string          `json:"format"`   // name of the format it was read from
	Requests Requests        `json:"requests"` // how many there are, by status
	Metrics  []DefinedMetric `json:"metrics"`  // in the order of a request's life, then rates
}

// DefinedMetric is one metric under every set.
type DefinedMetric struct {
	Metric string       `json:"metric"` // our name
	Title  string       `json:"title"`  // the same for people
	Unit   unit.Unit    `json:"unit"`   // base unit of its values
	Rows   []DefinedRow `json:"rows"`   // by set, in the order of sets
}

// DefinedRow is one metric under one set.
type DefinedRow struct {
	Definition string   `json:"definition"`        // name of the set
	Name       string   `json:"name,omitempty"`    // what the tool calls the metric; absent: as we do
	N          int64    `json:"n"`                 // values that the figure is over; 0 for a rate
	Value      Value    `json:"value"`             // the mean, or the rate
	P50        Value    `json:"p50"`               // median by the set's percentile method; null for a rate
	P99        Value    `json:"p99"`               // 99th percentile, likewise
	Formula    string   `json:"formula"`           // how the set defines it
	Filled     string   `json:"filled"`            // the formula with this run's numbers; empty where the value is null
	Equal      bool     `json:"equal"`             // the value equals the value of the default set
	Differs    []string `json:"differs,omitempty"` // why it is not; absent where it is
	Notes      []string `json:"notes,omitempty"`   // what a reader of the figure must know
}

// MarshalJSON implements json.Marshaler, as for a report.
func (d Definitions) MarshalJSON() ([]byte, error) {
	type plain Definitions
	return Marshal(plain(d))
}
