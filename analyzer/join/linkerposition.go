package join

import (
	"slices"

	"servescope/analyzer/trace"
)

// benchmarks holds what a run has of vLLM's benchmark client.
type benchmarks struct {
	results []int32  // sources whose requests are numbered and have no id
	seen    [][]byte // runs of the client that servers saw, identified by the run's part of their ids; at most two are kept
	unlike  bool     // the requests of the run differ from the requests of the result
}

// one reports whether there is one result, and one run that may belong to it.
func (b *benchmarks) one() bool {
	return b != nil && len(b.results) == 1 && len(b.seen) == 1 && !b.unlike
}

// positions links the requests of a benchmark's result, which have numbers and
// no ids, to the rows of a server that name their number. There must be one
// result and one run of the client: several cannot be told apart.
func (l *linker) positions() {
	l.benchmarks = make(map[int32]*benchmarks)
	for k := range l.views {
		v := &l.views[k]
		if !v.Part.Batch.Run.Positions || v.Rows == 0 {
			continue
		}
		b := l.benchmarks[v.Part.Run]
		if b == nil {
			b = new(benchmarks)
			l.benchmarks[v.Part.Run] = b
		}
		if source := v.source + int32(v.sideOf(0)); !slices.Contains(b.results, source) {
			b.results = append(b.results, source)
		}
	}
	if len(l.benchmarks) == 0 {
		return
	}
	for r := range l.n {
		run, _, ok := l.numbered(r)
		if !ok {
			continue
		}
		v, _ := l.at(r)
		b := l.benchmarks[v.Part.Run]
		if b != nil && len(b.seen) < 2 && !slices.ContainsFunc(b.seen, func(o []byte) bool { return string(o) == string(run) }) {
			b.seen = append(b.seen, run)
		}
	}
	l.fill(l.n, l.position)
	l.compare()
	l.each(func(rows []int32) {
		if v, _ := l.at(rows[0]); l.benchmarks[v.Part.Run].one() {
			l.resolve(rows, Position)
		}
	})
}

// compare finds results whose requests differ from the run that a server saw:
// fewer than half have the same length.
func (l *linker) compare() {
	balance := make(map[int32]int)
	l.each(func(rows []int32) {
		v, _ := l.at(rows[0])
		for _, r := range rows[1:] {
			switch same, ok := l.sameLength(rows[0], r); {
			case same && ok:
				balance[v.Part.Run]++
			case ok:
				balance[v.Part.Run]--
			}
		}
	})
	for run, b := range l.benchmarks {
		b.unlike = balance[run] < 0
	}
}

// numbered splits the id of a row of a server.
func (l *linker) numbered(r int32) (run, number []byte, ok bool) {
	id, ok := l.id(r)
	if !ok || l.isUnclear(r) || l.side(r) == trace.Client {
		return nil, nil, false
	}
	return benchmark(id)
}

// position names a row by the number of its request in the only benchmark of
// its run.
func (l *linker) position(r int32, _ *[]byte) (key, bool) {
	v, i := l.at(r)
	if !l.benchmarks[v.Part.Run].one() {
		return key{}, false
	}
	if v.Part.Batch.Run.Positions {
		text, ok := v.ids.At(i)
		return key{form{text, 0, -1}, v.Part.Run}, ok
	}
	_, number, ok := l.numbered(r)
	return key{form{number, Position, -1}, v.Part.Run}, ok
}
