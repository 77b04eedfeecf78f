package decompose

import "servescope/analyzer/trace"

// told holds the time of a stage as one source states it.
type told struct {
	ns, step int64
	known    bool
}

// Differ returns the stages of which the rows of one request, in it or beside one
// another, state times that differ by more than the steps of both sources. A row
// is up to two sources: its stamps, and the durations that it states. Rows of the
// nodes of a disaggregated deployment have queues and prefills of their own, and
// what lies outside of the server is no stage of both.
func Differ(rows []Row) (differ Set) {
	var all [Leaves]told // the first that tells
	for i := range rows {
		r := &rows[i]
		if r.Side != trace.Server && r.Side != trace.Engine {
			continue
		}
		stamped := *r
		stamped.Merged = [2]Entry{}
		for l := range stamped.Own {
			stamped.Own[l] = Unknown
		}
		w := stamped.path()
		s := stamped.spans(w)
		for _, x := range s.list[:s.n] {
			if x.leaves.Len() == 1 && x.leaves&w.blurred == 0 {
				differ |= meet(&all, x.leaves, told{x.to - x.from, r.Step, true})
			}
		}
		for l, ns := range r.Own {
			if ns != Unknown && apartBy(ns, 0) <= day {
				differ |= meet(&all, Of(Leaf(l)), told{ns, r.Grain, true})
			}
		}
	}
	return differ
}

// meet compares what a source says of a stage with what the first has said, and
// returns the stage where it differs.
func meet(all *[Leaves]told, stage Set, t told) Set {
	for l := range all {
		first := &all[l]
		switch {
		case !stage.Has(Leaf(l)):
		case !first.known:
			*first = t
		case apartBy(first.ns, t.ns) > uint64(2*(first.step+t.step)):
			return stage
		}
	}
	return 0
}
