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

// number numbers the resident rows: those of a job have consecutive numbers,
// whatever batches they are cut into. counts holds the rows of each job.
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

// maxLists is how many bytes of token lists stay resident at most where the caller
// does not say: those of larger inputs are folded as fast while they are read again,
// which few questions need.
const maxLists = 32 << 20

// maxTextPerList is the ratio of input size to list size beyond which lists are not
// kept: they would be dropped anyway.
const maxTextPerList = 16

// Loader reads the inputs of one analysis into a Set, and reads them again. One
// goroutine at a time calls its methods.
type Loader struct {
	Opt     Options
	inputs  *source.Inputs
	formats *formats.Set
	Set     *dataset.Set
	loaded  bool

	Cut   int64   // length of a range; tests vary it
	Size  int     // rows of a resident batch; tests vary it
	bases []int32 // by job: the number of its first row among all
	known []int64 // by job: its rows, as they were first read
}

// Open detects the format of every input; force names one for all of them, or
// is "". Inputs that no format recognises are diagnosed and left out; if none
// is recognised the error is (or wraps) a *formats.DetectError.
func Open(ctx context.Context, set *formats.Set, inputs *source.Inputs, force string, opt Options) (*Loader, error) {
	opt.Workers = max(opt.Workers, 1)
	if opt.Memory <= 0 {
		opt.Memory = DefaultMemory
	}
	l := &Loader{Opt: opt, inputs: inputs, formats: set, Cut: RangeSize, Size: ResidentRows}
	l.Set = &dataset.Set{Joined: opt.Join, Aligned: opt.Align, Pause: opt.Yield}
	if opt.Remote != nil {
		l.Cut = remoteRangeSize
	}
	l.Set.Diags.Merge(&inputs.Diags)
	if err := l.detect(ctx, set, force); err != nil {
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
	jobs := l.Jobs()
	rows, steps := make([][]*dataset.Batch, len(jobs)), make([][]*dataset.Batch, len(jobs))
	seen := make([]map[int64]*trace.RunMeta, len(jobs)) // runs with rows, by key
	for j := range seen {
		seen[j] = make(map[int64]*trace.RunMeta)
	}
	first, ids := make([]int64, len(jobs)), make([][]uint64, len(jobs))
	set, keep := l.Set, l.newKeeper(lists)
	l.resetStore()
	in := &reading{lists: lists, keeper: keep, readers: l.readers(jobs), order: l.order(jobs)}
	if sink != nil {
		in.fold, in.idle = sink.Fold(), sink.Idle
	}
	collectors := slices.Repeat([]collector{{table: trace.Requests, keeper: keep, store: set.Store, size: l.Size}}, in.readers)
	stepCollectors := slices.Repeat([]collector{{table: trace.Steps, store: set.Store, size: l.Size}}, in.readers)
	kernels := &collectives{budget: l.Opt.Memory / 4, byJob: make([][]*dataset.Batch, len(jobs))}

	// read the jobs: each batch goes to the collectors of its table, and requests to sink
	results, err := l.read(ctx, jobs, in, func(worker, j int, b *trace.Batch, folded bool) error {
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
			r.Seen = f.Seen(b, f.View(b.Run))
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
	l.account(jobs, results, seen)
	set.CheckOverlap()
	set.Requests, set.Steps, set.Collectives = slices.Concat(rows...), slices.Concat(steps...), slices.Concat(kernels.byJob...)
	l.known = first
	l.number(rows, first)
	set.Arrange(kernels.over, ids)
	return nil
}

// newKeeper returns the keeper of the token lists, if they are wanted.
func (l *Loader) newKeeper(wanted bool) *keeper {
	most := cmp.Or(l.Opt.Lists, min(l.Opt.Memory/8, maxLists))
	return &keeper{budget: most, over: !wanted || l.bytes() > maxTextPerList*most}
}

// bytes returns the length of all inputs that know it.
func (l *Loader) bytes() int64 {
	sum := int64(0)
	for _, f := range l.Set.Inputs {
		sum += max(f.Source.Size(), 0)
	}
	return sum
}

// account files the accounts, diagnostics and runs of each input.
func (l *Loader) account(jobs []job, results []jobResult, seen []map[int64]*trace.RunMeta) {
	for _, f := range l.Set.Inputs {
		if f.Format == nil {
			continue
		}
		var mine []jobResult
		var runs [][]*trace.RunMeta
		var rows []map[int64]*trace.RunMeta
		for j := range jobs {
			if jobs[j].file == f {
				mine, runs, rows = append(mine, results[j]), append(runs, results[j].runs), append(rows, seen[j])
			}
		}
		f.Diags = new(diag.Log)
		f.Diags.Merge(formats.FaultsOf(f.Source))
		noteRewritten(f)
		f.Account = formats.Account{Kinds: make(map[string]int64)}
		for _, p := range mine {
			f.Diags.Merge(p.diags)
			f.Read += p.read
			f.Account.Total += p.account.Total
			f.Account.Parsed += p.account.Parsed
			f.Account.Diagnosed += p.account.Diagnosed
			f.Account.Noise += p.account.Noise
			for kind, n := range p.account.Kinds {
				f.Account.Kinds[kind] += n
			}
			f.Account.Prints = p.account.Prints // of text logs, which one reader reads whole
		}
		f.AddMetas(runs, rows)
		if f.Read == 0 {
			f.Diags.Add(nothingRead(f))
		}
		l.noteOthers(f)
	}
}
