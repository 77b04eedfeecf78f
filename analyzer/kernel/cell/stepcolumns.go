package cell

import (
	"cmp"
	"fmt"
	"strings"

	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
)

// MaxSeries caps the series that a report holds: it holds the first in order.
const MaxSeries = 4096

// StepColumns are the columns of a batch of steps.
type StepColumns struct {
	Replica, Clock, Kind, Quantity trace.Dicts
	Engine                         trace.Dicts
	ranks                          [5]trace.Ints // see rankNames
	T, Duration, Resolution, Count trace.Ints
	Running, Waiting               trace.Ints
	Kv, Prompt, Generation         trace.Floats
	Idle                           trace.Bools
	Classes                        [len(StepClasses)]trace.Ints
	RunClock                       string
}

// RankNames are the prefixes of ranks in the names of series, in the order of
// StepCodes.Ranks.
var RankNames = [5]string{"dp", "tp", "pp", "ep", "rank"}

// StepClasses are the classes of a profiled interval, which tile it.
var StepClasses = [8]trace.Col{trace.StepCompute, trace.StepSampling, trace.StepCommunication, trace.StepHostTransfer,
	trace.StepLaunchWait, trace.StepScheduling, trace.StepHostExec, trace.StepHostGap}

// StepColumnsOf returns the columns of b, a batch of the steps table.
func StepColumnsOf(b *trace.Batch) *StepColumns {
	c := &StepColumns{
		Replica: b.Dicts(trace.StepReplica), Clock: b.Dicts(trace.StepClock), Kind: b.Dicts(trace.StepKindCol), Quantity: b.Dicts(trace.StepQuantity),
		Engine: b.Dicts(trace.StepEngine),
		ranks:  [5]trace.Ints{b.Ints(trace.StepDP), b.Ints(trace.StepTP), b.Ints(trace.StepPP), b.Ints(trace.StepEP), b.Ints(trace.StepRank)},
		T:      b.Ints(trace.StepT), Duration: b.Ints(trace.StepDuration), Resolution: b.Ints(trace.StepResolution), Count: b.Ints(trace.StepCount),
		Running: b.Ints(trace.StepRunning), Waiting: b.Ints(trace.StepWaiting),
		Kv: b.Floats(trace.StepKVUsage), Prompt: b.Floats(trace.StepPromptTPS), Generation: b.Floats(trace.StepGenerationTPS),
		Idle: b.Bools(trace.StepAfterIdle), RunClock: b.Run.Clock.String(),
	}
	for i, col := range StepClasses {
		c.Classes[i] = b.Ints(col)
	}
	return c
}

// StepCodes tells the series of a batch apart; -1 is null.
type StepCodes struct {
	Window                  int64
	Group                   int32
	Replica, kind, quantity int32
	Ranks                   [5]int64
}

// ClockAt names the clock of row i.
func (c *StepColumns) ClockAt(i int) string {
	if code, own := c.Clock.At(i); own {
		return c.Clock.Values[code]
	}
	return c.RunClock
}

func (c *StepColumns) Codes(i int) StepCodes {
	k := StepCodes{Replica: CodeAt(c.Replica, i), kind: CodeAt(c.Kind, i), quantity: CodeAt(c.Quantity, i)}
	for j := range c.ranks {
		k.Ranks[j] = -1
		if v, ok := c.ranks[j].At(i); ok {
			k.Ranks[j] = v
		}
	}
	return k
}

// Key names a series. The data-parallel rank is a replica's name already, where
// there is one.
func (c *StepColumns) Key(run int32, k StepCodes) SeriesKey {
	key := SeriesKey{Run: run, Replica: NameOf(c.Replica, k.Replica), Kind: NameOf(c.Kind, k.kind), Quantity: NameOf(c.Quantity, k.quantity)}
	var parts []string
	for j, v := range k.Ranks {
		if v >= 0 && (j > 0 || k.Replica < 0) {
			parts = append(parts, fmt.Sprintf("%s%d", RankNames[j], v))
		}
	}
	key.Rank = strings.Join(parts, " ")
	return key
}

// AxisAt names the clock of row i.
func (c *StepColumns) AxisAt(i int) string {
	clock, ok := trace.ParseClock(c.ClockAt(i))
	if !ok {
		return c.ClockAt(i)
	}
	return kernel.Axis(clock)
}

// CodeAt returns the code of row i, or -1 for null.
func CodeAt(d trace.Dicts, i int) int32 {
	if code, ok := d.At(i); ok {
		return code
	}
	return -1
}

// NameOf returns the name of a code, or "" for null.
func NameOf(d trace.Dicts, code int32) string {
	if code < 0 {
		return ""
	}
	return d.Values[code]
}

// SeriesKey identifies the rows that one statistic may unite.
type SeriesKey struct {
	Window                        int64 // start; NoWindow: the whole time
	Run, Group                    int32 // group -1: all of them
	Replica, Rank, Kind, Quantity string
}

// Compare orders series of a whole run before series of its groups and windows, which
// are dropped first.
func (a SeriesKey) Compare(b SeriesKey) int {
	return cmp.Or(cmp.Compare(a.Window, b.Window), cmp.Compare(a.Group, b.Group), cmp.Compare(a.Run, b.Run), cmp.Compare(a.Replica, b.Replica), cmp.Compare(a.Rank, b.Rank),
		cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.Quantity, b.Quantity))
}
