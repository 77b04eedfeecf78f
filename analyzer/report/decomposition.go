package report

// Decomposition splits the time of one quantity into parts, over the members of a
// cell that have a total: requests for a TTFT, decode spans or steps for a TPOT.
// Members whose sources give the same set of entries share one table, so that in
// each table the mean entries and the mean residual add up to the mean total, up to
// the rounding of each mean to a float64. N is the sum of the members of all tables;
// N plus Excluded is the number of members of the cell.
type Decomposition struct {
	Of       string           `json:"of"`                // "ttft", "tpot", …
	By       string           `json:"by,omitempty"`      // how the tables are divided: rank, kind (of the step that gave the token), request (time between the tokens of requests), request_kind (the same by the kind of the step) or batch (kind and size of the step); absent: not divided
	Side     string           `json:"side"`              // side whose stamps or durations give the total: server, client, engine, …; of joined rows the outermost side
	Label    string           `json:"label,omitempty"`   // how far to trust it, in words: "estimated from timestamps"
	Members  string           `json:"members,omitempty"` // what n counts: tokens or steps; absent: requests
	N        int64            `json:"n"`                 // members with a total
	Total    Value            `json:"total"`             // mean total over all of them
	Low      Value            `json:"low,omitempty"`     // lower end of what the mean total may be, where it rests on an assumption
	High     Value            `json:"high,omitempty"`    // upper end of it
	Excluded map[string]int64 `json:"excluded"`          // members without a total, by reason
	Censored int64            `json:"censored"`          // of the excluded, aborted or still open before the end of the quantity: it would have been longer
	Late     map[string]Value `json:"late,omitempty"`    // quantiles of the total, by rank, if it had never ended for the censored ones; absent without any
	Tables   []Breakdown      `json:"tables"`            // one per set of entries, the largest first; of one that is by something, in its order
	Memos    []Memo           `json:"memos,omitempty"`   // figures beside all of the tables; absent: none
	Stops    []Stop           `json:"stops,omitempty"`   // stops of the device within steps, the longest of each rank; absent: none
	Gaps     []Gap            `json:"gaps,omitempty"`    // the longest gaps between chunks, where nothing else can be told; absent: none
	Notes    []string         `json:"notes"`             // caveats
}

// Stop is a step that gave tokens after its device had idled for more than ten
// median steps.
type Stop struct {
	Rank      string `json:"rank"`        // as in the tables by rank
	Step      int64  `json:"step"`        // number of the step
	At        Value  `json:"at"`          // its end, ns on the run's clock
	Duration  int64  `json:"duration_ns"` // its interval in ns
	Idle      int64  `json:"idle_ns"`     // of this the device idled so long, in ns
	Sequences int64  `json:"sequences"`   // that got tokens
}

// Breakdown is the table of the members of a decomposition that have the same
// set of entries. Nothing is clamped: a part or residual may be negative.
type Breakdown struct {
	Signature string   `json:"signature"`        // the entries in order, as "queue, prefill, input+ingress+egress"; empty: none, all is residual
	Cohort    string   `json:"cohort,omitempty"` // what else the members share, in words: "decode steps of 8 sequences"
	N         int64    `json:"n"`                // members
	Share     Value    `json:"share"`            // of the decomposition's members
	Total     Value    `json:"total"`            // mean total
	Sum       Value    `json:"sum,omitempty"`    // exact sum of the totals: the sums of the entries and of the residual add up to it
	Entries   []Entry  `json:"entries"`          // in order of time
	Residual  Residual `json:"residual"`         // total less entries
	Leaves    []Leaf   `json:"leaves"`           // state of every stage of the model, in order of time
	Terms     []Term   `json:"terms"`            // sums of stages under the names of the formula
	Memos     []Memo   `json:"memos"`            // shown beside the table and in none of its sums
	Tails     []Tail   `json:"tails"`            // the mean entries of the slowest members
	Notes     []string `json:"notes"`            // caveats
}

// Entry is one part of a total: one stage, or several that no source separates.
type Entry struct {
	Leaves     []string `json:"leaves"`           // stages, in order of time; several: not separable
	Term       string   `json:"term,omitempty"`   // the term that all its stages belong to; absent: they belong to several terms
	Mean       Value    `json:"mean"`             // over the table's members
	Sum        Value    `json:"sum,omitempty"`    // over the table's members, exactly
	Share      Value    `json:"share"`            // of the mean total
	Low        Value    `json:"low,omitempty"`    // lower end of the interval of an estimate
	High       Value    `json:"high,omitempty"`   // upper end of it
	Negative   int64    `json:"negative"`         // members in which it is negative
	Reason     string   `json:"reason,omitempty"` // why it is negative in some
	Resolution Value    `json:"resolution"`       // coarsest step of its source in ns
}

// Residual is the total without its entries. It belongs to no stage.
type Residual struct {
	Mean       Value    `json:"mean"`             // over the table's members
	Sum        Value    `json:"sum,omitempty"`    // over the table's members, exactly
	Share      Value    `json:"share"`            // of the mean total
	Low        Value    `json:"low,omitempty"`    // lower end of the interval of an estimate
	High       Value    `json:"high,omitempty"`   // upper end of it
	Negative   int64    `json:"negative"`         // members in which it is negative
	Reason     string   `json:"reason,omitempty"` // why it is negative in some
	MayContain []string `json:"may_contain"`      // stages whose time is unknown and would lie in it
	Measured   int64    `json:"measured"`         // members whose entries are intervals of one clock: there the residual is the time that no entry covers
}

// Leaf is the state of one stage of the model.
type Leaf struct {
	Name   string `json:"name"`             // "queue", "prefill", …
	State  string `json:"state"`            // value, merged (with others in one entry), absent (there is no such stage) or null
	Reason string `json:"reason,omitempty"` // code of the reason of a null
}

// Term is a sum of stages. Where an entry holds stages of several terms, or the
// residual may hold some of this one, its mean is null and the bounds say what it
// can be.
type Term struct {
	Name   string   `json:"name"`   // "t_queue", …
	Leaves []string `json:"leaves"` // its stages that are not absent
	Mean   Value    `json:"mean"`   // where all its stages are known apart from those of other terms
	Low    Value    `json:"low"`    // it is no less on average
	High   Value    `json:"high"`   // it is no more on average
}

// Memo is a figure beside a table that must not be added to its entries.
type Memo struct {
	Name string `json:"name"` // "d_mm", "communication_overlapped", …; "ttft_server": of the server around the engine
	Mean Value  `json:"mean"` // over the members that tell it
	N    int64  `json:"n"`    // members that tell it

	Bound string `json:"bound,omitempty"` // "upper" or "lower" where the value is only a bound: ranks are missing, the time spans two clocks, or only the time around it is known
}

// Tail explains the slowest members: the members of the table whose total is at or
// above a percentile of the totals of the whole decomposition.
type Tail struct {
	Rank     string  `json:"rank"`     // "0.99"
	From     Value   `json:"from"`     // the percentile: the least total of the tail
	N        int64   `json:"n"`        // members
	Total    Value   `json:"total"`    // mean total
	Entries  []Value `json:"entries"`  // mean entries, in the order of the table's
	Residual Value   `json:"residual"` // mean residual
}

// Tells reports whether any member's total is divided: a table without entries,
// or with one entry of all that the total consists of, says nothing of stages.
func (d *Decomposition) Tells() bool {
	for i := range d.Tables {
		if t := &d.Tables[i]; len(t.Entries) > 1 || len(t.Entries) == 1 && len(t.Residual.MayContain) > 0 {
			return true
		}
	}
	return false
}

// Estimated reports whether the parts are estimated from timestamps alone.
func (d *Decomposition) Estimated() bool { return d.Label == Estimated }
