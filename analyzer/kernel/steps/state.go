package steps

import (
	"maps"
	"slices"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
)

type state struct {
	cell.Base
	series map[cell.SeriesKey]*series
	other  map[int32]int64 // rows of the series beyond maxSeries, by run
}

// Update implements State for a batch of the steps table.
func (s *state) Update(v *kernel.View) {
	c := cell.StepColumnsOf(v.Batch)
	axes := s.AxesOf(v, c.Clock)
	var last cell.StepCodes
	var at []*series
	known := make(map[cell.StepCodes][]*series)
	for i := range v.Rows {
		codes := c.Codes(i)
		if codes.Group = v.Group[i]; codes.Group < 0 {
			continue
		}
		codes.Window = kernel.NoWindow
		if t, ok := c.T.At(i); ok {
			codes.Window = axes[cell.CodeAt(c.Clock, i)+1].Window(t)
		}
		if at == nil || codes != last {
			last = codes
			if at = known[codes]; at == nil {
				at = s.places(c.Key(v.RunIndex, codes), codes)
				known[codes] = at
			}
		}
		for _, x := range at {
			x.add(c, i)
		}
	}
	if len(s.series) > 2*cell.MaxSeries {
		s.prune()
	}
}

// places returns the series that a row with the given codes belongs to: the
// series of its run, and of its group and window if there are any.
func (s *state) places(key cell.SeriesKey, codes cell.StepCodes) []*series {
	var list []*series
	windows, groups := []int64{kernel.NoWindow}, []int32{-1}
	if codes.Window > cell.Elsewhere {
		windows = append(windows, codes.Window)
	}
	if len(s.Query.By) > 0 {
		groups = append(groups, codes.Group)
	}
	for _, key.Window = range windows {
		for _, key.Group = range groups {
			list = append(list, s.at(key))
		}
	}
	return list
}

func (s *state) at(key cell.SeriesKey) *series {
	x := s.series[key]
	if x == nil {
		x = new(series)
		s.series[key] = x
	}
	return x
}

// prune drops the series that are last in order but for the number of their
// rows. A series that is among the first at the end always has been, so the
// order of updates and merges does not matter.
func (s *state) prune() {
	if len(s.series) <= cell.MaxSeries {
		return
	}
	for _, key := range s.keys()[cell.MaxSeries:] {
		s.other[key.Run] += s.series[key].n
		delete(s.series, key)
	}
}

// unite puts the rows that state no duration, as the first line of a log, to
// the rows of the same steps that do, unless there are several such series.
func (s *state) unite() {
	keys := s.keys()
	same := func(i, j int) bool {
		if i >= len(keys) || j >= len(keys) {
			return false
		}
		a, b := keys[i], keys[j]
		a.Quantity, b.Quantity = "", ""
		return a == b
	}
	for i, key := range keys {
		if key.Quantity == "" && same(i, i+1) && !same(i, i+2) {
			s.series[keys[i+1]].Merge(s.series[key])
			delete(s.series, key)
		}
	}
}

func (s *state) keys() []cell.SeriesKey {
	keys := make([]cell.SeriesKey, 0, len(s.series))
	for key := range s.series {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, cell.SeriesKey.Compare)
	return keys
}

// Merge implements State.
func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	for key, x := range o.series {
		s.at(key).Merge(x)
	}
	for run, n := range o.other {
		s.other[run] += n
	}
	s.prune()
	return nil
}

// AppendState implements State.
func (s *state) AppendState(dst []byte) []byte {
	s.prune()
	dst = cell.AppendInts(dst, int64(len(s.series)))
	for _, key := range s.keys() {
		dst = cell.AppendInts(dst, key.Window, int64(key.Group), int64(key.Run))
		for _, text := range []string{key.Replica, key.Rank, key.Kind, key.Quantity} {
			dst = cell.AppendText(dst, text)
		}
		dst = s.series[key].AppendTo(dst)
	}
	dst = cell.AppendInts(dst, int64(len(s.other)))
	for _, run := range slices.Sorted(maps.Keys(s.other)) {
		dst = cell.AppendInts(dst, int64(run), s.other[run])
	}
	return dst
}

// LoadState implements State.
func (s *state) LoadState(src []byte) error {
	r := &cell.Reader{Src: src}
	s.series, s.other = make(map[cell.SeriesKey]*series), make(map[int32]int64)
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		key := cell.SeriesKey{Window: r.Int(), Group: int32(r.Int()), Run: int32(r.Int()), Replica: r.Text(), Rank: r.Text(), Kind: r.Text(), Quantity: r.Text()}
		s.at(key).Load(r)
	}
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		run := int32(r.Int())
		s.other[run] = r.Int()
	}
	return r.Done()
}

// Size implements State.
func (s *state) Size() int64 { return int64(len(s.series)) * 1024 }

// Finish adds the series to their runs.
func (s *state) Finish(out kernel.Output) {
	s.prune()
	s.unite()
	for _, key := range s.keys() {
		if out.Run(key.Run) != nil {
			c := out.Cell(key.Run, key.Group, key.Window)
			c.Steps = append(c.Steps, s.series[key].steps(key))
		}
	}
}

// Dropped implements State: it counts the rows of steps that are in no series.
func (s *state) Dropped() (rows map[int32]int64, most int) { return s.other, cell.MaxSeries }
