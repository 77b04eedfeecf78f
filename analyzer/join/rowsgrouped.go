package join

import (
	"servescope/analyzer/trace"
	"slices"
)

// grouped reports whether a source writes a join_group.
func (x *rows) grouped() bool {
	return slices.ContainsFunc(x.views, func(v view) bool { return v.Has(trace.JoinGroup) })
}

// room names a row by the join_group of its source.
func (x *rows) room(r int32, scratch *[]byte) (key, bool) {
	v, i := x.at(r)
	text, ok := v.groups.At(i)
	if !ok {
		return key{}, false
	}
	*scratch = room((*scratch)[:0], text)
	return key{form{*scratch, Room, -1}, v.Part.Run}, true
}

// decorations returns the rules that some id may need.
func (x *rows) decorations() (all Rule) {
	for r := range x.n {
		if id, ok := x.id(r); ok {
			all |= strip(id, Prefix|Number|Random|Index|Address).used
		}
	}
	return all
}

// nameless reports whether a batch that names no request has records of several
// sides.
func (x *rows) nameless() bool {
	return slices.ContainsFunc(x.views, func(v view) bool {
		return !v.Has(trace.RequestID) && !v.Has(trace.JoinGroup) && v.Has(trace.Offset) && v.several()
	})
}

// sameLength reports whether two rows have the same number of output tokens,
// and whether both record it.
func (x *rows) sameLength(a, b int32) (same, ok bool) {
	v, i := x.at(a)
	w, j := x.at(b)
	n, ok1 := v.output.At(i)
	m, ok2 := w.output.At(j)
	return n == m, ok1 && ok2
}
