package decompose

import (
	"cmp"
	"math/bits"
	"slices"
	"strings"

	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// Leaf is a stage of a time to first token, in order of time.
type Leaf uint8

// The stages. Those from Proxy on are trace.Leaves.
const (
	Network Leaf = iota // between client and server, both ways
	Client              // inside of the client
	Proxy
	Input
	Ingress
	Queue
	Prefill
	KVTransfer
	DecodeQueue
	FirstDecode
	Egress

	Leaves = int(Egress) + 1 // how many there are
)

var leafNames = append([]string{"network", "client"}, trace.Leaves...)

// String returns the stage's name, as in the columns of durations.
func (l Leaf) String() string { return leafNames[l] }

// Set is a set of stages: bit l is stage l.
type Set uint16

// Of returns the set of the given stages.
func Of(leaves ...Leaf) Set {
	var s Set
	for _, l := range leaves {
		s |= 1 << l
	}
	return s
}

// Has reports whether l is in the set.
func (s Set) Has(l Leaf) bool { return s>>l&1 != 0 }

// Len returns the number of stages in the set.
func (s Set) Len() int { return bits.OnesCount16(uint16(s)) }

// Names returns the names of the stages in order of time.
func (s Set) Names() []string {
	names := make([]string, 0, s.Len())
	for l := range Leaf(Leaves) {
		if s.Has(l) {
			names = append(names, l.String())
		}
	}
	return names
}

// String joins the names by +, as trace.Merged does.
func (s Set) String() string { return trace.Merged(s.Names()...) }

// ParseSet is the inverse of String. It reports false if a name is not the name of
// a stage.
func ParseSet(text string) (Set, bool) {
	var s Set
	for name := range strings.SplitSeq(text, "+") {
		l := slices.Index(leafNames, name)
		if l < 0 {
			return 0, false
		}
		s |= 1 << l
	}
	return s, true
}

// Unknown stands for a stamp or a duration that is not known.
const Unknown = int64(-1) << 63

// Entry is one part of a total, in ns. From and To are its place on the row's
// clock where it is the time between two stamps, else Unknown: a difference of
// durations may consist of several pieces.
type Entry struct {
	Leaves   Set
	NS       int64
	From, To int64
	Step     int64 // resolution of its source in ns
}

func (e *Entry) placed() bool { return e.From != Unknown }

// State says whether the time of a stage is known, shared, absent or unknown.
type State uint8

// The states.
const (
	Null   State = iota // unknown
	Value               // it has an entry of its own
	Merged              // it shares one
	Absent              // there is no such stage
)

var stateNames = [...]string{"null", "value", "merged", "absent"}

// String returns the state's name.
func (s State) String() string { return stateNames[s] }

// MemoKind names a figure beside a decomposition.
type MemoKind uint8

// The memos.
const (
	ClientWait MemoKind = iota // wait inside of the client before sending; before the total
	Multimodal                 // multimodal preprocessing; inside of input
	Bootstrap                  // handshake on the prefill node; overlaps the handshake on the decode node

	Memos = int(Bootstrap) + 1 // how many there are
)

var memoNames = [...]string{"client_wait", "multimodal", "prefill_bootstrap"}

// String returns the memo's name.
func (m MemoKind) String() string { return memoNames[m] }

// Parts is a time to first token taken apart. Its entries are in the order in
// which their last stages end.
type Parts struct {
	Signature
	Total    int64
	Step     int64 // resolution of the total in ns
	Measured bool  // the entries are intervals of one clock in order
	Open     int64 // where Measured, the part of the total that no entry covers

	Values [Leaves]Entry // the first Signature.N of them
	Memo   [Memos]int64  // Unknown where the source does not tell
}

// Signature lists the entries of a total without their times: totals with the same
// signature can be averaged part by part.
type Signature struct {
	N       uint8       // number of entries
	Sets    [Leaves]Set // their stages
	Absent  Set         // stages that do not exist
	Outside Set         // of the unknown ones, those that do not lie in the total
	Coarse  Set         // of the unknown ones, those shorter than the step of the stamps
}

// Entries returns the entries; the slice is the Parts' own.
func (p *Parts) Entries() []Entry { return p.Values[:p.N] }

// Residual returns what the entries leave of the total.
func (p *Parts) Residual() int64 {
	rest := p.Total
	for i := range p.Entries() {
		rest -= p.Values[i].NS
	}
	return rest
}

// Covered returns the stages that have an entry, alone or with others.
func (s *Signature) Covered() (all Set) {
	for _, set := range s.Sets[:s.N] {
		all |= set
	}
	return all
}

// MayContain returns the stages whose time, if any, lies in the residual.
func (s *Signature) MayContain() Set {
	return Set(1<<Leaves-1) &^ (s.Covered() | s.Absent | s.Outside)
}

// State returns the state of a stage, and why it is null.
func (s *Signature) State(l Leaf) (State, metric.Reason) {
	for _, set := range s.Sets[:s.N] {
		switch {
		case !set.Has(l):
		case set.Len() > 1:
			return Merged, metric.None
		default:
			return Value, metric.None
		}
	}
	switch {
	case s.Absent.Has(l):
		return Absent, metric.None
	case s.Outside.Has(l):
		return Null, metric.OutsideTotal
	case s.Coarse.Has(l):
		return Null, metric.Resolution
	}
	return Null, metric.NotRecorded
}

// String lists the entries: "queue, prefill, input+ingress+egress".
func (s *Signature) String() string {
	names := make([]string, s.N)
	for i := range names {
		names[i] = s.Sets[i].String()
	}
	return strings.Join(names, ", ")
}

// Compare orders signatures: a signature with more entries comes first.
func (s *Signature) Compare(o *Signature) int {
	return cmp.Or(cmp.Compare(o.N, s.N), slices.Compare(s.Sets[:], o.Sets[:]),
		cmp.Compare(s.Absent, o.Absent), cmp.Compare(s.Outside, o.Outside), cmp.Compare(s.Coarse, o.Coarse))
}

// insert adds an entry of stages that no other has.
func (p *Parts) insert(e Entry) {
	i := int(p.N)
	for i > 0 && p.Values[i-1].Leaves > e.Leaves { // that is, the highest stage is later
		p.Values[i], p.Sets[i] = p.Values[i-1], p.Sets[i-1]
		i--
	}
	p.Values[i], p.Sets[i] = e, e.Leaves
	p.N++
}

// add adds an entry and merges it with those that share stages with it.
func (p *Parts) add(e Entry) {
	for i := 0; i < int(p.N); i++ {
		o := &p.Values[i]
		if o.Leaves&e.Leaves == 0 {
			continue
		}
		e = Entry{Leaves: o.Leaves | e.Leaves, NS: o.NS + e.NS, From: Unknown, To: Unknown, Step: max(o.Step, e.Step)}
		p.remove(i)
		i = -1
	}
	p.insert(e)
}

// remove removes entry i.
func (p *Parts) remove(i int) {
	copy(p.Values[i:p.N], p.Values[i+1:p.N])
	copy(p.Sets[i:p.N], p.Sets[i+1:p.N])
	p.N--
	p.Values[p.N], p.Sets[p.N] = Entry{}, 0
}
