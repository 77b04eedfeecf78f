package dataset

import (
	"errors"
	"iter"

	"servescope/analyzer/trace"
)

// Batch holds resident rows of one table: their columns, in a store, and their token
// lists in a compact form as long as the lists of all batches fit the budget.
type Batch struct {
	Origin
	Number int32     // of its first row among all
	Lists  []Segment // of consecutive rows; nil when they are not resident

	Columns *trace.Batch   // the columns as they are, or
	packed  *trace.Packed  // what is known of them, and
	view    *trace.RunMeta // their run as kernels see it; nil until it is known
	store   *Store         // where they are:
	code    []byte         // in memory, or
	Offset  int64          // in the file
	Length  int            // in bytes
}

// Rows returns how many rows there are.
func (r *Batch) Rows() int {
	if r.Columns != nil {
		return r.Columns.Rows
	}
	return r.packed.Rows()
}

// Has reports whether a column is not null throughout.
func (r *Batch) Has(c trace.Col) bool {
	if r.Columns != nil {
		return r.Columns.Has(c)
	}
	return r.packed.Has(c)
}

// Run returns the run of the rows, as it was read or as kernels see it.
func (r *Batch) Run() *trace.RunMeta {
	switch {
	case r.Columns != nil:
		return r.Columns.Run
	case r.view != nil:
		return r.view
	}
	return r.packed.Run()
}

// see makes view the run of the rows.
func (r *Batch) see(view *trace.RunMeta) {
	if r.view = view; r.Columns != nil {
		r.Columns = r.File.SeenBatch(r.Columns, view)
	}
}

// Open returns the columns. Those that are packed are in memory of their own. If
// they cannot be had the store fails, and all are null.
func (r *Batch) Open() *trace.Batch {
	if r.Columns != nil {
		return r.Columns
	}
	code := r.code
	if code == nil {
		code = make([]byte, r.Length)
		if err := r.store.Spill.Read(code, r.Offset); err != nil {
			r.store.fail(err)
			code = nil
		}
	}
	b, ok := r.packed.Unpack(code)
	if !ok {
		r.store.fail(ErrUnpack) // unless it has failed
		b = trace.NewBatch(b.Table, b.Run, b.File, b.Rows)
	}
	if r.view != nil {
		b = r.File.SeenBatch(b, r.view)
	}
	return b
}

// ErrUnpack reports that packed columns are corrupt.
var ErrUnpack = errors.New("the columns of requests cannot be unpacked again")

// keep opens r for good: for what reads rows in any order.
func (r *Batch) keep() { r.Columns = r.Open() }

// Opened is a resident batch with its columns at hand.
type Opened struct {
	*Batch
	Cols *trace.Batch
}

// OpenEach yields the batches of a list, opened one after the other.
func OpenEach(list []*Batch) iter.Seq2[int, Opened] {
	return func(yield func(int, Opened) bool) {
		for i, r := range list {
			if !yield(i, Opened{r, r.Open()}) {
				return
			}
		}
	}
}

// Origin is where a batch comes from: its input, its run, and the number of its
// first row within the job that read it.
type Origin struct {
	File  *Input
	Slot  int32
	First int64
}
