package torchtrace

import (
	"bytes"
	"hash/maphash"
	"strings"
)

const (
	maxNames = 1 << 16 // names that are told apart
	maxShown = 256     // bytes of a name that are kept for people
)

// kind separates the namespaces of names.
type kind uint8

const (
	kernelName kind = iota
	copyName
	runtimeName
	frameName
)

// name holds the class and the traits of one distinct name.
type name struct {
	traits
	scope scope
	graph bool   // a call that launches a graph
	text  string // of device events: the name as shown
	count int64
	total int64 // ns, sum of durations
}

// nameTable maps names to what they mean, which is found out once for each. It
// is an open hash table, because there is one look-up per event. Names are told
// apart by 64-bit hashes with a random seed.
type nameTable struct {
	seeds [4]maphash.Seed
	slots []slot // a power of two, at most half full
	names []name
}

type slot struct {
	hash uint64
	id   int32 // index of names plus 1, 0: free
}

func newNameTable() *nameTable {
	t := &nameTable{slots: make([]slot, 1024)}
	for i := range t.seeds {
		t.seeds[i] = maphash.MakeSeed()
	}
	return t
}

// find returns the id of a name. Beyond maxNames distinct names, further ones
// share one id per kind of traits, so that their times are still classified.
func (t *nameTable) find(k kind, text []byte) int32 {
	h := maphash.Bytes(t.seeds[k], text)
	mask := uint64(len(t.slots) - 1)
	i := h & mask
	for ; t.slots[i].id != 0; i = (i + 1) & mask {
		if t.slots[i].hash == h {
			return t.slots[i].id - 1
		}
	}
	n := describe(k, text)
	if len(t.names) >= maxNames {
		return t.overflow(n)
	}
	t.names = append(t.names, n)
	id := int32(len(t.names))
	t.slots[i] = slot{h, id}
	if 2*len(t.names) > len(t.slots) {
		t.grow()
	}
	return id - 1
}

func (t *nameTable) grow() {
	old := t.slots
	t.slots = make([]slot, 2*len(old))
	mask := uint64(len(t.slots) - 1)
	for _, s := range old {
		if s.id == 0 {
			continue
		}
		i := s.hash & mask
		for t.slots[i].id != 0 {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// overflow returns the id shared by all further names with the traits of n.
func (t *nameTable) overflow(n name) int32 {
	n.text = "(further names)"
	for i := maxNames; i < len(t.names); i++ {
		if m := &t.names[i]; m.traits == n.traits && m.scope == n.scope && m.graph == n.graph {
			return int32(i)
		}
	}
	t.names = append(t.names, n)
	return int32(len(t.names) - 1)
}

// describe finds out what a name means.
func describe(k kind, text []byte) name {
	var n name
	switch k {
	case kernelName:
		n.text, n.traits = shown(text), match(kernelRules, text)
	case copyName:
		n.text, n.traits = shown(text), match(copyRules, text)
	case runtimeName:
		n.scope = execution
		n.graph = bytes.Contains(text, []byte("GraphLaunch"))
	case frameName:
		n.scope = frameScope(string(text))
	}
	return n
}

func match(rules []rule, text []byte) traits {
	lower := strings.ToLower(string(text))
	holds := func(needles []string) bool {
		for _, n := range needles {
			if strings.Contains(lower, n) {
				return true
			}
		}
		return false
	}
	for i := range rules {
		if r := &rules[i]; holds(r.needles) && (r.more == nil || holds(r.more)) {
			return r.traits
		}
	}
	return traits{}
}

// frameScope returns the scope of a Python frame "FILE(LINE): FUNCTION".
func frameScope(text string) scope {
	for _, p := range modulePrefixes {
		if strings.HasPrefix(text, p) {
			return sampling
		}
	}
	colon := strings.LastIndex(text, "): ")
	paren := strings.LastIndexByte(text[:max(colon, 0)], '(')
	if paren < 0 {
		return noScope
	}
	file, function := strings.ReplaceAll(text[:paren], `\\`, "/"), text[colon+3:]
	for _, r := range frameRules {
		if (r.function == "*" || r.function == function) && strings.HasSuffix(file, r.file) {
			return r.scope
		}
	}
	return noScope
}

// annotationScope returns the scope of a range that an engine marked.
func annotationScope(text []byte) scope {
	for _, r := range annotationRules {
		if bytes.HasPrefix(text, []byte(r.prefix)) {
			return r.scope
		}
	}
	return noScope
}

// shown returns a name as people see it: bytes that are no text replaced, and
// cut.
func shown(text []byte) string {
	var b strings.Builder
	for _, r := range string(text) { // invalid bytes become U+FFFD
		if r < ' ' {
			r = '\uFFFD'
		}
		if b.Len()+4 > maxShown {
			b.WriteString("…")
			break
		}
		b.WriteRune(r)
	}
	return b.String()
}
