package analyzer

import (
	"errors"
	"iter"

	"servescope/analyzer/trace"
)

// resident is a batch that stays at hand: its request columns, in a store, and its token
// lists in a compact form while those of all batches fit the budget.
type Batch struct {
	Origin
	number int32     // of its first row among all
	lists  []segment // of consecutive rows; nil when they are not resident

	held   *trace.Batch   // the columns as they are, or
	packed *trace.Packed  // what is known of them, and
	view   *trace.RunMeta // their run as kernels see it; nil until it is known
	store  *Store         // where they are:
	code   []byte         // in memory, or
	off    int64          // in the file
	n      int            // in bytes
}

func (r *Batch) rows() int {
	if r.held != nil {
		return r.held.Rows
	}
	return r.packed.Rows()
}

func (r *Batch) has(c trace.Col) bool {
	if r.held != nil {
		return r.held.Has(c)
	}
	return r.packed.Has(c)
}

// run returns the run of the rows, as it was read or as kernels see it.
func (r *Batch) run() *trace.RunMeta {
	switch {
	case r.held != nil:
		return r.held.Run
	case r.view != nil:
		return r.view
	}
	return r.packed.Run()
}

// see makes view the run of the rows.
func (r *Batch) see(view *trace.RunMeta) {
	if r.view = view; r.held != nil {
		r.held = r.file.seen(r.held, view)
	}
}

// open returns the columns. Those that are packed are in memory of their own. If
// they cannot be had the store fails, and all are null.
func (r *Batch) open() *trace.Batch {
	if r.held != nil {
		return r.held
	}
	code := r.code
	if code == nil {
		code = make([]byte, r.n)
		if err := r.store.spill.Read(code, r.off); err != nil {
			r.store.fail(err)
			code = nil
		}
	}
	b, ok := r.packed.Unpack(code)
	if !ok {
		r.store.fail(errUnpack) // unless it has failed
		b = trace.NewBatch(b.Table, b.Run, b.File, b.Rows)
	}
	if r.view != nil {
		b = r.file.seen(b, r.view)
	}
	return b
}

// errUnpack is of columns that are not those that were packed.
var errUnpack = errors.New("the columns of requests cannot be unpacked again")

// keep opens r for good: for what reads rows in any order.
func (r *Batch) keep() { r.held = r.open() }

// opened is a resident batch with its columns at hand.
type opened struct {
	*Batch
	cols *trace.Batch
}

// open yields the batches of a list, opened one after the other.
func open(list []*Batch) iter.Seq2[int, opened] {
	return func(yield func(int, opened) bool) {
		for i, r := range list {
			if !yield(i, opened{r, r.open()}) {
				return
			}
		}
	}
}

// Origin is where a batch comes from: its input, its run, and the number of its
// first row within the job that read it.
type Origin struct {
	file  *Input
	slot  int32
	first int64
}
