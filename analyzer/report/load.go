package report

// EngineLoad is the batch of one engine by its own log, over W; without requests, over
// the time of the engines' log.
type EngineLoad struct {
	Replica  string `json:"replica"`            // as in steps; empty: not recorded
	Gauge    string `json:"gauge"`              // the metric that its values measure: batch_running, batch_decode, batch_decode_active
	Lines    int64  `json:"lines"`              // values in W
	Batch    Value  `json:"batch_logged"`       // time-weighted mean over the covered time
	Max      Value  `json:"max"`                // greatest value that held in it
	Coverage Value  `json:"coverage"`           // covered part of W
	Interval Value  `json:"interval_ns"`        // typical time between its lines
	Tokens   Value  `json:"generation_tps"`     // output tokens per second as logged, time-weighted
	Prompts  Value  `json:"prompt_tps"`         // prompt tokens per second as logged, time-weighted
	Capacity Value  `json:"decode_capacity"`    // greatest g / T(g) of its decode-only steps
	Best     Value  `json:"best_batch"`         // the g of that
	Quantity string `json:"quantity,omitempty"` // meaning of T: interval or elapsed; absent: T is unknown
}

// Replica holds the rates of one replica over W, by its requests.
type Replica struct {
	Name   string `json:"replica"`           // as requests name it
	Side   string `json:"side"`              // side of the rows: servers name replicas, clients mostly do not
	Tokens int64  `json:"tokens"`            // output tokens emitted in W
	TPS    Value  `json:"tps"`               // these per second
	Batch  Value  `json:"batch_decode"`      // B
	TPOT   Value  `json:"tpot_weighted"`     // token-weighted
	Model  Value  `json:"tps_replica_model"` // B / TPOT
}

// Little holds both sides of Little's law, L = λ·W: the mean number of requests in
// flight, and the rate of requests times the mean time that they are in flight.
// They agree where all requests begin and end in the interval.
type Little struct {
	InFlight   Value `json:"in_flight"`    // L, by the sweep
	Rate       Value `json:"rate"`         // λ: requests with a start and an end per second
	Residence  Value `json:"residence_ns"` // W: their mean time from send to end
	Product    Value `json:"product"`      // λ·W
	Difference Value `json:"difference"`   // L - λ·W
}
