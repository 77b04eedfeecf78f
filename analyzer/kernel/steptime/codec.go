package steptime

import (
	"cmp"
	"maps"
	"slices"

	"servescope/analyzer/collective"
	"servescope/analyzer/decompose"
	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/trace"
)

// AppendState implements State. The steps of a rank are in order of their ends,
// so that the order of updates does not show.
func (s *state) AppendState(dst []byte) []byte {
	dst = cell.AppendInts(dst, int64(len(s.ranks)))
	for _, key := range s.keys() {
		t := s.ranks[key]
		t.Sort()
		dst = cell.AppendInts(dst, int64(key.run), int64(key.quantity), t.Resolution, t.World)
		dst = cell.AppendInts(appendPlace(dst, t.Place), int64(len(t.Steps)))
		for _, text := range []string{key.replica, key.rank, t.Refused, t.Clock} {
			dst = cell.AppendText(dst, text)
		}
		for i := range t.Steps {
			dst = appendStep(dst, &t.Steps[i])
		}
	}
	dst = cell.AppendInts(dst, int64(len(s.links)))
	for _, key := range s.linked() {
		dst = appendPlace(cell.AppendInts(dst, int64(key.run)), key.place)
		dst = appendKernels(dst, s.links[key])
	}
	return dst
}

// LoadState implements State.
func (s *state) LoadState(src []byte) error {
	r := &cell.Reader{Src: src}
	s.ranks = make(map[rankKey]*decompose.Timeline)
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		var run, quantity, resolution, world int64
		r.Ints(&run, &quantity, &resolution, &world)
		place := loadPlace(r)
		steps := make([]decompose.Step, r.Count())
		t := s.at(rankKey{int32(run), trace.Quantity(quantity), r.Text(), r.Text()}, place)
		t.Refused, t.Clock = r.Text(), r.Text()
		t.Resolution, t.World, t.Steps = resolution, world, steps
		for i := range steps {
			loadStep(r, &steps[i], trace.Quantity(quantity))
		}
	}
	s.links = make(map[linkKey][]collective.Kernel)
	for n := r.Count(); n > 0 && r.Err == nil; n-- {
		key := linkKey{int32(r.Int()), loadPlace(r)}
		s.links[key] = loadKernels(r)
	}
	return r.Done()
}

func appendPlace(dst []byte, p collective.Place) []byte {
	return cell.AppendInts(dst, p.DP, p.TP, p.PP, p.EP, p.Rank)
}

func loadPlace(r *cell.Reader) (p collective.Place) {
	r.Ints(&p.DP, &p.TP, &p.PP, &p.EP, &p.Rank)
	return p
}

// appendKernels appends kernels in order. Their names, of which there are few, are
// a list before them.
func appendKernels(dst []byte, list []collective.Kernel) []byte {
	slices.SortStableFunc(list, func(a, b collective.Kernel) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Start, b.Start))
	})
	codes := make(map[string]int64)
	for i := range list {
		codes[list[i].Name] = 0
	}
	dst = cell.AppendInts(dst, int64(len(codes)))
	for i, name := range slices.Sorted(maps.Keys(codes)) {
		codes[name] = int64(i)
		dst = cell.AppendText(dst, name)
	}
	dst = cell.AppendInts(dst, int64(len(list)))
	for i := range list {
		k := &list[i]
		dst = cell.AppendInts(dst, k.Index, k.Step, codes[k.Name], cell.Flag(k.Paired), k.Start, k.Duration, int64(len(k.Exposed)))
		dst = cell.AppendInts(dst, k.Exposed...)
	}
	return dst
}

func loadKernels(r *cell.Reader) []collective.Kernel {
	names := make([]string, r.Count())
	for i := range names {
		names[i] = r.Text()
	}
	list := make([]collective.Kernel, r.Count())
	for i := range list {
		k := &list[i]
		var name, paired int64
		r.Ints(&k.Index, &k.Step, &name, &paired, &k.Start, &k.Duration)
		if name < 0 || name >= int64(len(names)) {
			r.Fail()
			return nil
		}
		k.Name, k.Paired = names[name], paired != 0
		if n := r.Count(); n > 0 {
			k.Exposed = make([]int64, n)
		}
		for j := range k.Exposed {
			k.Exposed[j] = r.Int()
		}
	}
	return list
}

func appendStep(dst []byte, k *decompose.Step) []byte {
	dst = cell.AppendInts(dst, k.End, k.Index, k.Duration, int64(k.Kind), k.Decoding, k.Context, k.Emitted, int64(k.Group), k.Window)
	if k.Parts == nil {
		return cell.AppendInts(dst, 0)
	}
	dst = cell.AppendInts(dst, int64(k.Parts.KnownClass), int64(k.Parts.KnownMemo))
	dst = cell.AppendInts(dst, k.Parts.Class[:]...)
	return cell.AppendInts(dst, k.Parts.Memo[:]...)
}

func loadStep(r *cell.Reader, k *decompose.Step, q trace.Quantity) {
	var kind, group, classes, memos int64
	r.Ints(&k.End, &k.Index, &k.Duration, &kind, &k.Decoding, &k.Context, &k.Emitted, &group, &k.Window, &classes)
	k.Quantity, k.Kind, k.Group = q, trace.StepKind(kind), int32(group)
	if kind < int64(decompose.NoKind) || kind > int64(trace.StepDummy) {
		r.Fail()
	}
	if classes == 0 {
		return
	}
	memos = r.Int()
	k.Parts = &decompose.StepParts{KnownClass: uint16(classes), KnownMemo: uint16(memos)}
	for i := range k.Parts.Class {
		k.Parts.Class[i] = r.Int()
	}
	for i := range k.Parts.Memo {
		k.Parts.Memo[i] = r.Int()
	}
}
