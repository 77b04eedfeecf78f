// Package formats is the contract between the formats and everything that reads
// them: what a source of bytes is, how its format is detected by content, and how
// a format turns it into batches.
//
//	argument → source.Inputs (files, globs, directories, stdin, members of archives)
//	         → Source (decompressed, re-openable bytes)
//	         → Head → Set.Detect → Format.Open → Reader → trace.Batch
//
// A format lives in its own folder below this one and is listed in formats/all; no
// other package knows it.
package formats

import (
	"context"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// Shape says how a format may be read in parallel.
type Shape uint8

// The shapes.
const (
	// Records: one record per line, one or more rows each. The caller may cut
	// the source at any byte and read the Ranges at the same time.
	Records Shape = iota
	// Ordered: lines whose meaning depends on earlier ones (events, text logs).
	// The caller reads the whole source with one Reader, which scans blocks on
	// Options.Workers goroutines and folds them in file order.
	Ordered
	// Blocks: as Records, but what a range owns are blocks of rows that begin in it,
	// of a file with a table of contents: it is not text, and any part of it may be
	// needed to read any other.
	Blocks
	// Document: one or a few large JSON documents. As Ordered: the Reader
	// itself cuts what can be cut.
	Document
)

// Score is a format's confidence that a head is its own.
type Score uint8

// The scores. Of several formats the highest score wins, then the lowest Priority.
const (
	No Score = iota
	Maybe
	Likely
	Sure
)

// Format describes one format. It is a value: all of its functions are safe
// for concurrent use.
type Format struct {
	Name     string // as in --input-format and testdata/formats/NAME
	Title    string // one line for people: what writes it
	Priority int    // unique; breaks ties of the score, the lower wins
	Shape    Shape

	// Loose says that the lines may be of any program, and are known by the names of
	// values alone: they are not looked for among the text of another format.
	Loose bool

	// Sniff tells whether head is of this format, and why or why not. It is
	// pure, bounded by the head, and never panics.
	Sniff func(head *Head) (Score, string)

	// Open begins reading the records that start in rng. A source that is not
	// of this format although it was forced gives a Reader whose diags say so,
	// or an error.
	Open func(ctx context.Context, src Source, rng Range, opt Options) (Reader, error)

	// Begins, if set, says when a source begins, in ns since the epoch: sources of
	// one run are read in that order, each knowing the one before (Options.After),
	// because what a later one counts goes on from what an earlier one does.
	Begins func(src Source) (t int64, ok bool)

	// Learn, if set, tells what the columns of a source mean, as Options.Map says
	// it, given a part of that; unknown is what cannot be told, or "". A nil source
	// has the given part checked and no more.
	Learn func(src Source, given []string) (list []string, unknown string, err error)
}

// Range is the part of a source whose records a Reader owns: those that start
// at an offset in [From, To). To < 0 means the end of the source.
type Range struct{ From, To int64 }

// Whole is the range of a whole source.
var Whole = Range{0, -1}

// Options is what the caller decides for all formats.
type Options struct {
	Workers int       // goroutines a Reader may use, at least 1
	Block   int       // bytes read at a time; 0: the format's default. Tests set it to cut anywhere
	Memory  int64     // budget in bytes for what a Reader must hold
	Scratch string    // directory for temporary files; empty: none may be written
	Now     time.Time // the present, for logs without a year
	Lists   bool      // whether chunk_gaps and chunk_tokens are wanted

	Year int            // year of the first stamp of a log whose stamps have none; 0: not given
	TZ   *time.Location // zone of stamps that state none; nil: not given

	Map []string // what columns of a table mean that no format knows: ROLE=COLUMN or ROLE=COLUMN:UNIT; see formats/internal/mapping

	Context context.Context // ends the wait for what can be read only once, and the unpacking of archives; nil: nothing does

	After Reader // of the source before this one in the same run, read to its end; nil: none. See Format.Begins
	More  bool   // whether a source of the same run follows
}

// Account is the line accounting of a Reader: every line (or record, where a
// format has no lines) is in exactly one of the three parts, which add up to
// Total.
type Account struct {
	Total     int64 // lines or records seen
	Parsed    int64 // became rows, events, steps or run facts
	Diagnosed int64 // skipped, with a diag
	Noise     int64 // known to carry nothing: blank lines, banners
	Kinds     map[string]int64
	Prints    Prints
}

// Prints are hashes of the lines of a text log that are of their time, by which
// two copies of a log are told: rotated files, or a file and its archive. Zero
// where a format keeps none.
type Prints struct {
	Lines  int64    // that there are
	Hashes []uint64 // of these, sorted: all, or those below Below
	Below  uint64   // 0: all are kept
}

// Reader is a stream of batches of one source. It is used by one goroutine.
//
//	for r.Next() { use(r.Batch()) }
//	err := r.Err()
//
// I/O errors end the stream and stand in Err; content errors are diags and do
// not. Diags, Runs and Account are complete once Next has returned false. A reader
// embeds Base, which has all methods but Next.
type Reader interface {
	// Next reads the next batch. It returns false at the end, or at an error.
	Next() bool
	// Batch returns the current batch, valid until the next call of Next.
	Batch() *trace.Batch
	Err() error
	Diags() *diag.Log
	// Runs lists every run seen, those without rows included, by Key.
	Runs() []*trace.RunMeta
	Account() Account
	// Folded reports whether somebody else has folded the current batch already: a
	// Web Worker, which sends the rows that the caller keeps.
	Folded() bool
	Close() error
}

// Base is what a Reader answers with by default: Next fills in the fields.
type Base struct {
	Current *trace.Batch
	Fail    error
	Log     diag.Log
	List    []*trace.RunMeta
	Counts  Account
}

// Batch implements Reader.
func (b *Base) Batch() *trace.Batch { return b.Current }

// Err implements Reader.
func (b *Base) Err() error { return b.Fail }

// Diags implements Reader.
func (b *Base) Diags() *diag.Log { return &b.Log }

// Runs implements Reader.
func (b *Base) Runs() []*trace.RunMeta { return b.List }

// Account implements Reader.
func (b *Base) Account() Account { return b.Counts }

// Folded implements Reader: no batch is folded before it is handed out.
func (b *Base) Folded() bool { return false }

// Close implements Reader: nothing is held open.
func (b *Base) Close() error { return nil }
