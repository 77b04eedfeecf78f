package kernel

import (
	"cmp"
	"math"
	"slices"
	"strconv"

	"servescope/analyzer/query"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// Loads computes what engines say of their load over time: the batch as they log
// it, and how fast they decode batches of each size. It is fed with the steps
// table, like Steps, but with every step that the filter keeps, whenever it was: a
// value holds until the next one. It finishes after the kernels of requests, beside
// whose rates it puts its own. A query whose filter asks for what is not told of
// steps keeps that filter, any other has none.
var Loads Kernel = loads{}

type loads struct{}

func (loads) Name() string { return "loads" }
func (loads) Lists() bool  { return false }
func (loads) New(q *query.Query, facts *Facts) State {
	return &loadsState{base: newBase(nil, q, facts), loads: make(map[loadKey]*load), exist: make(map[int32]int64)}
}

// gauge is what a number of sequences counts.
type gauge uint8

const (
	decodeGauge  gauge = iota // sequences that decode, stalled ones too: SGLang's #running-req
	runningGauge              // from admission on: vLLM's Running
	activeGauge               // decode sequences of a single step
)

var gaugeNames = [...]string{"batch_decode", "batch_running", "batch_decode_active"}

// maxPoints bounds the values that a state keeps, 32 bytes each: of more it keeps
// none. Tests lower it.
var maxPoints = 4 << 20

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

type loadsState struct {
	base
	loads  map[loadKey]*load
	exist  map[int32]int64 // engines that a run is said to have
	points int             // of all loads
	full   bool            // there are too many points or gauges: none is kept
}

// Update implements State for a batch of the steps table.
func (s *loadsState) Update(v *View) {
	if v.Run.Side < trace.Server {
		return // what a router or a client counts is no engine's batch
	}
	s.exist[v.RunIndex] = max(s.exist[v.RunIndex], Configured(v.Run))
	c := stepColumnsOf(v.Batch)
	var last stepCodes
	var lastGauge gauge
	var at *load
	for i := range v.Rows {
		codes := c.codes(i)
		if codes.group = v.Group[i]; codes.group < 0 {
			continue
		}
		if g := c.gauge(v, i); at == nil || codes != last || g != lastGauge {
			last, lastGauge = codes, g
			at = s.at(c.loadKey(v.RunIndex, codes, g))
		}
		at.add(c, i, lastGauge)
		s.points++
	}
	s.bound()
}

// Configured returns how many engines a run is configured to have, or 0.
func Configured(m *trace.RunMeta) int64 {
	most := int64(0)
	for _, p := range m.Config {
		if p.Key == "data_parallel_size" || p.Key == "dp_size" {
			n, _ := strconv.ParseInt(p.Value, 10, 32) // 0 where it is no number
			most = max(most, n)
		}
	}
	return most
}

// gauge tells what the running column of row i counts.
func (c *stepColumns) gauge(v *View, i int) gauge {
	kind, known := c.kind.At(i)
	_, single := c.quantity.At(i)
	engine := v.Run.Engine
	if code, ok := c.engine.At(i); ok {
		engine = c.engine.Values[code]
	}
	switch window := known && trace.StepKind(kind) == trace.StepWindow; {
	case engine == "sglang" && (window || !single):
		return decodeGauge
	case window:
		return runningGauge
	}
	return activeGauge
}

func (c *stepColumns) loadKey(run int32, k stepCodes, g gauge) loadKey {
	key := loadKey{run: run, group: k.group, replica: nameOf(c.replica, k.replica), gauge: g, rank: [4]int64(k.ranks[1:])}
	if key.replica == "" && k.ranks[0] >= 0 {
		key.replica = rankNames[0] + strconv.FormatInt(k.ranks[0], 10)
	}
	return key
}

func (s *loadsState) at(key loadKey) *load {
	l := s.loads[key]
	if l == nil {
		l = new(load)
		s.loads[key] = l
	}
	return l
}

// bound drops everything where there are too many values or gauges. Whether there
// are depends on the rows alone, so the order of updates and merges does not
// matter.
func (s *loadsState) bound() {
	if s.full = s.full || s.points > maxPoints || len(s.loads) > maxSeries; s.full {
		clear(s.loads)
	}
}

// Merge implements State.
func (s *loadsState) Merge(other State) error {
	o, ok := other.(*loadsState)
	if !ok {
		return errMerge(s, other)
	}
	for key, l := range o.loads {
		s.at(key).merge(l)
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
func (s *loadsState) AppendState(dst []byte) []byte {
	s.bound()
	full := byte(0)
	if s.full {
		full = 1
	}
	dst = appendInts(append(dst, full), int64(s.points), int64(len(s.exist)))
	for _, run := range sortedKeys(s.exist) {
		dst = appendInts(dst, int64(run), s.exist[run])
	}
	dst = appendInts(dst, int64(len(s.loads)))
	for _, key := range s.keys() {
		dst = appendInts(dst, int64(key.run), int64(key.group), int64(key.gauge))
		dst = appendInts(appendText(dst, key.replica), key.rank[:]...)
		dst = s.loads[key].appendTo(dst)
	}
	return dst
}

// LoadState implements State.
func (s *loadsState) LoadState(src []byte) error {
	r := &reader{src: src}
	s.loads, s.exist = make(map[loadKey]*load), make(map[int32]int64)
	s.full, s.points = r.flag(), int(max(r.int(), 0))
	for n := r.count(); n > 0 && r.err == nil; n-- {
		run := int32(r.int())
		s.exist[run] = r.int()
	}
	for n := r.count(); n > 0 && r.err == nil; n-- {
		key := loadKey{run: int32(r.int()), group: int32(r.int())}
		g := r.int()
		if g < 0 || g >= int64(len(gaugeNames)) {
			r.fail()
			break
		}
		key.gauge, key.replica = gauge(g), r.text()
		for i := range key.rank {
			key.rank[i] = r.int()
		}
		s.at(key).load(r)
	}
	return r.done()
}

// Size implements State.
func (s *loadsState) Size() int64 {
	return int64(len(s.loads))*256 + 32*int64(min(s.points, maxPoints))
}

// Next implements State: one pass tells all.
func (s *loadsState) Next(*Facts) bool { return false }

func (s *loadsState) keys() []loadKey {
	keys := make([]loadKey, 0, len(s.loads))
	for key := range s.loads {
		keys = append(keys, key)
	}
	sorting.By(keys, loadKey.compare)
	return keys
}

// engine is a gauge of one engine in a cell.
type engine struct {
	loadKey
	*load
}

// engines returns the gauges of a group of a run, group -1 being all, in order of
// replicas: of each that of its first rank, and the sum over engines only where
// the engines are not there too.
func (s *loadsState) engines(run, group int32) []engine {
	united := make(map[loadKey]*load)
	for _, key := range s.keys() { // in order: the clock of mixed ones is that of the first
		if key.run != run || group >= 0 && key.group != group {
			continue
		}
		l := s.loads[key]
		key.group = group
		if united[key] == nil {
			united[key] = new(load)
		}
		united[key].merge(l)
	}
	var list []engine
	for key, l := range united {
		list = append(list, engine{key, l})
	}
	sorting.By(list, func(a, b engine) int { return a.compare(b.loadKey) })
	list = slices.CompactFunc(list, func(a, b engine) bool { return a.replica == b.replica && a.gauge == b.gauge })
	if slices.ContainsFunc(list, func(e engine) bool { return e.replica != allEngines }) {
		list = slices.DeleteFunc(list, func(e engine) bool { return e.replica == allEngines })
	}
	for _, e := range list {
		e.marks = marksOf(e.points, e.resolution)
	}
	return list
}

// allEngines is the replica of lines that are about all engines of a server.
const allEngines = "all"

// point is a value of a gauge, and what is logged beside it; -1: not stated.
type point struct {
	t, length            int64 // length: of a step that ends at t; 0: the value holds from t on
	running, waiting     int32
	generation, prompted int32 // tokens per second, in hundredths
}

func (a point) compare(b point) int {
	return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.length, b.length), cmp.Compare(a.running, b.running), cmp.Compare(a.waiting, b.waiting),
		cmp.Compare(a.generation, b.generation), cmp.Compare(a.prompted, b.prompted))
}

// small returns a number that a point holds, or -1.
func small(v float64, known bool) int32 {
	if !known || !(v >= 0 && v < math.MaxInt32) {
		return -1
	}
	return int32(float64(v) + 0.5)
}
