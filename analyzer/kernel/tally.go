package kernel

import (
	"slices"

	"servescope/analyzer/metric"
)

// tally counts exclusions by reason, sorted by reason: mostly there is one.
type tally []struct {
	why metric.Reason
	n   int64
}

func (t *tally) add(why metric.Reason, n int64) {
	if len(*t) == 1 && (*t)[0].why == why {
		(*t)[0].n += n
		return
	}
	t.insert(why, n)
}

func (t *tally) insert(why metric.Reason, n int64) {
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

func (t *tally) merge(o tally) {
	for _, e := range o {
		t.add(e.why, e.n)
	}
}

// with returns a copy of t with n more.
func (t tally) with(why metric.Reason, n int64) tally {
	t = slices.Clone(t)
	t.add(why, n)
	return t
}

// get returns how many are excluded for a reason.
func (t tally) get(why metric.Reason) int64 {
	for _, e := range t {
		if e.why == why {
			return e.n
		}
	}
	return 0
}

// counts returns the exclusions by code.
func (t tally) counts() map[string]int64 {
	out := make(map[string]int64)
	for _, e := range t {
		if e.n > 0 {
			out[e.why.String()] += e.n
		}
	}
	return out
}

// main returns the reason that excluded most: why a metric without values is
// null.
func (t tally) main() metric.Reason {
	most, why := int64(0), metric.NotRecorded
	for _, e := range t {
		if e.n > most {
			most, why = e.n, e.why
		}
	}
	return why
}

func (t tally) appendTo(dst []byte) []byte {
	dst = appendInts(dst, int64(len(t)))
	for _, e := range t {
		dst = appendInts(dst, int64(e.why), e.n)
	}
	return dst
}

func (t *tally) load(src *reader) {
	*t = nil
	for n := src.count(); n > 0 && src.err == nil; n-- {
		why := src.int()
		if why < 0 || why >= int64(metric.Reasons) {
			src.fail()
			return
		}
		t.add(metric.Reason(why), src.int())
	}
}
