package analyzer

import (
	"servescope/analyzer/assemble"
	"servescope/analyzer/fold"
	"servescope/analyzer/load"
	"servescope/analyzer/view"
)

// The names of the stages that callers of a Session use.
type (
	Options    = load.Options    // what the caller decides
	Remote     = load.Remote     // readers that share no memory with the session
	RemoteJob  = load.RemoteJob  // what one of these reads
	RemoteFold = load.RemoteFold // a pass in which they take part
	EmptyError = load.EmptyError // nothing could be read
	Folder     = fold.Folder     // folds requests beside a remote reader

	Partial     = assemble.Partial     // an interim report
	PartialFunc = assemble.PartialFunc // asks for interim reports

	Viewport  = view.Viewport // what a chart shows
	Columns   = view.Columns  // what a chart is drawn from
	Column    = view.Column   // one of these
	Detail    = view.Detail   // a column of a single request
	ViewClock = view.ViewClock
)

// DefaultMemory is the budget of a session that names none.
const DefaultMemory = load.DefaultMemory
