// Package analyzer answers questions about the logs of LLM servers: it opens
// the inputs, drives the kernels over their requests and assembles a report.
//
//	inputs → detection → readers → resident request columns ┐
//	                                  └→ token data ────────┴→ kernels → report
//
// Request columns stay in memory, so that a second query does not read again;
// token data (the gaps between chunks) is folded while it is read and kept only
// where it is small. Results do not depend on the number of workers, nor on
// where an input is cut for them: they are the same to the last byte.
package analyzer

import (
	"cmp"
	"context"
	"sync/atomic"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/join"
	"servescope/analyzer/kernel"
	"servescope/analyzer/report"
	"servescope/formats"
)

// Options is what the caller decides. The zero value reads on one goroutine.
type Options struct {
	Workers int       // goroutines that read and fold; 0 means 1
	Memory  int64     // bytes that the session may hold; 0 means DefaultMemory. Request columns are held in any case
	Lists   int64     // bytes of token lists that stay in memory beside that; 0: few, for inputs are read as fast as lists are unpacked
	Scratch string    // directory for temporary files; empty: none may be written
	Now     time.Time // the present, for logs without a year
	Block   int       // bytes read at a time; 0: each format's default

	// Join unites the inputs without a label into one run, and links the rows of
	// each run by the ids of their requests. Align applies the offsets of clocks
	// that follow from linked rows to times between two of them.
	Join, Align bool

	Years map[string]int            // year of the first stamp of logs whose stamps have none, by label of the input; "": of all others
	Zones map[string]*time.Location // zone of stamps that state none, the same way

	// Map says what the columns of tables mean that no format knows; see
	// formats.Options.
	Map []string

	// Progress, if set, is called after every block with the bytes read so far
	// in this pass over the inputs and their total, -1 when it is unknown. Calls
	// come from several goroutines, one at a time.
	Progress func(done, total int64)

	// Yield, if set, is called between batches of rows, read or in memory. A
	// browser's worker has one thread, which must be given up for others to run.
	Yield func()

	// Elsewhere, if set, reads and folds parts of inputs beside the Workers.
	Elsewhere Elsewhere
}

// DefaultMemory is the budget of a session that names none.
const DefaultMemory = 256 << 20

// rangeSize is the length of the ranges in which sources of independent records
// are read: long enough to hide the cost of opening one.
const rangeSize = 16 << 20

// farRange is the same where some are read elsewhere: in a browser each costs a stream,
// whose memory is new to three processes. The last ones are shorter; see step.
const farRange = 32 << 20

// Session holds the inputs of one analysis. Its methods are called by one
// goroutine at a time; it needs no clock, environment or file system of its own.
type Session struct {
	opt    Options
	cut    int64 // length of a range; tests vary it
	size   int   // rows of a resident batch; tests vary it
	inputs *formats.Inputs
	set    *formats.Set
	files  []*file // one per input, in order

	diags  diag.Log // of the inputs and their detection
	slots  slots
	rows   []*resident // request columns in order of (input, offset)
	store  *store      // where they are, and the steps
	stated *store      // what the states of kernels do not hold in memory; nil before there are any
	loaded bool
	lists  bool        // the token lists of rows are resident too
	bases  []int32     // by job: the number of its first row among all
	known  []int64     // by job: its rows, as they were first read
	joins  *join.Links // nil where no rows are linked
	whole  *wholes     // nil where each row is a request
	runs   []*run
	tails  map[string]int      // of the paths of files; see shortName
	steps  []*resident         // rows of the steps table, in the same order
	ends   *kernel.Ends        // of the steps of runs with requests; nil: none
	links  []*resident         // rows of the collectives table, lists included, in the same order; none if they do not fit
	lines  map[linePlace]int64 // line numbers found so far
	audits *audits             // of what producers claim; nil until the first report
	viewed *viewer             // the last one
	clocks map[edgeKey]edge    // of a query about everything; nil before a view asks for them
	tell   PartialFunc         // nil: nobody asks for reports of parts
}

// yield lets others run where one thread has to do for all.
func (s *Session) yield() {
	if s.opt.Yield != nil {
		s.opt.Yield()
	}
}

// file is one input and what reading it brought to light.
type file struct {
	index   int
	source  formats.Source
	label   string          // as the user gave it, or ""
	format  *formats.Format // nil: not recognised
	reason  string
	account formats.Account
	diags   *diag.Log
	metas   map[int64]*meta // by RunMeta.Key
	read    int64           // rows of any table, and figures that the producer computed
	length  atomic.Int64    // bytes read from the start, of a source that does not know its size
}

// reached notes that the bytes up to off have been read.
func (f *file) reached(off int64) {
	for n := f.length.Load(); n < off && !f.length.CompareAndSwap(n, off); n = f.length.Load() {
	}
}

// size is the length of the file in bytes; where the source does not know it,
// that of what has been read.
func (f *file) size() int64 {
	if n := f.source.Size(); n >= 0 {
		return n
	}
	return f.length.Load()
}

// Open detects the format of every input; force names one for all of them, or
// is "". Inputs that no format recognises are diagnosed and left out; if none
// is recognised the error is (or wraps) a *formats.DetectError. Nothing else is
// read before the first Run or Rows. A session closes
// its inputs; where Open fails the caller does.
func Open(ctx context.Context, set *formats.Set, inputs *formats.Inputs, force string, opt Options) (*Session, error) {
	if opt.Workers < 1 {
		opt.Workers = 1
	}
	if opt.Memory <= 0 {
		opt.Memory = DefaultMemory
	}
	s := &Session{opt: opt, cut: rangeSize, size: residentRows, set: set, inputs: inputs}
	if opt.Elsewhere != nil {
		s.cut = farRange
	}
	s.diags.Merge(&inputs.Diags)
	if err := s.detect(ctx, set, force); err != nil {
		return nil, err
	}
	if opt.Join {
		for _, f := range s.files {
			f.label = cmp.Or(f.label, joinedLabel)
		}
	}
	return s, nil
}

// Close closes the inputs and removes their temporary files.
func (s *Session) Close() error { return s.inputs.Close() }

// Diags returns what was skipped, repaired or assumed in the inputs, as far as
// they have been read. A report adds what concerns its query.
func (s *Session) Diags() []diag.Diag {
	log := new(diag.Log)
	log.Merge(&s.diags)
	for _, f := range s.files {
		log.Merge(f.diags)
	}
	return s.located(log)
}

// Formats returns the format of each input, nil where none recognises it.
func (s *Session) Formats() []*formats.Format {
	out := make([]*formats.Format, len(s.files))
	for i, f := range s.files {
		out[i] = f.format
	}
	return out
}

// Inputs returns the inputs with their line accounting, which is empty until
// they have been read.
func (s *Session) Inputs() []report.Input {
	out := make([]report.Input, len(s.files))
	for i, f := range s.files {
		out[i] = report.Input{
			Name: f.source.Name(), Reason: f.reason, Bytes: f.size(),
			Total: f.account.Total, Parsed: f.account.Parsed, Diagnosed: f.account.Diagnosed, Noise: f.account.Noise,
			Kinds: f.account.Kinds,
		}
		if f.format != nil {
			out[i].Format = f.format.Name
		}
		if out[i].Kinds == nil {
			out[i].Kinds = map[string]int64{}
		}
	}
	return out
}
