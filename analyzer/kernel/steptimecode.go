package kernel

import (
	"cmp"

	"servescope/analyzer/collective"
	"servescope/analyzer/decompose"
	"servescope/analyzer/sorting"
	"servescope/analyzer/trace"
)

// AppendState implements State. The steps of a rank are in order of their ends,
// so that the order of updates does not show.
func (s *stepTimeState) AppendState(dst []byte) []byte {
	dst = appendInts(dst, int64(len(s.ranks)))
	for _, key := range s.keys() {
		t := s.ranks[key]
		t.Sort()
		dst = appendInts(dst, int64(key.run), int64(key.quantity), t.Resolution, t.World)
		dst = appendInts(appendPlace(dst, t.Place), int64(len(t.Steps)))
		for _, text := range []string{key.replica, key.rank, t.Refused, t.Clock} {
			dst = appendText(dst, text)
		}
		for i := range t.Steps {
			dst = appendStep(dst, &t.Steps[i])
		}
	}
	dst = appendInts(dst, int64(len(s.links)))
	for _, key := range s.linked() {
		dst = appendPlace(appendInts(dst, int64(key.run)), key.place)
		dst = appendKernels(dst, s.links[key])
	}
	return dst
}

// linked returns the keys of links in order.
func (s *stepTimeState) linked() []linkKey {
	keys := make([]linkKey, 0, len(s.links))
	for key := range s.links {
		keys = append(keys, key)
	}
	sorting.By(keys, func(a, b linkKey) int {
		p, q := &a.place, &b.place
		return cmp.Or(cmp.Compare(a.run, b.run), cmp.Compare(p.DP, q.DP), cmp.Compare(p.TP, q.TP), cmp.Compare(p.PP, q.PP), cmp.Compare(p.EP, q.EP), cmp.Compare(p.Rank, q.Rank))
	})
	return keys
}

func appendPlace(dst []byte, p collective.Place) []byte {
	return appendInts(dst, p.DP, p.TP, p.PP, p.EP, p.Rank)
}

func loadPlace(r *reader) (p collective.Place) {
	r.ints(&p.DP, &p.TP, &p.PP, &p.EP, &p.Rank)
	return p
}

// appendKernels appends kernels in order. Their names, of which there are few, are
// a list before them.
func appendKernels(dst []byte, list []collective.Kernel) []byte {
	sorting.Stable(list, func(a, b collective.Kernel) int {
		return cmp.Or(cmp.Compare(a.Index, b.Index), cmp.Compare(a.Start, b.Start))
	})
	codes := make(map[string]int64)
	for i := range list {
		codes[list[i].Name] = 0
	}
	dst = appendInts(dst, int64(len(codes)))
	for i, name := range sortedKeys(codes) {
		codes[name] = int64(i)
		dst = appendText(dst, name)
	}
	dst = appendInts(dst, int64(len(list)))
	for i := range list {
		k := &list[i]
		paired := int64(0)
		if k.Paired {
			paired = 1
		}
		dst = appendInts(dst, k.Index, k.Step, codes[k.Name], paired, k.Start, k.Duration, int64(len(k.Exposed)))
		dst = appendInts(dst, k.Exposed...)
	}
	return dst
}

func loadKernels(r *reader) []collective.Kernel {
	names := make([]string, r.count())
	for i := range names {
		names[i] = r.text()
	}
	list := make([]collective.Kernel, r.count())
	for i := range list {
		k := &list[i]
		var name, paired int64
		r.ints(&k.Index, &k.Step, &name, &paired, &k.Start, &k.Duration)
		if name < 0 || name >= int64(len(names)) {
			r.fail()
			return nil
		}
		k.Name, k.Paired = names[name], paired != 0
		if n := r.count(); n > 0 {
			k.Exposed = make([]int64, n)
		}
		for j := range k.Exposed {
			k.Exposed[j] = r.int()
		}
	}
	return list
}

func appendStep(dst []byte, k *decompose.Step) []byte {
	dst = appendInts(dst, k.End, k.Index, k.Duration, int64(k.Kind), k.Decoding, k.Context, k.Emitted, int64(k.Group), k.Window)
	if k.Parts == nil {
		return appendInts(dst, 0)
	}
	dst = appendInts(dst, int64(k.Parts.KnownClass), int64(k.Parts.KnownMemo))
	dst = appendInts(dst, k.Parts.Class[:]...)
	return appendInts(dst, k.Parts.Memo[:]...)
}

// LoadState implements State.
func (s *stepTimeState) LoadState(src []byte) error {
	r := &reader{src: src}
	s.ranks = make(map[rankKey]*decompose.Timeline)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		var run, quantity, resolution, world int64
		r.ints(&run, &quantity, &resolution, &world)
		place := loadPlace(r)
		steps := make([]decompose.Step, r.count())
		t := s.at(rankKey{int32(run), trace.Quantity(quantity), r.text(), r.text()}, place)
		t.Refused, t.Clock = r.text(), r.text()
		t.Resolution, t.World, t.Steps = resolution, world, steps
		for i := range steps {
			loadStep(r, &steps[i], trace.Quantity(quantity))
		}
	}
	s.links = make(map[linkKey][]collective.Kernel)
	for n := r.count(); n > 0 && r.err == nil; n-- {
		key := linkKey{int32(r.int()), loadPlace(r)}
		s.links[key] = loadKernels(r)
	}
	return r.done()
}

func loadStep(r *reader, k *decompose.Step, q trace.Quantity) {
	var kind, group, classes, memos int64
	r.ints(&k.End, &k.Index, &k.Duration, &kind, &k.Decoding, &k.Context, &k.Emitted, &group, &k.Window, &classes)
	k.Quantity, k.Kind, k.Group = q, trace.StepKind(kind), int32(group)
	if kind < int64(decompose.NoKind) || kind > int64(trace.StepDummy) {
		r.fail()
	}
	if classes == 0 {
		return
	}
	memos = r.int()
	k.Parts = &decompose.StepParts{KnownClass: uint16(classes), KnownMemo: uint16(memos)}
	for i := range k.Parts.Class {
		k.Parts.Class[i] = r.int()
	}
	for i := range k.Parts.Memo {
		k.Parts.Memo[i] = r.int()
	}
}
