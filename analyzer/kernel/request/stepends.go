package request

import "servescope/analyzer/decompose"

// StepEnds finds the engine steps that gave the tokens of requests: the steps of the
// replica that served them, on the clock of their stamps. It is read-only once it is
// filled.
type StepEnds struct{ byReplica map[replicaOfRun][]clockEnds }

// replicaOfRun is a replica of a run, or all of them if the name is empty.
type replicaOfRun struct {
	run     int32
	replica string
}

// clockEnds are the ends of steps on a clock.
type clockEnds struct {
	clock string
	ends  *decompose.StepEnds
}

// Add adds the steps of a replica of a run.
func (e *StepEnds) Add(run int32, replica, clock string, ends *decompose.StepEnds) {
	if e.byReplica == nil {
		e.byReplica = make(map[replicaOfRun][]clockEnds)
	}
	list := []replicaOfRun{{run, replica}}
	if replica != "" {
		list = append(list, replicaOfRun{run: run})
	}
	for _, key := range list {
		e.byReplica[key] = append(e.byReplica[key], clockEnds{clock, ends})
	}
}

// Of returns the steps of a replica on a clock, or nil. A request that names no
// replica belongs to the only one there is.
func (e *StepEnds) Of(run int32, replica, clock string) *decompose.StepEnds {
	if e == nil {
		return nil
	}
	list := e.byReplica[replicaOfRun{run, replica}]
	if len(list) != 1 || list[0].clock != clock {
		return nil
	}
	return list[0].ends
}
