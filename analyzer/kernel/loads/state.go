package loads

import (
	"cmp"
	"maps"
	"slices"
	"strconv"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/trace"
)

// loadKey identifies a gauge. Only the first rank of an engine counts: the others
// work on the same batch.
type loadKey struct {
	run, group int32
	replica    string
	gauge      gauge
	rank       [4]int64 // tp, pp, ep, global rank; -1: not stated
}

func (a loadKey) compare(b loadKey) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.group, b.group), cmp.Compare(a.replica, b.replica),
		cmp.Compare(a.gauge, b.gauge), slices.Compare(a.rank[:], b.rank[:]))
}

type state struct {
	cell.Base
	loads  map[loadKey]*gaugeLog
	exist  map[int32]int64 // engines that a run is said to have
	points int             // of all loads
	full   bool            // there are too many points or gauges: none is kept
}

// maxPoints bounds the values that a state keeps, 32 bytes each: of more it keeps
// none. Tests lower it.
var maxPoints = 4 << 20

// Update implements State for a batch of the steps table.
func (s *state) Update(v *kernel.View) {
	if v.Run.Side < trace.Server {
		return // what a router or a client counts is no engine's batch
	}
	s.exist[v.RunIndex] = max(s.exist[v.RunIndex], Configured(v.Run))
	c := cell.StepColumnsOf(v.Batch)
	var last cell.StepCodes
	var lastGauge gauge
	var at *gaugeLog
	for i := range v.Rows {
		codes := c.Codes(i)
		if codes.Group = v.Group[i]; codes.Group < 0 {
			continue
		}
		if g := gaugeOf(c, v, i); at == nil || codes != last || g != lastGauge {
			last, lastGauge = codes, g
			at = s.at(loadKeyOf(c, v.RunIndex, codes, g))
		}
		at.add(c, i, lastGauge)
		s.points++
	}
	s.bound()
}

// gaugeOf tells what the running column of row i counts.
func gaugeOf(c *cell.StepColumns, v *kernel.View, i int) gauge {
	kind, known := c.Kind.At(i)
	_, single := c.Quantity.At(i)
	engine := v.Run.Engine
	if code, ok := c.Engine.At(i); ok {
		engine = c.Engine.Values[code]
	}
	switch window := known && trace.StepKind(kind) == trace.StepWindow; {
	case engine == "sglang" && (window || !single):
		return decodeGauge
	case window:
		return runningGauge
	}
	return activeGauge
}

func loadKeyOf(c *cell.StepColumns, run int32, k cell.StepCodes, g gauge) loadKey {
	key := loadKey{run: run, group: k.Group, replica: cell.NameOf(c.Replica, k.Replica), gauge: g, rank: [4]int64(k.Ranks[1:])}
	if key.replica == "" && k.Ranks[0] >= 0 {
		key.replica = cell.RankNames[0] + strconv.FormatInt(k.Ranks[0], 10)
	}
	return key
}

func (s *state) at(key loadKey) *gaugeLog {
	l := s.loads[key]
	if l == nil {
		l = new(gaugeLog)
		s.loads[key] = l
	}
	return l
}

// bound drops everything where there are too many values or gauges. Whether there
// are depends on the rows alone, so the order of updates and merges does not
// matter.
func (s *state) bound() {
	if s.full = s.full || s.points > maxPoints || len(s.loads) > cell.MaxSeries; s.full {
		clear(s.loads)
	}
}

// Merge implements State.
func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	for key, l := range o.loads {
		s.at(key).Merge(l)
	}
	for run, n := range o.exist {
		s.exist[run] = max(s.exist[run], n)
	}
	s.points += o.points
	s.full = s.full || o.full
	s.bound()
	return nil
}

// AppendState implements State.
func (s *state) AppendState(dst []byte) []byte {
	s.bound()
	dst = cell.AppendInts(cell.AppendFlag(dst, s.full), int64(s.points), int64(len(s.exist)))
	for _, run := range slices.Sorted(maps.Keys(s.exist)) {
		dst = cell.AppendInts(dst, int64(run), s.exist[run])
	}
	dst = cell.AppendInts(dst, int64(len(s.loads)))
	for _, key := range s.keys() {
		dst = cell.AppendInts(dst, int64(key.run), int64(key.group), int64(key.gauge))
		dst = cell.AppendInts(cell.AppendText(dst, key.replica), key.rank[:]...)
		dst = s.loads[key].AppendTo(dst)
	}
	return dst
}

// LoadState implements State.
func (s *state) LoadState(src []byte) error {
	r := &cell.Reader{Src: src}
	s.loads, s.exist = make(map[loadKey]*gaugeLog), make(map[int32]int64)
	s.full, s.points = r.Flag(), int(max(r.Int(), 0))
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		run := int32(r.Int())
		s.exist[run] = r.Int()
	}
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		key := loadKey{run: int32(r.Int()), group: int32(r.Int())}
		g := r.Int()
		if g < 0 || g >= int64(len(gaugeNames)) {
			r.Fail()
			break
		}
		key.gauge, key.replica = gauge(g), r.Text()
		for i := range key.rank {
			key.rank[i] = r.Int()
		}
		s.at(key).Load(r)
	}
	return r.Done()
}

// Size implements State.
func (s *state) Size() int64 {
	return int64(len(s.loads))*256 + 32*int64(min(s.points, maxPoints))
}

func (s *state) keys() []loadKey {
	keys := make([]loadKey, 0, len(s.loads))
	for key := range s.loads {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, loadKey.compare)
	return keys
}

// engines returns the gauges of a group of a run, group -1 being all, in order of
// replicas: of each the gauge of its first rank, and the sum over engines only where
// the engines are not there too.
func (s *state) engines(run, group int32) []engine {
	united := make(map[loadKey]*gaugeLog)
	for _, key := range s.keys() { // in order: mixed gauges have the clock of the first
		if key.run != run || group >= 0 && key.group != group {
			continue
		}
		l := s.loads[key]
		key.group = group
		if united[key] == nil {
			united[key] = new(gaugeLog)
		}
		united[key].Merge(l)
	}
	var list []engine
	for key, l := range united {
		list = append(list, engine{key, l})
	}
	slices.SortFunc(list, func(a, b engine) int { return a.compare(b.loadKey) })
	list = slices.CompactFunc(list, func(a, b engine) bool { return a.replica == b.replica && a.gauge == b.gauge })
	if slices.ContainsFunc(list, func(e engine) bool { return e.replica != allEngines }) {
		list = slices.DeleteFunc(list, func(e engine) bool { return e.replica == allEngines })
	}
	for _, e := range list {
		e.marks = marksOf(e.points, e.resolution)
	}
	return list
}
