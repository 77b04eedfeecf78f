package load

import (
	"cmp"
	"context"
	"math"
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
	"slices"
)

// number numbers the resident rows: the rows of a job have consecutive numbers, however
// they are cut into batches. counts holds the number of rows of each job.
func (l *Loader) number(rows [][]*dataset.Batch, counts []int64) {
	l.bases = make([]int32, len(rows))
	next := int64(0)
	for j, list := range rows {
		l.bases[j] = int32(min(next, math.MaxInt32))
		for _, r := range list {
			r.Number = int32(min(next+r.First, math.MaxInt32))
		}
		next += counts[j]
	}
}

// maxLists caps the bytes of resident token lists where the caller sets no limit: lists
// of larger inputs are folded as fast while they are read again, which few queries need.
const maxLists = 32 << 20

// maxTextPerList is the ratio of input size to list size beyond which lists are not
// kept: they would be dropped anyway.
const maxTextPerList = 16

// Loader reads the inputs of one analysis into a Set, and reads them again. One
// goroutine at a time calls its methods.
type Loader struct {
	Options Options
	inputs  *source.Inputs
	formats *formats.Set
	Set     *dataset.Set
	loaded  bool

	RangeSize int64   // length of a range; tests vary it
	BatchRows int     // rows of a resident batch; tests vary it
	bases     []int32 // by job: the number of its first row among all
	known     []int64 // by job: its rows, as they were first read
}

// Open detects the format of every input; force names one for all of them, or
// is "". Inputs that no format recognises are diagnosed and left out; if none
// is recognised the error is (or wraps) a *formats.DetectError.
func Open(ctx context.Context, set *formats.Set, inputs *source.Inputs, force string, opt Options) (*Loader, error) {
	opt.Workers = max(opt.Workers, 1)
	if opt.Memory <= 0 {
		opt.Memory = DefaultMemory
	}
	l := &Loader{Options: opt, inputs: inputs, formats: set, RangeSize: RangeSize, BatchRows: ResidentRows}
	l.Set = &dataset.Set{Joined: opt.Join, Aligned: opt.Align, Pause: opt.Yield}
	if opt.Remote != nil {
		l.RangeSize = remoteRangeSize
	}
	l.Set.Diags.Merge(&inputs.Diags)
	if err := detect(ctx, l.Set, inputs, set, force, &l.Options); err != nil {
		return nil, err
	}
	if opt.Join {
		for _, f := range l.Set.Inputs {
			f.Label = cmp.Or(f.Label, dataset.JoinedLabel)
		}
	}
	return l, nil
}

// Close closes the inputs and removes their temporary files.
func (l *Loader) Close() error { return l.inputs.Close() }

// Loaded reports whether the inputs have been read.
func (l *Loader) Loaded() bool { return l.loaded }

// ArchiveFaults returns what was skipped in archives, as far as they have been read.
func (l *Loader) ArchiveFaults() *diag.Log { return l.inputs.ArchiveFaults() }

// Sink takes the requests while they are read for the first time.
type Sink interface {
	// Fold returns what remote readers fold for, nil where they only read.
	Fold() *RemoteFold
	// Take takes a batch, valid during the call, of the goroutine worker. An error ends
	// the reading.
	Take(worker int, r *Reading) error
	// Idle is called by each goroutine that reads no more. It may go on working.
	Idle(worker int)
	// Done says that all has been taken: Idle has returned on every goroutine.
	Done(ctx context.Context)
}

// Reading is a batch of requests that has just been read.
type Reading struct {
	dataset.Origin
	Rows   *trace.Batch // as the reader made it
	Seen   *trace.Batch // the same as kernels see it; nil where Folded
	Number int32        // of the first row among all; while they are first read, unknown: 0
	Folded bool         // a remote reader has folded it
}

// Load reads every input once: request columns and steps become resident, and
// the token lists too if they are wanted and fit their share of the memory. sink
// takes every request, lists included, on the way; it may be nil.
func (l *Loader) Load(ctx context.Context, lists bool, sink Sink) error {
	jobs := l.jobs()
	rows, steps := make([][]*dataset.Batch, len(jobs)), make([][]*dataset.Batch, len(jobs))
	seen := make([]map[int64]*trace.RunMeta, len(jobs)) // runs with rows, by key
	for j := range seen {
		seen[j] = make(map[int64]*trace.RunMeta)
	}
	first, ids := make([]int64, len(jobs)), make([][]uint64, len(jobs))
	set, keep := l.Set, l.newKeeper(lists)
	l.resetStore()
	in := &reading{set: l.Set, opt: &l.Options, again: l.loaded, lists: lists, keeper: keep, readers: readersOf(jobs, &l.Options), order: inOrder(jobs)}
	if sink != nil {
		in.fold, in.idle = sink.Fold(), sink.Idle
	}
	collectors := slices.Repeat([]collector{{table: trace.Requests, keeper: keep, store: set.Store, size: l.BatchRows}}, in.readers)
	stepCollectors := slices.Repeat([]collector{{table: trace.Steps, store: set.Store, size: l.BatchRows}}, in.readers)
	kernels := &collectives{budget: l.Options.Memory / 4, byJob: make([][]*dataset.Batch, len(jobs))}

	// read the jobs: each batch goes to the collectors of its table, and requests to sink
	results, err := in.read(ctx, jobs, func(worker, j int, b *trace.Batch, folded bool) error {
		f := jobs[j].file
		switch b.Table {
		case trace.Requests:
		case trace.Steps:
			stepCollectors[worker].add(b, dataset.Origin{File: f, Slot: set.Slots.Of(f, b.Run)}, &steps[j])
			return nil
		case trace.Collectives:
			kernels.add(j, b, dataset.Origin{File: f, Slot: set.Slots.Of(f, b.Run)})
			return nil
		default:
			return nil // no request and no step is in it
		}
		seen[j][b.Run.Key] = b.Run
		at := dataset.Origin{File: f, Slot: set.Slots.Of(f, b.Run), First: first[j]}
		first[j] += int64(b.Rows)
		ids[j] = dataset.IDHashes(ids[j], at.Slot, b)
		collectors[worker].add(b, at, &rows[j])
		if sink == nil {
			return set.Store.Failed()
		}
		r := &Reading{Origin: at, Rows: b, Folded: folded}
		if !folded {
			r.Seen = f.SeenBatch(b, f.SeenRun(b.Run))
		}
		return cmp.Or(sink.Take(worker, r), set.Store.Failed())
	})
	for w := range collectors {
		collectors[w].seal()
		stepCollectors[w].seal()
	}
	if err = cmp.Or(err, set.Store.Failed()); err != nil {
		return err
	}
	if sink != nil {
		sink.Done(ctx)
	}

	// make the set of what was read
	l.loaded, set.Lists = true, keep.wants()
	account(set, l.formats, jobs, results, seen)
	set.Requests, set.Steps, set.Collectives = slices.Concat(rows...), slices.Concat(steps...), slices.Concat(kernels.byJob...)
	l.known = first
	l.number(rows, first)
	dataset.Arrange(set, kernels.over, ids)
	return nil
}

// newKeeper returns the keeper of the token lists, if they are wanted.
func (l *Loader) newKeeper(wanted bool) *keeper {
	most := cmp.Or(l.Options.Lists, min(l.Options.Memory/8, maxLists))
	return &keeper{budget: most, over: !wanted || bytesOf(l.Set.Inputs) > maxTextPerList*most}
}

// jobs cuts the inputs into jobs, in order of input and offset.
func (l *Loader) jobs() []job {
	return (&cutter{l.Set.Inputs, &l.Options, l.RangeSize}).jobs()
}

// Readers returns how many goroutines will read the inputs.
func (l *Loader) Readers() int { return readersOf(l.jobs(), &l.Options) }

// RemoteReaders reports whether some of these wait for remote readers.
func (l *Loader) RemoteReaders() bool { return l.Readers() > l.Options.Workers }

// Empty returns an *EmptyError where nothing at all could be read of the
// inputs, and nil where something was or where they have not been read yet.
func (l *Loader) Empty() error {
	if !l.loaded {
		return nil
	}
	return emptyError(l.Set.Inputs)
}

// NewStore returns an empty store, in a temporary file where one may be written.
func (l *Loader) NewStore(plain int64) *dataset.Store {
	if f := l.inputs.TempFile(); f != nil {
		return dataset.NewStore(plain, f)
	}
	return dataset.NewStore(plain, nil)
}

// resetStore empties the store of columns, which a failed reading may have filled.
func (l *Loader) resetStore() {
	if l.Set.Store == nil {
		l.Set.Store = l.NewStore(min(l.Options.Memory/8, dataset.MaxPlain))
	}
	l.Set.Store.Empty()
}

// Rereading says how the inputs are read again.
type Rereading struct {
	Table   *trace.Table     // the table whose batches are wanted
	Ordered bool             // one goroutine reads, in the order of inputs and offsets
	Idle    func(worker int) // called by each goroutine that reads no more; may be nil

	// Wants, if set, reports whether any of the rows [from, to) is wanted, by number;
	// to is -1 for the last. Rows that are not wanted need not be read.
	Wants func(from, to int32) bool
}

// Reread reads the inputs again, with token lists, and calls f with every batch of a
// table; it is valid during the call. worker is the goroutine that calls. An error of
// f ends the reading and is returned. It is an error where an input has changed.
func (l *Loader) Reread(ctx context.Context, how Rereading, f func(worker int, r *Reading) error) error {
	jobs := l.jobs()
	in := &reading{set: l.Set, opt: &l.Options, again: l.loaded, lists: true, readers: readersOf(jobs, &l.Options), idle: how.Idle}
	if how.Ordered {
		in.readers = 1
		for j := range jobs {
			jobs[j].workers, in.order = l.Options.Workers, append(in.order, j)
		}
	} else {
		in.order = inOrder(jobs)
	}
	wanted := func(j int, from int32) bool {
		to := int32(-1)
		if j+1 < len(jobs) {
			to = l.bases[j+1]
		}
		return how.Wants == nil || how.Wants(from, to)
	}
	if how.Wants != nil {
		in.order = slices.DeleteFunc(in.order, func(j int) bool { return !wanted(j, l.bases[j]) })
	}

	first, enough := make([]int64, len(jobs)), make([]bool, len(jobs))
	_, err := in.read(ctx, jobs, func(worker, j int, b *trace.Batch, _ bool) error {
		if b.Table != how.Table {
			return nil
		}
		file := jobs[j].file
		m := file.Records[b.Run.Key]
		if m == nil {
			return dataset.Changed(file)
		}
		r := &Reading{Origin: dataset.Origin{File: file, Slot: l.Set.Slots.Of(file, b.Run), First: first[j]}, Rows: b, Seen: file.SeenBatch(b, m.Seen)}
		if how.Table != trace.Requests {
			return f(worker, r)
		}
		r.Number = l.bases[j] + int32(r.First)
		if first[j] += int64(b.Rows); first[j] > l.known[j] {
			return dataset.Changed(file)
		}
		if err := f(worker, r); err != nil {
			return err
		}
		if !wanted(j, r.Number+int32(b.Rows)) {
			enough[j] = true
			return errEnough
		}
		return nil
	})
	if err != nil || how.Table != trace.Requests {
		return err
	}
	for _, j := range in.order {
		if first[j] != l.known[j] && !enough[j] {
			return dataset.Changed(jobs[j].file)
		}
	}
	return nil
}
