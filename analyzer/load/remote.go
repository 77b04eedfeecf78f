package load

import (
	"context"

	"servescope/analyzer/query"
	"servescope/formats"
)

// Remote is readers that run the same program and share no memory with the session,
// as the Web Workers of a browser. They read ranges of inputs and fold the requests of
// these. It is safe for concurrent use.
type Remote interface {
	// Readers returns how many jobs are read at a time. A session has a goroutine
	// that waits for each.
	Readers() int
	// Takes reports whether ranges of in, as it was given to Open, can be read.
	Takes(f *formats.Format, in formats.Source) bool
	// Open opens a job, for one of the readers by number. The reader returns the batches
	// of the format itself; its method Folded reports whether a Folder has folded the
	// present batch.
	Open(ctx context.Context, reader int, j *RemoteJob) (formats.Reader, error)
	// States returns what Folders have made of a fold, each as Folder.States appends
	// it, and ends the fold. It is called once, when no job of the fold is open any
	// more. Where ctx has ended the states are only dropped.
	States(ctx context.Context, f *RemoteFold) ([][]byte, error)
}

// RemoteJob is a range of an input that a remote reader reads.
type RemoteJob struct {
	Format  *formats.Format
	Source  formats.Source // as it was given to Open
	Range   formats.Range
	Options formats.Options
	Read    func(n int) error // counts bytes that have been read; its error must end the reader

	Fold  *RemoteFold // what takes the requests; nil: nothing does
	Label string      // of the input, as for Folder.Fold
	Slot  int32       // the same
	Bare  bool        // batches that have been folded need no token lists
}

// RemoteFold is a pass over requests in which Folders take part.
type RemoteFold struct{ Query *query.Query }

// maxReaders returns the largest number of goroutines that read: the workers of the
// session, and the goroutines that wait for remote readers.
func maxReaders(opt *Options) int {
	if opt.Remote == nil {
		return opt.Workers
	}
	return opt.Workers + opt.Remote.Readers()
}

// readersOf returns how many goroutines read jobs.
func readersOf(jobs []job, opt *Options) int {
	for i := range jobs {
		if opt.Remote != nil && opt.Remote.Takes(jobs[i].file.Format, jobs[i].file.Source) {
			return maxReaders(opt)
		}
	}
	return opt.Workers
}
