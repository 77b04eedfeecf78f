package kernel

import (
	"servescope/analyzer/decompose"
	"servescope/analyzer/query"
)

// Ends finds the engine steps that gave the tokens of requests: those of the
// replica that served them, on the clock of their stamps. It is read-only.
type Ends struct{ by map[endsKey][]engineEnds }

// endsKey is a replica of a run, or with the empty name all of them.
type endsKey struct {
	run     int32
	replica string
}

type engineEnds struct {
	clock string
	ends  *decompose.StepEnds
}

// EndsOf returns the ends of the steps in batches of the steps table, whatever the
// query selects, or nil if no step has an end that is fine enough. Ranks of one
// engine take the same steps: the first one stands for all.
func EndsOf(views []*View) *Ends {
	s := StepTime.New(new(query.Query), new(Facts)).(*stepTimeState)
	for _, v := range views {
		s.Update(v)
	}
	e := &Ends{by: make(map[endsKey][]engineEnds)}
	known := make(map[endsKey]bool)
	for _, key := range s.keys() {
		t := s.ranks[key]
		at := endsKey{key.run, key.replica}
		if known[at] || t.Clock == "mixed" {
			continue
		}
		if ends := t.Ends(); ends != nil {
			known[at] = true
			list := []endsKey{at}
			if key.replica != "" {
				list = append(list, endsKey{run: key.run})
			}
			for _, k := range list {
				e.by[k] = append(e.by[k], engineEnds{t.Clock, ends})
			}
		}
	}
	if len(e.by) == 0 {
		return nil
	}
	return e
}

// of returns the steps of a replica on a clock, or nil. A request that names none
// is of the only one there is.
func (e *Ends) of(run int32, replica, clock string) *decompose.StepEnds {
	if e == nil {
		return nil
	}
	list := e.by[endsKey{run, replica}]
	if len(list) != 1 || list[0].clock != clock {
		return nil
	}
	return list[0].ends
}
