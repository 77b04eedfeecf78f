package report

import "servescope/analyzer/unit"

// EngineLoad is what one engine says of its own batch, over W; without requests,
// over the time of the engines' log.
type EngineLoad struct {
	Replica  string `json:"replica"`            // as in steps; empty: not recorded
	Gauge    string `json:"gauge"`              // the metric that its values are of: batch_running, batch_decode, batch_decode_active
	Lines    int64  `json:"lines"`              // values in W
	Batch    Value  `json:"batch_logged"`       // time-weighted mean over the covered time
	Max      Value  `json:"max"`                // greatest value that held in it
	Coverage Value  `json:"coverage"`           // covered part of W
	Interval Value  `json:"interval_ns"`        // typical time between its lines
	Tokens   Value  `json:"generation_tps"`     // output tokens per second as logged, time-weighted
	Prompts  Value  `json:"prompt_tps"`         // prompt tokens per second as logged, time-weighted
	Capacity Value  `json:"decode_capacity"`    // greatest g / T(g) of its decode-only steps
	Best     Value  `json:"best_batch"`         // the g of that
	Quantity string `json:"quantity,omitempty"` // what T is: interval or elapsed; absent: there is none
}

// Replica holds the rates of one replica over W, by its requests.
type Replica struct {
	Name   string `json:"replica"`           // as requests name it
	Side   string `json:"side"`              // whose rows these are: servers name replicas, clients mostly do not
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
