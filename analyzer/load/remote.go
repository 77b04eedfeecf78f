package load

import (
	"context"

	"servescope/analyzer/query"
	"servescope/analyzer/trace"
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
	// Open opens a job, for one of the readers by number. The reader's batches are
	// those of the format itself; Folded, a method without arguments, says of the
	// present one whether a Folder has folded it.
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

// maxReaders returns how many goroutines read at most: those of the session, and those
// that wait for remote readers.
func (l *Loader) maxReaders() int {
	if l.Opt.Remote == nil {
		return l.Opt.Workers
	}
	return l.Opt.Workers + l.Opt.Remote.Readers()
}

// Readers returns how many goroutines will read the inputs.
func (l *Loader) Readers() int { return l.readers(l.Jobs()) }

// RemoteReaders reports whether some of these wait for remote readers.
func (l *Loader) RemoteReaders() bool { return l.Readers() > l.Opt.Workers }

func (l *Loader) readers(jobs []job) int {
	for i := range jobs {
		if l.Opt.Remote != nil && l.Opt.Remote.Takes(jobs[i].file.Format, jobs[i].file.Source) {
			return l.maxReaders()
		}
	}
	return l.Opt.Workers
}

// openRemote opens a job for a goroutine beyond those of the session. It returns nil
// where the job is to be read here.
func (l *Loader) openRemote(ctx context.Context, worker int, j *job, r *reading, opt formats.Options) (formats.Reader, error) {
	f := j.file
	if worker < l.Opt.Workers || opt.TZ != nil || opt.Year != 0 || opt.After != nil || !l.Opt.Remote.Takes(f.Format, f.Source) {
		return nil, nil
	}
	p := &RemoteJob{Format: f.Format, Source: f.Source, Range: j.Rng, Options: opt, Read: r.meter.add, Fold: r.fold, Label: f.Label}
	if r.fold != nil {
		p.Slot, p.Bare = l.Set.Slots.Of(f, new(trace.RunMeta)), !r.keeper.wants()
	}
	return l.Opt.Remote.Open(ctx, worker-l.Opt.Workers, p)
}
