package kernel

import (
	"cmp"
	"slices"

	"servescope/analyzer/join"
	"servescope/analyzer/sorting"
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
// Only rows that name a choice above 0, and those that they belong to, are held
// here, some 400 bytes each; a log without such rows has no Choices. It is made
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

// member is a row that is a sequence of a request.
type member struct {
	position
	number  int32 // among all rows
	row     row
	joint   *joint
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

// joint is a request of several sequences.
type joint struct {
	whole     row // the request
	sequences []row
	numbers   []int32 // of their rows
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

func (x *identities) position(i int, w *row) position {
	choice, _ := x.number(i)
	offset, _ := x.offset.At(i)
	return position{w.start, choice, x.file, offset}
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
		w := r.at(i)
		if w.role == join.Repeats {
			continue
		}
		attempt, _ := x.attempt.At(i)
		if key := (familyKey{x.index, w.side, attempt, string(id)}); c.families[key] == nil {
			c.families[key] = new(family)
		}
	}
}

// None reports whether Find has found no request of several choices.
func (c *Choices) None() bool { return len(c.families) == 0 }

// family returns that of row i, or nil.
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
		w := r.at(i)
		if w.role == join.Repeats {
			continue
		}
		if f := c.family(&x, i, w.side); f != nil {
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

func (f *family) join() {
	sorting.By(f.members, func(a, b member) int { return a.compare(b.position) })
	var requests []*joint
	k := 0
	for i := range f.members {
		m := &f.members[i]
		if k++; i == 0 || m.choice != f.members[i-1].choice {
			k = 0
		}
		if k == len(requests) {
			requests = append(requests, new(joint))
		}
		m.joint = requests[k]
		m.sibling = len(m.joint.sequences) > 0 // members are in order of choices: the first leads
		m.joint.sequences, m.joint.numbers = append(m.joint.sequences, m.row), append(m.joint.numbers, m.number)
	}
	for _, q := range requests {
		q.unite()
	}
}

// Each calls f with the requests, in no order: the numbers of their rows, the one
// that the request is counted with first, and when it arrives, where that is known.
func (c *Choices) Each(f func(rows []int32, arrival int64, known bool)) {
	seen := make(map[*joint]bool)
	for _, family := range c.families {
		for i := range family.members {
			q := family.members[i].joint
			if seen[q] {
				continue
			}
			seen[q] = true
			f(q.numbers, q.whole.enter, q.whole.enter != none)
		}
	}
}

// set completes row i of a batch with what it is a sequence of.
func (c *Choices) set(x *identities, i int, w *row) {
	f := c.family(x, i, w.side)
	if f == nil {
		return
	}
	at, found := slices.BinarySearchFunc(f.members, x.position(i, w), func(m member, p position) int { return m.compare(p) })
	if found {
		w.joint, w.sibling = f.members[at].joint, f.members[at].sibling
	}
}

// unite makes the request of its sequences.
func (q *joint) unite() {
	q.whole = q.sequences[0]
	u := &q.whole
	u.decode = none // of a sequence
	for i := range q.sequences[1:] {
		w := &q.sequences[i+1]
		u.status = Worse(u.status, w.status)
		u.placed = u.placed && w.placed
		u.requested = u.requested || w.requested
		u.source = max(u.source, w.source)
		if w.token != none && (u.token == none || w.token < u.token) {
			u.kind, u.chunk = w.kind, w.chunk
		}
		for _, t := range [...]struct {
			whole *int64
			own   int64
		}{{&u.start, w.start}, {&u.enter, w.enter}, {&u.scheduled, w.scheduled}, {&u.event, w.event}, {&u.token, w.token}, {&u.answer, w.answer}} {
			*t.whole = least(*t.whole, t.own)
		}
		u.wait = max(u.wait, w.wait)
		u.special.unite(&w.special)
		u.prompt, u.cached = max(u.prompt, w.prompt), max(u.cached, w.cached)
		u.last, u.finish = latest(u.last, w.last), latest(u.finish, w.finish)
		u.n, u.client = plus(u.n, w.n), plus(u.client, w.client)
		u.most, u.reasoning = plus(u.most, w.most), plus(u.reasoning, w.reasoning)
	}
}

// latest returns the later of two stamps; if one is unknown so is the latest.
func latest(a, b int64) int64 {
	if a == none || b == none {
		return none
	}
	return max(a, b)
}

// plus returns the sum of two counts; if one is unknown so is the sum.
func plus(a, b int64) int64 {
	if a == none || b == none {
		return none
	}
	return a + b
}

// minus returns the difference of two counts; if one is unknown so is it.
func minus(a, b int64) int64 {
	if a == none || b == none {
		return none
	}
	return a - b
}

// Worse returns the status of a request two of whose sequences have a and b: it
// is ok when all have ended well and one has a token.
func Worse(a, b trace.Status) trace.Status {
	order := [...]int{trace.Empty: 0, trace.OK: 1, trace.HeadMissing: 2, trace.Open: 3, trace.Aborted: 4, trace.Failed: 5}
	if order[b] > order[a] {
		return b
	}
	return a
}

// request returns the request that the row is a sequence of: mostly itself.
func (w *row) request() *row {
	if w.joint != nil {
		return &w.joint.whole
	}
	return w
}

// ofSequence reports whether the measure is about a sequence and not about the
// whole request of several.
func (m *measure) ofSequence() bool {
	switch m.name {
	case "tpot", "tpot_from_total", "tpot_after_first_chunk", "tps_request", "tps_decode":
		return true
	}
	return false
}
