package otlp

import (
	"strconv"
	"strings"
)

// release is a release of an engine, 100 times its second number plus its third:
// v0.5.10 is 5_10. No release has a first number other than 0. 0 stands for no
// limit.
type release int

func (r release) String() string {
	s := "v0." + strconv.Itoa(int(r/100))
	if r%100 != 0 || r < 11_00 {
		s += "." + strconv.Itoa(int(r%100))
	}
	return s
}

// generation collects the evidence of a run's spans about the release of one of
// vLLM's engines.
type generation struct {
	any    bool
	seen   uint32 // attributes
	scopes between
}

// The engines of vLLM, by the releases whose spans have their attributes. v0.8.0 to
// v0.10.0 fall back to V0 when they trace.
var engines = [2]struct {
	name     string
	releases between
}{
	{"V0 engine", between{5_01, 10_00}},
	{"V1 engine", since(10_02)},
}

// see takes the evidence of a span.
func (g *generation) see(s *span, scope string) {
	g.any = true
	g.seen |= s.seen
	for i := range scopes {
		if scopes[i].name == scope {
			g.scopes.narrow(scopes[i].releases)
		}
	}
}

// versions returns the releases that may have written a run's spans, as a range
// for each engine: both may be in a file.
func versions(list *[2]generation) string {
	var parts []string
	for i, g := range list {
		if !g.any {
			continue
		}
		r := engines[i].releases
		for _, a := range attributes {
			if a.slot < textSlots && g.seen>>a.slot&1 != 0 {
				r.narrow(a.vllm)
			}
		}
		r.narrow(g.scopes)
		parts = append(parts, r.String()+" ("+engines[i].name+")")
	}
	return strings.Join(parts, ", ")
}

// between is a range of releases, both included; a last one of 0 is no limit.
type between struct{ first, last release }

func since(first release) between { return between{first, 0} }

// narrow keeps of the range what lies in another one too. Ranges that exclude
// each other, as after an upgrade in the middle of a file, become the range that
// holds both. An empty range stands for any.
func (b *between) narrow(o between) {
	var any between
	switch {
	case o == any:
		return
	case *b == any:
		*b = o
		return
	}
	both := between{max(b.first, o.first), o.last}
	if o.last == 0 || b.last != 0 && b.last < o.last {
		both.last = b.last
	}
	if both.last != 0 && both.last < both.first {
		both = between{min(b.first, o.first), max(b.last, o.last)}
		if b.last == 0 || o.last == 0 {
			both.last = 0
		}
	}
	*b = both
}

func (b between) String() string {
	switch {
	case b.first == 0 && b.last == 0:
		return ""
	case b.last == 0:
		return "≥" + b.first.String()
	case b.first == b.last:
		return b.first.String()
	}
	return b.first.String() + "–" + b.last.String()
}
