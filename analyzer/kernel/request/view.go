package request

import (
	"servescope/analyzer/join"
	"servescope/analyzer/metric"
	"servescope/analyzer/trace"
)

// View is a batch with the verdict of the query on each row.
type View struct {
	*trace.Batch
	RunIndex int32     // index of the batch's run in the report
	Choices  *Choices  // joins the rows of requests of several choices; nil where there are none
	Ends     *StepEnds // finds the engine steps that gave the tokens of requests; nil where there are none
	Group    []int32   // index of the row's group; -1: the query removed the row, whatever the time. Without --by every group is 0

	// Links tells which rows belong to one request, and their roles; nil where
	// every row is one. Base is the number of the batch's first row in it.
	Links *join.Links
	Base  int32

	Memory *Memory // where the rows are read into; nil: new memory

	rows      *Rows // read once for all kernels; nil before
	read      []Row // the same; nil where they are many
	summaries []Summary
}

// Memory holds the rows of a view. One goroutine may give it to one view after the
// other: the view before must not be used any more then.
type Memory struct {
	rows      Rows
	read      []Row
	summaries [2]Summary
}

// mostShared is how many rows are kept for the kernels of a view: as many as a
// resident batch has.
const mostShared = 1 << 13

// Share returns the rows of v, which it reads once for all kernels. read is nil where
// the rows are many: each is then read when it is asked for.
func (v *View) Share() (rows *Rows, read []Row) {
	if v.rows == nil {
		v.readRows()
	}
	return v.rows, v.read
}

func (v *View) readRows() {
	m := v.Memory
	if m == nil {
		m = new(Memory)
	}
	m.rows = rowsOf(v)
	v.rows, v.summaries = &m.rows, m.summaries[:0]
	if v.Rows > mostShared {
		return
	}
	if cap(m.read) < v.Rows {
		m.read = make([]Row, v.Rows+v.Rows/4)
	}
	v.read = m.read[:v.Rows]
	for i := range v.read {
		v.read[i] = m.rows.At(i)
	}
}

// reader returns a function that reads single rows of v. Where the view has memory,
// all kernels share the rows.
func (v *View) reader() func(i int) *Row {
	if v.Memory != nil {
		if v.Share(); v.read != nil {
			return func(i int) *Row { return &v.read[i] }
		}
	}
	r, w := rowsOf(v), new(Row)
	return func(i int) *Row {
		*w = r.At(i)
		return w
	}
}

// Summary returns the summary of v under def.
func (v *View) Summary(def *metric.Definition) *Summary {
	for i := range v.summaries {
		if v.summaries[i].def == def {
			return &v.summaries[i]
		}
	}
	n := len(v.summaries)
	v.summaries = append(v.summaries, Summary{def: def})
	s := &v.summaries[n]
	for i := range s.Sides {
		s.Sides[i].reset()
	}
	s.add(v)
	return s
}
