package analyzer

import (
	"cmp"
	"context"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// mostLists is how many bytes of token lists stay resident at most where the caller
// does not say: those of larger inputs are folded as fast while they are read again,
// which few questions need.
const mostLists = 32 << 20

// wordy is how much longer than their lists inputs are, at most, as a rule: those
// of longer ones are not kept for a while in vain.
const wordy = 16

// load reads every input once: request columns and steps become resident, and
// the token lists too if they are wanted and fit their share of the memory. If p is
// not nil its kernels fold every request, lists included, on the way, and load
// returns their states.
func (s *Session) load(ctx context.Context, lists bool, p *pass) ([]kernel.State, error) {
	jobs := s.jobs()
	rows, steps := make([][]*resident, len(jobs)), make([][]*resident, len(jobs))
	seen := make([]map[int64]*trace.RunMeta, len(jobs)) // runs with rows, by key
	for j := range seen {
		seen[j] = make(map[int64]*trace.RunMeta)
	}
	first, ids := make([]int64, len(jobs)), make([][]uint64, len(jobs))
	keep := s.newKeeper(lists)
	s.shelve()
	readers := s.readers(jobs)
	collectors := slices.Repeat([]collector{{table: trace.Requests, keeper: keep, store: s.store, size: s.size}}, readers)
	stepCollectors := slices.Repeat([]collector{{table: trace.Steps, store: s.store, size: s.size}}, readers)
	kernels := &links{budget: s.opt.Memory / 4, rows: make([][]*resident, len(jobs))}
	met := newSightings(s, p)
	c := newCrew(p, readers)
	in := &reading{lists: lists, fold: s.foldElsewhere(p, readers), keeper: keep}
	parts, err := s.read(ctx, jobs, in, c, func(worker, j int, b *trace.Batch, folded bool) error {
		f := jobs[j].file
		switch b.Table {
		case trace.Requests:
		case trace.Steps:
			stepCollectors[worker].add(b, place{file: f, slot: s.slots.of(f, b.Run)}, &steps[j])
			return nil
		case trace.Collectives:
			kernels.add(j, b, place{file: f, slot: s.slots.of(f, b.Run)})
			return nil
		default:
			return nil // no request and no step is in it
		}
		seen[j][b.Run.Key] = b.Run
		at := place{f, s.slots.of(f, b.Run), first[j]}
		first[j] += int64(b.Rows)
		ids[j] = idHashes(ids[j], at.slot, b)
		collectors[worker].add(b, at, &rows[j])
		met.add(f, b.Run)
		if p != nil && !folded {
			c.fold(worker, b, &kernel.View{Batch: f.seen(b, f.view(b.Run)), RunIndex: at.slot})
		}
		return cmp.Or(s.store.failed(), s.stated.failed())
	})
	for w := range collectors {
		collectors[w].seal()
		stepCollectors[w].seal()
	}
	if err = cmp.Or(err, s.store.failed()); err != nil {
		s.drop(in.fold)
		return nil, err
	}
	merged := p.merging(func() error { return s.gather(ctx, in.fold, p) })
	s.loaded, s.lists = true, keep.wants()
	s.account(jobs, parts, seen)
	s.checkOverlap()
	s.rows, s.steps, s.links = slices.Concat(rows...), slices.Concat(steps...), slices.Concat(kernels.rows...)
	s.known = first
	s.number(rows, first)
	s.arrange(kernels.over, ids)
	return merged()
}

// newKeeper returns the keeper of the token lists, if they are wanted.
func (s *Session) newKeeper(wanted bool) *keeper {
	most := cmp.Or(s.opt.Lists, min(s.opt.Memory/8, mostLists))
	return &keeper{budget: most, over: !wanted || s.bytes() > wordy*most}
}

// bytes returns the length of all inputs that know it.
func (s *Session) bytes() int64 {
	sum := int64(0)
	for _, f := range s.files {
		sum += max(f.source.Size(), 0)
	}
	return sum
}

// arrange makes runs of what was read. over says that communication kernels are
// not kept, for want of memory; ids are the idHashes of the rows.
func (s *Session) arrange(over bool, ids [][]uint64) {
	for _, r := range s.steps {
		if r.file.metas[r.run().Key] == nil { // in case the reader forgot to list it
			r.file.addMeta(r.run())
		}
	}
	s.makeRuns()
	s.uniteRanks()
	if over && len(s.severalRanks()) > 0 {
		s.diags.Add(linksDropped)
	}
	for _, r := range slices.Concat(s.rows, s.steps, s.links) {
		r.see(r.file.metas[r.run().Key].view)
	}
	s.ends = s.stepEnds()
	s.nameRuns()
	s.checkClocks()
	if repeated(ids) {
		s.checkDuplicates()
	}
	s.link()
	s.findWholes()
	s.checkSources()
}

// account files the accounts, diagnostics and runs of each input.
func (s *Session) account(jobs []job, parts []part, seen []map[int64]*trace.RunMeta) {
	for _, f := range s.files {
		if f.format == nil {
			continue
		}
		var mine []part
		var rows []map[int64]*trace.RunMeta
		for j := range jobs {
			if jobs[j].file == f {
				mine, rows = append(mine, parts[j]), append(rows, seen[j])
			}
		}
		f.diags = new(diag.Log)
		f.diags.Merge(formats.FaultsOf(f.source))
		f.noteRewritten()
		f.account = formats.Account{Kinds: make(map[string]int64)}
		for _, p := range mine {
			f.diags.Merge(p.diags)
			f.read += p.read
			f.account.Total += p.account.Total
			f.account.Parsed += p.account.Parsed
			f.account.Diagnosed += p.account.Diagnosed
			f.account.Noise += p.account.Noise
			for kind, n := range p.account.Kinds {
				f.account.Kinds[kind] += n
			}
			f.account.Prints = p.account.Prints // of text logs, which one reader reads whole
		}
		f.addMetas(mine, rows)
		if f.read == 0 {
			f.diags.Add(f.nothingRead())
		}
		s.noteOthers(f)
	}
}

// reread reads every input again, with token lists, and folds the rows that sel
// selects into p.
func (s *Session) reread(ctx context.Context, sel *selection, p *pass) error {
	jobs := s.jobs()
	first := make([]int64, len(jobs))
	c := newCrew(p, s.readers(jobs))
	choosers := make([]chooser, c.size)
	_, err := s.read(ctx, jobs, &reading{lists: true}, c, func(worker, j int, b *trace.Batch, _ bool) error {
		if b.Table != trace.Requests {
			return nil
		}
		f := jobs[j].file
		m := f.metas[b.Run.Key]
		if m == nil {
			return changed(f)
		}
		own := f.seen(b, m.view)
		at := place{f, s.slots.of(f, b.Run), first[j]}
		if first[j] += int64(b.Rows); first[j] > s.known[j] {
			return changed(f)
		}
		var group []int32
		base := s.bases[j] + int32(at.first)
		switch {
		case sel.rows == nil:
		case s.together():
			group = s.groupsOf(sel, base, b.Rows)
		default:
			group = choosers[worker].again(sel, own, at)
		}
		c.fold(worker, b, &kernel.View{Batch: own, RunIndex: at.slot, Group: group, Links: s.joins, Base: base})
		return nil
	})
	for j := range jobs {
		if err == nil && first[j] != s.known[j] {
			err = changed(jobs[j].file)
		}
	}
	return err
}
