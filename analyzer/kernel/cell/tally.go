package cell

import (
	"slices"

	"servescope/analyzer/metric"
)

// Tally counts exclusions by reason, in order of reasons: mostly there is one.
type Tally []struct {
	why metric.Reason
	n   int64
}

func (t *Tally) Add(why metric.Reason, n int64) {
	if len(*t) == 1 && (*t)[0].why == why {
		(*t)[0].n += n
		return
	}
	t.insert(why, n)
}

func (t *Tally) insert(why metric.Reason, n int64) {
	i := 0
	for i < len(*t) && (*t)[i].why < why {
		i++
	}
	if i == len(*t) || (*t)[i].why != why {
		*t = slices.Insert(*t, i, struct {
			why metric.Reason
			n   int64
		}{why, 0})
	}
	(*t)[i].n += n
}

func (t *Tally) Merge(o Tally) {
	for _, e := range o {
		t.Add(e.why, e.n)
	}
}

// With returns a copy of t with n more.
func (t Tally) With(why metric.Reason, n int64) Tally {
	t = slices.Clone(t)
	t.Add(why, n)
	return t
}

// Get returns how many are excluded for a reason.
func (t Tally) Get(why metric.Reason) int64 {
	for _, e := range t {
		if e.why == why {
			return e.n
		}
	}
	return 0
}

// Counts returns the exclusions by code.
func (t Tally) Counts() map[string]int64 {
	out := make(map[string]int64)
	for _, e := range t {
		if e.n > 0 {
			out[e.why.String()] += e.n
		}
	}
	return out
}

// main returns the reason that excluded most values: a metric without values is null
// for it.
func (t Tally) main() metric.Reason {
	most, why := int64(0), metric.NotRecorded
	for _, e := range t {
		if e.n > most {
			most, why = e.n, e.why
		}
	}
	return why
}

func (t Tally) AppendTo(dst []byte) []byte {
	dst = AppendInts(dst, int64(len(t)))
	for _, e := range t {
		dst = AppendInts(dst, int64(e.why), e.n)
	}
	return dst
}

func (t *Tally) Load(src *Reader) {
	*t = nil
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		why := src.Int()
		if why < 0 || why >= int64(metric.Reasons) {
			src.Fail()
			return
		}
		t.Add(metric.Reason(why), src.Int())
	}
}
