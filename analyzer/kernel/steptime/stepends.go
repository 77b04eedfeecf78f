package steptime

import (
	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/query"
)

// EndsOf returns the ends of the steps in batches of the steps table, whatever the
// query selects, or nil if no step has an end that is fine enough. Ranks of one
// engine take the same steps: the first one stands for all.
func EndsOf(views []*kernel.View) *request.StepEnds {
	s := newState(new(query.Query), new(kernel.Facts))
	for _, v := range views {
		s.Update(v)
	}
	type replica struct {
		run  int32
		name string
	}
	known := make(map[replica]bool)
	e := new(request.StepEnds)
	for _, key := range s.keys() {
		t, of := s.ranks[key], replica{key.run, key.replica}
		if known[of] || t.Clock == "mixed" {
			continue
		}
		if ends := t.Ends(); ends != nil {
			known[of] = true
			e.Add(key.run, key.replica, t.Clock, ends)
		}
	}
	if len(known) == 0 {
		return nil
	}
	return e
}
