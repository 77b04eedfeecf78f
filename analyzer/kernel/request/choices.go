package request

import (
	"cmp"
	"slices"

	"servescope/analyzer/join"
	"servescope/analyzer/trace"
)

// Choices joins the rows of requests that were asked for several choices (n > 1):
// each row is a sequence with a pace and gaps of its own, and all together are
// one request. The request is counted with the row of its first choice: its TTFT
// ends at the earliest first token of any, its tokens are the sum, its end is
// the latest, its prompt is there once.
//
// Rows belong together that have the same run, side and attempt and the same
// parent, or without one the same id. Where an id is used again the k-th row of
// every choice, by start, belongs to the k-th request. A query selects all rows
// of a request or none.
//
// Only rows that name a choice above 0, and the other rows of their requests, are
// held here, some 400 bytes each; a log without such rows has no Choices. It is made
// by one goroutine (Find, then Add for the same batches, then Join) and may then
// be read by many.
type Choices struct {
	families map[familyKey]*family
}

type familyKey struct {
	run     int32
	side    trace.Side
	attempt int64
	id      string
}

// family is the rows of one id, in order once they are joined.
type family struct{ members []member }

func (f *family) join() {
	slices.SortFunc(f.members, func(a, b member) int { return a.compare(b.position) })
	var requests []*MultiChoice
	k := 0
	for i := range f.members {
		m := &f.members[i]
		if k++; i == 0 || m.choice != f.members[i-1].choice {
			k = 0
		}
		if k == len(requests) {
			requests = append(requests, new(MultiChoice))
		}
		m.joint = requests[k]
		m.sibling = len(m.joint.Sequences) > 0 // members are in order of choices: the first leads
		m.joint.Sequences, m.joint.numbers = append(m.joint.Sequences, m.row), append(m.joint.numbers, m.number)
	}
	for _, q := range requests {
		q.unite()
	}
}

// member is a row that is a sequence of a request.
type member struct {
	position
	number  int32 // among all rows
	row     Row
	joint   *MultiChoice
	sibling bool
}

// position tells the rows of a family apart and orders them.
type position struct {
	start, choice int64
	file          string
	offset        int64
}

func (p position) compare(o position) int {
	return cmp.Or(cmp.Compare(p.choice, o.choice), cmp.Compare(p.start, o.start), cmp.Compare(p.file, o.file), cmp.Compare(p.offset, o.offset))
}

// identities reads the keys of a batch's rows.
type identities struct {
	file            string
	index           int32
	ids, parents    trace.Texts
	attempt, choice trace.Ints
	offset          trace.Ints
	links           *join.Links
	first           int32 // number of the first row in links
}

func identitiesOf(v *View) identities {
	return identities{
		index: v.RunIndex, file: v.File, ids: v.Texts(trace.RequestID), parents: v.Texts(trace.ParentID),
		attempt: v.Ints(trace.Attempt), choice: v.Ints(trace.Choice), offset: v.Ints(trace.Offset),
		links: v.Links, first: v.Base,
	}
}

// id returns what names the request of row i, and whether anything does.
func (x *identities) id(i int) ([]byte, bool) {
	if lead, _, ok := x.links.Sequence(x.first + int32(i)); ok {
		return x.links.Own(lead)
	}
	if _, named := x.choice.At(i); named {
		if id, ok := x.parents.At(i); ok {
			return id, true
		}
	}
	return x.ids.At(i)
}

// number returns the number of the choice that row i is, if it is one.
func (x *identities) number(i int) (int64, bool) {
	if n, ok := x.choice.At(i); ok {
		return n, true
	}
	_, n, ok := x.links.Sequence(x.first + int32(i))
	return n, ok
}

func (x *identities) position(i int, w *Row) position {
	choice, _ := x.number(i)
	offset, _ := x.offset.At(i)
	return position{w.Start, choice, x.file, offset}
}

// Find learns of the requests that have more than one choice.
func (c *Choices) Find(v *View) {
	x, r := identitiesOf(v), rowsOf(v)
	for i := range v.Rows {
		if choice, ok := x.number(i); !ok || choice <= 0 {
			continue
		}
		id, ok := x.id(i)
		if !ok {
			continue // nothing says what it belongs to: it is a request of its own
		}
		if c.families == nil {
			c.families = make(map[familyKey]*family)
		}
		w := r.At(i)
		if w.Role == join.Repeats {
			continue
		}
		attempt, _ := x.attempt.At(i)
		if key := (familyKey{x.index, w.Side, attempt, string(id)}); c.families[key] == nil {
			c.families[key] = new(family)
		}
	}
}

// None reports whether Find has found no request of several choices.
func (c *Choices) None() bool { return len(c.families) == 0 }

// family returns the family of row i, or nil.
func (c *Choices) family(x *identities, i int, side trace.Side) *family {
	id, ok := x.id(i)
	if !ok {
		return nil
	}
	attempt, _ := x.attempt.At(i)
	return c.families[familyKey{x.index, side, attempt, string(id)}]
}

// Add adds the rows of a batch that belong to requests that Find has found.
func (c *Choices) Add(v *View) {
	x, r := identitiesOf(v), rowsOf(v)
	for i := range v.Rows {
		w := r.At(i)
		if w.Role == join.Repeats {
			continue
		}
		if f := c.family(&x, i, w.Side); f != nil {
			f.members = append(f.members, member{position: x.position(i, &w), number: v.Base + int32(i), row: w})
		}
	}
}

// Join puts the requests together. No row may be added behind it.
func (c *Choices) Join() {
	for _, f := range c.families {
		f.join()
	}
}

// Each calls f with the requests, in no order: the numbers of their rows, the one
// that the request is counted with first, and when it arrives, where that is known.
func (c *Choices) Each(f func(rows []int32, arrival int64, known bool)) {
	seen := make(map[*MultiChoice]bool)
	for _, family := range c.families {
		for i := range family.members {
			q := family.members[i].joint
			if seen[q] {
				continue
			}
			seen[q] = true
			f(q.numbers, q.whole.Enter, q.whole.Enter != None)
		}
	}
}

// set completes row i of a batch with what it is a sequence of.
func (c *Choices) set(x *identities, i int, w *Row) {
	f := c.family(x, i, w.Side)
	if f == nil {
		return
	}
	at, found := slices.BinarySearchFunc(f.members, x.position(i, w), func(m member, p position) int { return m.compare(p) })
	if found {
		w.MultiChoice, w.Sibling = f.members[at].joint, f.members[at].sibling
	}
}
