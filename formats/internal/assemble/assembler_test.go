package assemble

import (
	"cmp"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// happening is one event of the test, in the plainest form.
type happening struct {
	id     string
	kind   Kind
	at     int64
	timed  bool
	tokens int64
	off    int64
	hash   uint64 // of the id; 0: Hash
}

// pack makes one block of events; the ids are its text.
func pack(list []happening) *Events {
	e := new(Events)
	var text []byte
	for _, h := range list {
		text = append(text, h.id...)
	}
	e.Reset(list[0].off, text)
	from := uint32(0)
	for _, h := range list {
		to := from + uint32(len(h.id))
		e.AddPlain(Event{Hash: cmp.Or(h.hash, Hash([]byte(h.id))), At: h.at, ID: Span{from, to}, Line: uint32(h.off - e.Base),
			Tokens: h.tokens, Kind: h.kind, Timed: h.timed, Sort: -1})
		from = to
	}
	return e
}

// reference is what the assembler must make of events, told with a map of lists
// and no regard for speed. Rows are texts.
func reference(all []happening) []string {
	type request struct {
		id      string
		events  []happening
		attempt int
	}
	open := map[string]*request{}
	ended := map[string]int{}
	var rows []string
	end := func(r *request) {
		rows = append(rows, describe(r.id, r.attempt, r.events))
		delete(open, r.id)
		ended[r.id]++
	}
	for _, h := range all {
		r := open[h.id]
		if r != nil && h.kind == Arrival {
			var at *happening
			for i := range r.events {
				if r.events[i].kind == Arrival {
					at = &r.events[i]
				}
			}
			if at != nil && h.at != at.at {
				end(r)
				r = nil
			}
		}
		if r == nil {
			if ended[h.id] > 0 && h.kind != Arrival {
				continue // too late
			}
			r = &request{id: h.id, attempt: ended[h.id]}
			open[h.id] = r
		}
		r.events = append(r.events, h)
		if h.kind >= Finish {
			end(r)
		}
	}
	var left []*request
	for _, r := range open {
		left = append(left, r)
	}
	slices.SortFunc(left, func(a, b *request) int { return int(a.events[0].off - b.events[0].off) })
	for _, r := range left {
		end(r)
	}
	return rows
}

// describe is the row of one request's events.
func describe(id string, attempt int, events []happening) string {
	type chunk struct{ at, tokens int64 }
	var chunks []chunk
	stamps := map[Kind]int64{}
	known, counted, arrived := true, false, false
	last := events[len(events)-1].kind
	for _, h := range events {
		switch {
		case h.kind == Token:
			known = known && h.timed
			counted = counted || h.tokens >= 0
			chunks = append(chunks, chunk{h.at, int64(max(h.tokens, 1))})
			if h.tokens < 0 {
				chunks[len(chunks)-1].tokens = 1
			}
		case h.kind == Arrival:
			arrived = true
			fallthrough
		default:
			if v, ok := stamps[h.kind]; h.timed && (!ok || h.at < v) {
				stamps[h.kind] = h.at
			}
		}
	}
	slices.SortStableFunc(chunks, func(a, b chunk) int { return int(a.at - b.at) })
	status := "ok"
	switch {
	case last == Failure:
		status = "failed"
	case last == Abort:
		status = "aborted"
	case !arrived:
		status = "head_missing"
	case last < Finish:
		status = "open"
	case len(chunks) == 0:
		status = "empty"
	}
	partial := !arrived && events[0].kind >= Token
	var b strings.Builder
	fmt.Fprintf(&b, "%s %d %s", id, attempt, status)
	for _, k := range []Kind{Arrival, Queued, Admitted} {
		if v, ok := stamps[k]; ok {
			fmt.Fprintf(&b, " %d@%d", k, v)
		}
	}
	if v, ok := stamps[last]; ok && last >= Finish {
		fmt.Fprintf(&b, " end@%d", v)
	}
	if !known {
		return b.String() + " gaps null" // what else is left is checked by cases
	}
	if len(chunks) > 0 {
		if !partial {
			fmt.Fprintf(&b, " first@%d", chunks[0].at)
		}
		fmt.Fprintf(&b, " last@%d", chunks[len(chunks)-1].at)
	}
	if partial && len(chunks) == 0 {
		return b.String() + " gaps null"
	}
	gaps, counts, n := []int64{}, []int64{}, int64(0)
	for i, c := range chunks {
		if i > 0 {
			gaps = append(gaps, c.at-chunks[i-1].at)
		}
		counts = append(counts, c.tokens)
		n += c.tokens
	}
	if !partial {
		fmt.Fprintf(&b, " n=%d", n)
	}
	fmt.Fprintf(&b, " gaps %v", gaps)
	if counted {
		fmt.Fprintf(&b, " tokens %v", counts)
	}
	return b.String()
}

// rowTexts returns a batch's rows in the form of describe.
func rowTexts(batch *trace.Batch) (rows []string) {
	for i := range batch.Rows {
		var b strings.Builder
		id, _ := batch.Texts(trace.RequestID).At(i)
		attempt, _ := batch.Ints(trace.Attempt).At(i)
		status, _ := batch.Dicts(trace.StatusCol).At(i)
		fmt.Fprintf(&b, "%s %d %s", id, attempt, batch.Dicts(trace.StatusCol).Values[status])
		number := func(c trace.Col, format string) {
			if v, ok := batch.Ints(c).At(i); ok {
				fmt.Fprintf(&b, format, v)
			}
		}
		number(trace.Received, fmt.Sprintf(" %d@%%d", Arrival))
		number(trace.Queued, fmt.Sprintf(" %d@%%d", Queued))
		number(trace.Admitted, fmt.Sprintf(" %d@%%d", Admitted))
		number(trace.Finished, " end@%d")
		gaps, ok := batch.Lists(trace.ChunkGaps).At(i)
		if !ok {
			rows = append(rows, b.String()+" gaps null")
			continue
		}
		number(trace.FirstToken, " first@%d")
		number(trace.LastToken, " last@%d")
		number(trace.OutputTokens, " n=%d")
		fmt.Fprintf(&b, " gaps %v", gaps)
		if counts, ok := batch.Lists(trace.ChunkTokens).At(i); ok {
			fmt.Fprintf(&b, " tokens %v", counts)
		}
		rows = append(rows, b.String())
	}
	return rows
}

// newTest returns an assembler of server rows on the clock of the run, where
// every stamp is a time.
func newTest(memory int64) (*Assembler, *Writer) {
	run := &trace.RunMeta{Side: trace.Server, Clock: trace.Clock{Kind: trace.RunClock}}
	w := &Writer{Notes: Notes{"test", new(diag.Log)}, Builder: trace.NewBuilder(trace.Requests), Run: run, Clock: run.Clock, Lists: true}
	return NewAssembler(w, memory), w
}

// TestAssembler folds random events, cut into random blocks, and compares with
// the reference. In some rounds all ids have one hash.
func TestAssembler(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for round := range 400 {
		var all []happening
		off := int64(0)
		ids := 1 + r.IntN(40)
		prefix := strings.Repeat("x", r.IntN(2)*30)
		same := uint64(0) // a hash of all ids
		if round%5 == 0 {
			ids, same = 1+r.IntN(groupUses), r.Uint64()|1
		}
		for range r.IntN(600) {
			off += 1 + r.Int64N(3)
			h := happening{id: fmt.Sprintf("%sr%d", prefix, r.IntN(ids)), kind: Token, at: off * 1e6, timed: true, tokens: -1, off: off, hash: same}
			switch r.IntN(12) {
			case 0, 1:
				h.kind = Arrival
			case 2:
				h.kind = []Kind{Queued, Admitted}[r.IntN(2)]
			case 3:
				h.kind = []Kind{Finish, Finish, Failure, Abort}[r.IntN(4)]
			case 4:
				h.at -= r.Int64N(1e9)
			case 5:
				h.at += r.Int64N(1e13)
			case 6:
				if round%4 == 0 {
					h.timed, h.at = false, 0
				}
			}
			if h.kind == Token && round%3 == 0 && r.IntN(3) == 0 {
				h.tokens = r.Int64N(5) + 1
			}
			if h.kind == Arrival && r.IntN(4) == 0 {
				h.at = 7e6 // often the same as before
			}
			h.timed = h.timed || h.kind == Arrival
			all = append(all, h)
		}
		a, w := newTest(0)
		for rest := all; len(rest) > 0; {
			n := 1 + r.IntN(len(rest))
			a.Fold(pack(rest[:n]))
			rest = rest[n:]
		}
		a.Flush(func() bool { return false })
		got, want := rowTexts(w.Builder.Take(w.Run, "test")), reference(all)
		for i := range max(len(got), len(want)) {
			if i >= len(got) || i >= len(want) || got[i] != want[i] {
				t.Fatalf("round %d, row %d of %d and %d:\ngot  %s\nwant %s", round, i, len(got), len(want), text(got, i), text(want, i))
			}
		}
		for k := range a.shards {
			table := &a.shards[k].table
			if table.n != 0 || slices.ContainsFunc(table.slots, func(s slot) bool { return s.q != nil }) {
				t.Fatal("requests are left in the table")
			}
		}
	}
}

func text(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "none"
}

// TestMemory bounds the gaps of requests that never end: those beyond the bound
// lose them, and nothing else.
func TestMemory(t *testing.T) {
	const requests, tokens = 300, 2000 // 2.4 MB of gaps
	fold := func(memory int64) (*Assembler, *trace.Batch, *Writer) {
		a, w := newTest(memory)
		off := int64(0)
		for k := range tokens {
			var list []happening
			for i := range requests {
				off++
				list = append(list, happening{id: fmt.Sprint("r", i), kind: Token, at: int64(k)*1e6 + int64(i), timed: true, tokens: -1, off: off})
			}
			if k == 0 {
				for i := range list {
					list[i].kind = Arrival
				}
			}
			a.Fold(pack(list))
		}
		used := 0
		for k := range a.shards {
			used += len(a.shards[k].nodes.pages) * nodePage * nodeBytes
		}
		if memory > 0 && int64(used) > memory+Shards*nodePage*nodeBytes {
			t.Errorf("%d bytes of gaps, want at most %d", used, memory)
		}
		a.Flush(func() bool { return false })
		return a, w.Builder.Take(w.Run, "test"), w
	}
	_, batch, w := fold(0)
	if n := batch.Lists(trace.ChunkGaps).Values; len(n) != requests*(tokens-2) || len(w.Log.All()) != 1 { // tokens_from_chunks
		t.Fatalf("%d gaps, diags %+v", len(n), w.Log.All())
	}
	_, batch, w = fold(1 << 20)
	have := 0
	for i := range batch.Rows {
		if _, ok := batch.Lists(trace.ChunkGaps).At(i); ok {
			have++
		}
		n, _ := batch.Ints(trace.OutputTokens).At(i)
		last, _ := batch.Ints(trace.LastToken).At(i)
		if n != tokens-1 || last != (tokens-1)*1e6+int64(i) {
			t.Fatalf("row %d: %d tokens, the last at %d", i, n, last)
		}
	}
	dropped := slices.IndexFunc(w.Log.All(), func(d diag.Diag) bool { return d.Code == "gaps_dropped" })
	if have == 0 || have == requests || dropped < 0 || w.Log.All()[dropped].Count != int64(requests-have) {
		t.Errorf("%d of %d requests have gaps, diags %+v", have, requests, w.Log.All())
	}
}

// TestTable compares the hash table with a map, with hashes that collide.
func TestTable(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var table table
	want := map[*open]uint64{}
	for n := 1; n < 50_000; n++ {
		hash, q := r.Uint64N(1<<12), new(open)
		if r.IntN(3) == 0 {
			hash = 1<<64 - 1 - r.Uint64N(4)
		}
		table.insert(hash, q)
		want[q] = hash
		for len(want) > 300+r.IntN(800) {
			for old, h := range want {
				table.remove(h, old)
				delete(want, old)
				break
			}
		}
		if n%500 != 0 {
			continue
		}
		for q, hash := range want {
			i := table.first(hash)
			for table.slots[i].q != q {
				if table.slots[i].q == nil {
					t.Fatalf("an entry with hash %d is lost", hash)
				}
				i = (i + 1) % uint64(len(table.slots))
			}
		}
		if table.n != len(want) {
			t.Fatalf("%d entries, want %d", table.n, len(want))
		}
	}
}

// TestRecent: what ended long ago is forgotten, group by group, and memory does
// not grow.
func TestRecent(t *testing.T) {
	var r recent
	hash := func(group, i int) uint64 { return uint64(group)<<(64-groupBits) | uint64(i) }
	for i := range 3 * groupUses {
		r.add(hash(5, i), nil, int64(i))
		if i%7 == 0 {
			r.add(hash(4095, i), nil, int64(-i))
		}
	}
	r.add(hash(5, 3*groupUses-2), nil, 99)
	for i := range 3 * groupUses {
		want := use{}
		switch {
		case i == 3*groupUses-2:
			want = use{hash(5, i), hashFrom(checkSeed, nil), 99, 2}
		case i >= 2*groupUses:
			want = use{hash(5, i), hashFrom(checkSeed, nil), int64(i), 1}
		}
		if got := r.of(hash(5, i), nil); got != want {
			t.Errorf("%d: %+v, want %+v", i, got, want)
		}
	}
	if got := r.of(hash(4095, 7), nil); got.n != 1 || got.start != -7 {
		t.Errorf("another group pushed it out: %+v", got)
	}
	if len(r.groups[5]) != groupUses {
		t.Errorf("%d ids in a group", len(r.groups[5]))
	}
}
