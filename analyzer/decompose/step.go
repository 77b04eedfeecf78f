package decompose

import (
	"math/bits"

	"servescope/analyzer/trace"
)

// StepLeaf is a stage of an engine step, or of what a sequence waits for between
// two of its tokens.
type StepLeaf uint8

// The stages. The first eight are the classes of a profiled interval, in the
// order of the columns of trace.Steps.
const (
	Compute StepLeaf = iota
	Sampling
	Communication
	HostTransfer
	LaunchWait
	Scheduling
	HostExec
	HostGap      // device idle, and nothing is known of the launching thread
	Interference // steps that only prefill, between two tokens of a sequence
	Stall        // other steps without the sequence: it is preempted, or in another micro-batch

	StepClasses = int(HostGap) + 1
	StepLeaves  = int(Stall) + 1
)

// ClassColumns are the columns of the classes.
var ClassColumns = [StepClasses]trace.Col{trace.StepCompute, trace.StepSampling, trace.StepCommunication, trace.StepHostTransfer,
	trace.StepLaunchWait, trace.StepScheduling, trace.StepHostExec, trace.StepHostGap}

// String returns the name of the stage, which is the name of its column if it has one.
func (l StepLeaf) String() string {
	switch l {
	case Interference:
		return "interference"
	case Stall:
		return "stall"
	}
	return trace.Steps.Fields[ClassColumns[l]].Name
}

// StepMemo names a figure beside the parts of a step. It is a part of a class, or
// lies beside all of them, and is in no sum.
type StepMemo uint8

// The memos; Transfer to Unsplit divide the class communication.
const (
	Overlapped StepMemo = iota
	Unclassified
	RoutingLocal
	DeviceGap
	SchedulerCPU
	Transfer
	Waiting
	Unsplit

	columnMemos = int(SchedulerCPU) + 1
	StepMemos   = int(Unsplit) + 1
)

// MemoColumns are the columns of the memos that have one.
var MemoColumns = [columnMemos]trace.Col{trace.StepCommunicationOverlapped, trace.StepUnclassified, trace.StepRoutingLocal, trace.StepDeviceGap, trace.StepSchedulerCPU}

// String returns the memo's name.
func (m StepMemo) String() string {
	switch m {
	case Transfer:
		return "communication_transfer"
	case Waiting:
		return "communication_wait"
	case Unsplit:
		return "communication_unsplit"
	}
	return trace.Steps.Fields[MemoColumns[m]].Name
}

// NoKind is the kind of a step of which nothing tells what it did.
const NoKind trace.StepKind = -1

// Step is one engine step of one rank. Times are in ns, counts and times are -1
// where unknown but for the end.
type Step struct {
	End      int64 // on the rank's clock; Nowhere where unknown
	Index    int64 // number of the step
	Duration int64
	Quantity trace.Quantity
	Kind     trace.StepKind
	Decoding int64 // sequences that get a token; g
	Context  int64 // sequences whose prompt is computed
	Emitted  int64 // tokens that they get: g, or more where drafts are accepted
	Parts    *StepParts

	Group  int32 // of the query; -1: it removes the step
	Window int64 // of the query
}

// Nowhere is the end of a step without a stamp.
const Nowhere = int64(-1) << 63

// StepParts are the classes and memos of a profiled step, in ns; known says which
// of them are there.
type StepParts struct {
	Class      [StepClasses]int64
	Memo       [StepMemos]int64
	KnownClass uint16
	KnownMemo  uint16
}

// Has reports whether a class is known.
func (p *StepParts) Has(l StepLeaf) bool { return p != nil && p.KnownClass>>l&1 != 0 }

// StepSource lists the facts that the source of steps states. Parts of steps are
// averaged only over steps whose sources state the same facts.
type StepSource struct {
	Quantity      trace.Quantity
	Classes       bool // there are parts
	Sampling      bool // sampling is told from compute
	Communication bool // communication is, where there must be some
	Scheduler     bool // ranges of a scheduler were recorded, or the host is never waited for
}

// sums adds up times of members: steps, or the tokens that they gave.
type sums struct {
	n      int64 // members
	weight int64 // what steps were added with: steps, or the sequences in them
	total  int64
	leaf   [StepLeaves]int64
	memo   [StepMemos]int64
	told   [StepMemos]int64 // part of weight that tells the memo
	over   int64            // 1: a sum is beyond 64 bits
}

// plus adds weight times v to a sum.
func (s *sums) plus(sum *int64, v, weight int64) {
	neg := v < 0
	u := uint64(v)
	if neg {
		u = -u
	}
	hi, lo := bits.Mul64(u, uint64(weight))
	x := int64(lo)
	if neg {
		x = -x
	}
	next := *sum + x
	if hi != 0 || lo > 1<<63-1 || (next < *sum) != (x < 0) {
		s.over = 1
	}
	*sum = next
}

// step adds the time and the parts of a step, for each of weight sequences.
func (s *sums) step(k *Step, weight int64) {
	s.weight += weight
	s.plus(&s.total, k.Duration, weight)
	s.parts(k, weight)
}

// parts adds the parts of a step alone.
func (s *sums) parts(k *Step, weight int64) {
	if k.Parts == nil {
		return
	}
	for l, v := range k.Parts.Class {
		if v != 0 {
			s.plus(&s.leaf[l], v, weight)
		}
	}
	for m, v := range k.Parts.Memo {
		if k.Parts.KnownMemo>>m&1 != 0 {
			s.plus(&s.memo[m], v, weight)
			s.told[m] += weight
		}
	}
}

func (s *sums) merge(o *sums) {
	s.n += o.n
	s.weight += o.weight
	s.plus(&s.total, o.total, 1)
	for l := range s.leaf {
		s.plus(&s.leaf[l], o.leaf[l], 1)
	}
	for m := range s.memo {
		s.plus(&s.memo[m], o.memo[m], 1)
		s.told[m] += o.told[m]
	}
	s.over |= o.over
}
