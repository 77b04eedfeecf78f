package steptime

import (
	"cmp"
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/collective"
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/trace"
)

// rankKey identifies the steps of one rank whose lengths are the same quantity.
type rankKey struct {
	run           int32
	quantity      trace.Quantity
	replica, rank string
}

func (a rankKey) compare(b rankKey) int {
	return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(a.quantity, b.quantity), cmp.Compare(a.replica, b.replica), cmp.Compare(a.rank, b.rank))
}

// linkKey identifies the communication kernels of one rank of a run.
type linkKey struct {
	run   int32
	place collective.Place
}

type state struct {
	cell.Base
	ranks map[rankKey]*decompose.Timeline
	links map[linkKey][]collective.Kernel
}

// Update implements State for batches of the steps table and, where the traces of
// several ranks of a run are at hand, of the collectives table. Rows that are no
// steps, as logged windows without a length, are left out.
func (s *state) Update(v *kernel.View) {
	if v.Table == trace.Collectives {
		by := make(map[collective.Place][]collective.Kernel)
		collective.Collect(by, v.Batch)
		for place, kernels := range by {
			key := linkKey{v.RunIndex, place}
			s.links[key] = append(s.links[key], kernels...)
		}
		return
	}
	c := stepTimeColumnsOf(v.Batch)
	axes := s.AxesOf(v, c.Clock)
	var last cell.StepCodes
	var at *decompose.Timeline
	for i := range v.Rows {
		code, ok := c.Quantity.At(i)
		if !ok {
			continue
		}
		if codes := c.Codes(i); at == nil || codes != last {
			last = codes
			key := c.Key(v.RunIndex, codes)
			at = s.at(rankKey{v.RunIndex, trace.Quantity(code), key.Replica, key.Rank}, collective.Place{
				DP: codes.Ranks[0], TP: codes.Ranks[1], PP: codes.Ranks[2], EP: codes.Ranks[3], Rank: codes.Ranks[4]})
			at.World = max(at.World, worldOf(v.Run))
		}
		k := c.step(i)
		k.Quantity, k.Group, k.Window = trace.Quantity(code), v.Group[i], kernel.NoWindow
		if k.End != decompose.Nowhere {
			k.Window = axes[cell.CodeAt(c.Clock, i)+1].Window(k.End)
			at.Clock = sameClock(at.Clock, c.AxisAt(i))
		}
		at.Steps = append(at.Steps, k)
		at.Refused = max(at.Refused, v.Run.NoTPOT)
		at.Resolution = max(at.Resolution, optional(c.Resolution.At(i)))
	}
}

func (s *state) at(key rankKey, place collective.Place) *decompose.Timeline {
	t := s.ranks[key]
	if t == nil {
		t = &decompose.Timeline{Name: strings.Join(strings.Fields(key.replica+" "+key.rank), " "), Replica: key.replica, Place: place}
		s.ranks[key] = t
	}
	return t
}

// Merge implements State.
func (s *state) Merge(other kernel.State) error {
	o, ok := other.(*state)
	if !ok {
		return cell.MergeError(s, other)
	}
	for key, t := range o.ranks {
		mine := s.at(key, t.Place)
		mine.Steps = append(mine.Steps, t.Steps...)
		mine.Refused = max(mine.Refused, t.Refused)
		mine.Clock = sameClock(mine.Clock, t.Clock)
		mine.Resolution, mine.World = max(mine.Resolution, t.Resolution), max(mine.World, t.World)
	}
	for key, kernels := range o.links {
		s.links[key] = append(s.links[key], kernels...)
	}
	return nil
}

// Size implements State.
func (s *state) Size() int64 {
	n := int64(0)
	for _, t := range s.ranks {
		n += int64(len(t.Steps)) * 128
	}
	for _, kernels := range s.links {
		n += int64(len(kernels)) * 128
	}
	return n
}

func (s *state) keys() []rankKey {
	keys := make([]rankKey, 0, len(s.ranks))
	for key := range s.ranks {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, rankKey.compare)
	return keys
}

// linked returns the keys of links in order.
func (s *state) linked() []linkKey {
	keys := make([]linkKey, 0, len(s.links))
	for key := range s.links {
		keys = append(keys, key)
	}
	slices.SortFunc(keys, func(a, b linkKey) int {
		p, q := &a.place, &b.place
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(p.DP, q.DP), cmp.Compare(p.TP, q.TP), cmp.Compare(p.PP, q.PP), cmp.Compare(p.EP, q.EP), cmp.Compare(p.Rank, q.Rank))
	})
	return keys
}

// optional returns a value, or -1 for null.
func optional(v int64, ok bool) int64 {
	if !ok {
		return -1
	}
	return v
}

// sameClock returns the clock that two are, "mixed" if they differ. "" is none.
func sameClock(a, b string) string {
	switch {
	case a == "" || a == b:
		return b
	case b == "":
		return a
	}
	return "mixed"
}

// worldOf returns the number of ranks that a run states, or 0.
func worldOf(run *trace.RunMeta) int64 {
	for _, p := range run.Config {
		if p.Key == "world_size" {
			n, _ := strconv.ParseInt(p.Value, 10, 64)
			return n
		}
	}
	return 0
}
