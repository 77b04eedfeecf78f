package fold

import (
	"encoding/binary"
	"errors"
	"slices"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// Folder folds requests for a session that runs elsewhere, beside a remote reader. One
// goroutine at a time uses it.
type Folder struct{ pass *Pass }

// NewFolder returns a Folder of kernels for a query that keeps every request, in one
// group.
func NewFolder(q *query.Query, kernels []kernel.Kernel) (*Folder, error) {
	if !selection.Plain(q) {
		return nil, errors.New("remote readers fold requests only for a query that keeps all")
	}
	return &Folder{newPass(q, new(kernel.Facts), kernels, 1)}, nil
}

// Fold folds a batch of an input. slot is the number of its first run in the
// session; batches of others, and of other tables, are left to the session: Fold
// returns false and does nothing.
func (f *Folder) Fold(b *trace.Batch, in formats.Source, label string, slot int32) bool {
	if b.Table != trace.Requests || b.Run.Key != 0 || b.Run.Origin != "" {
		return false
	}
	of := &dataset.Input{Source: in, Label: label}
	f.pass.fold(0, &kernel.View{Batch: of.SeenBatch(b, of.SeenRun(b.Run)), RunIndex: slot})
	return true
}

// States appends the states of the kernels, and gives them up.
func (f *Folder) States(dst []byte) []byte {
	states := f.pass.states[0]
	size := int64(0)
	for _, state := range states {
		size += state.Size()
	}
	dst = slices.Grow(dst, int(size)) // more than they take, as a rule
	for i := range states {
		at := len(dst)
		dst = states[i].AppendState(append(dst, 0, 0, 0, 0))
		binary.LittleEndian.PutUint32(dst[at:], uint32(len(dst)-at-4))
		states[i] = nil
	}
	f.pass.states[0] = nil
	return dst
}
