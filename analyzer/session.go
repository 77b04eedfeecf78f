package analyzer

import (
	"context"

	"servescope/analyzer/assemble"
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/fold"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace/manifest"
	"servescope/analyzer/view"
	"servescope/formats"
	"servescope/formats/source"
)

// Session answers questions about the inputs of one analysis. Its methods are called by
// one goroutine at a time; it needs no clock, environment or file system of its own.
type Session struct {
	in    *load.Loader // what reads the inputs
	set   *dataset.Set // what was read of them
	fold  *fold.Runner
	views *view.Views

	lines  *assemble.Lines
	audits *assemble.Audits     // of what producers claim; nil until the first report
	tell   assemble.PartialFunc // nil: nobody asks for interim reports
}

// Open detects the format of every input; force names one for all of them, or
// is "". Inputs that no format recognises are diagnosed and left out; if none
// is recognised the error is (or wraps) a *formats.DetectError. Nothing else is
// read before the first Run or Rows. A session closes
// its inputs; where Open fails the caller does.
func Open(ctx context.Context, set *formats.Set, inputs *source.Inputs, force string, opt load.Options) (*Session, error) {
	in, err := load.Open(ctx, set, inputs, force, opt)
	if err != nil {
		return nil, err
	}
	return &Session{in: in, set: in.Set, fold: fold.NewRunner(in), views: view.NewViews(in), lines: assemble.NewLines(in.Set)}, nil
}

// Close closes the inputs and removes their temporary files.
func (s *Session) Close() error { return s.in.Close() }

// Tell makes f take interim reports while rows are folded, from the next Run on.
func (s *Session) Tell(f assemble.PartialFunc) { s.tell = f }

// Diags returns what was skipped, repaired or assumed in the inputs, as far as
// they have been read. A report adds what concerns its query.
func (s *Session) Diags() []diag.Diag {
	log := new(diag.Log)
	log.Merge(&s.set.Diags)
	for _, f := range s.set.Inputs {
		log.Merge(f.Diags)
	}
	return s.lines.Locate(log)
}

// Formats returns the format of each input, nil where none recognises it.
func (s *Session) Formats() []*formats.Format {
	out := make([]*formats.Format, len(s.set.Inputs))
	for i, f := range s.set.Inputs {
		out[i] = f.Format
	}
	return out
}

// Inputs returns the inputs with their line accounting, which is empty until
// they have been read.
func (s *Session) Inputs() []report.Input { return assemble.Inputs(s.set) }

// Empty returns an *EmptyError where nothing at all could be read of the
// inputs, and nil where something was or where they have not been read yet.
func (s *Session) Empty() error { return s.in.Empty() }

// Manifest describes what Rows and Table hand out under q (nil: all rows), for
// exports: complete once the inputs have been read, which is so when either of
// the two calls its function. What the producer of a run computed about all of
// it is left out when q selects a part.
func (s *Session) Manifest(q *query.Query) *manifest.Manifest {
	return assemble.Manifest(s.set, s.lines, q)
}

// NewFolder returns a Folder for a query that keeps every request, in one group.
func NewFolder(q *query.Query) (*fold.Folder, error) {
	e, err := assemble.FiguresOf(q.Definition)
	if err != nil {
		return nil, err
	}
	return fold.NewFolder(q, e.Kernels)
}
