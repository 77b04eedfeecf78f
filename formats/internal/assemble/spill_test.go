package assemble

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/source"
)

// wholeRows returns every column of every row of a batch.
func wholeRows(b *trace.Batch) (rows []string) {
	for i := range b.Rows {
		var s strings.Builder
		for c := range trace.Col(columns) {
			if !b.Has(c) {
				continue
			}
			var v any
			ok := false
			switch trace.Requests.Fields[c].Type {
			case trace.Int64:
				v, ok = b.Ints(c).At(i)
			case trace.Bool:
				v, ok = b.Bools(c).At(i)
			case trace.Text:
				v, ok = b.Texts(c).At(i)
			case trace.Dict:
				var code int32
				if code, ok = b.Dicts(c).At(i); ok {
					v = b.Dicts(c).Values[code]
				}
			default:
				v, ok = b.Lists(c).At(i)
			}
			if ok {
				fmt.Fprintf(&s, "%s=%s ", trace.Requests.Fields[c].Name, fmt.Sprint(v))
			}
		}
		rows = append(rows, s.String())
	}
	return rows
}

// randomEvents makes blocks of events of every kind, with further columns, texts,
// choices, ids of any length, and tokens in every form.
func randomEvents(r *rand.Rand, blocks, ids int) (all []*Events) {
	base := int64(0)
	for range blocks {
		var text []byte
		e := new(Events)
		size := r.IntN(60)
		names := make([]string, size)
		for i := range names {
			n := r.IntN(ids)
			names[i] = fmt.Sprintf("%0*d", 1+n%40, n)
			text = append(text, names[i]...)
		}
		e.Reset(base, text)
		from := 0
		for _, id := range names {
			at := base*1e6 + int64(from)*1e4 + r.Int64N(50_000)
			kind := []Kind{Arrival, Token, Token, Token, Token, Token, Token, Queued, FirstEvent, Finish, Abort, Failure}[r.IntN(12)]
			span := Span{uint32(from), uint32(from + len(id))}
			if kind == Token && r.IntN(3) > 0 {
				e.AddTick(MakeTick(Hash([]byte(id)), at, from, 0, len(id)))
			} else {
				var row Row
				row.Reset(0)
				if r.IntN(2) == 0 {
					row.SetText(trace.Model, []byte(fmt.Sprint("model", r.IntN(3))))
				}
				if r.IntN(3) == 0 {
					row.SetInt(trace.PromptTokens, r.Int64N(1000))
				}
				ev := Event{Hash: Hash([]byte(id)), At: at, ID: span, Line: uint32(from), Tokens: -1, Kind: kind, Timed: r.IntN(20) > 0, Sort: -1}
				if kind == Token && r.IntN(2) == 0 {
					ev.Tokens, ev.Sort = int64(r.IntN(4)), int8(r.IntN(2))
				}
				if r.IntN(6) == 0 {
					ev.Choice = int32(1 + r.IntN(3))
				}
				e.Add(ev, &row)
			}
			from += len(id)
		}
		all = append(all, e)
		base += int64(from) + 1
	}
	return all
}

// assembled folds blocks and returns the rows, sorted, and the diags.
func assembled(t *testing.T, blocks []*Events, prepare func(*Assembler)) (rows []string, diags []diag.Diag, a *Assembler) {
	t.Helper()
	a, w := newTest(0)
	prepare(a)
	for _, e := range blocks {
		a.Fold(e)
	}
	for more := true; more; {
		more = a.Flush(func() bool { return w.Builder.Rows() >= 100 })
		rows = append(rows, wholeRows(w.Builder.Take(w.Run, "test"))...)
	}
	slices.Sort(rows)
	return rows, w.Log.All(), a
}

// TestSpill: with whatever memory, rows and diags are those of unbounded memory.
func TestSpill(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	for round := range 60 {
		blocks := randomEvents(r, 60, 1+r.IntN(600))
		want, wantDiags, _ := assembled(t, blocks, func(*Assembler) {})
		dir := t.TempDir()
		memory := int64(1) << (9 + r.IntN(9))
		var a *Assembler
		got, diags, a := assembled(t, blocks, func(a *Assembler) { a.Bound(memory, dir) })
		if a.Err() != nil || !slices.Equal(got, want) || !slices.Equal(diags, wantDiags) {
			for i := range min(len(got), len(want)) {
				if got[i] != want[i] {
					t.Fatalf("round %d: %v, %d bytes: row %d\n%s\nwant\n%s", round, a.Err(), memory, i, got[i], want[i])
				}
			}
			t.Fatalf("round %d: %v, %d rows, want %d, diags\n%+v\nwant\n%+v", round, a.Err(), len(got), len(want), diags, wantDiags)
		}
		for k := range a.shards {
			if s := &a.shards[k]; s.table.n != 0 || s.nodes.live != 0 || s.texts != 0 {
				t.Errorf("%d requests, %d nodes, %d bytes of text are left", s.table.n, s.nodes.live, s.texts)
			}
		}
		if err := a.Close(); err != nil {
			t.Error(err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files are left", len(left))
		}
	}
}

// manyOpen makes n requests that never end, of tokens tokens each.
func manyOpen(n, tokens int) (all []*Events) {
	for k := range tokens {
		for from := 0; from < n; from += 1000 {
			var list []happening
			for i := from; i < min(from+1000, n); i++ {
				kind := Token
				if k == 0 {
					kind = Arrival
				}
				off := int64(k*n + i)
				list = append(list, happening{id: fmt.Sprint("request-", i), kind: kind, at: 1 + off*1000, timed: true, tokens: -1, off: off})
			}
			all = append(all, pack(list))
		}
	}
	return all
}

// held is the memory of the open requests of all shards.
func (a *Assembler) held() (n int64) {
	for k := range a.shards {
		n += a.shards[k].held()
	}
	return n
}

// textBytes is that of their texts.
func (a *Assembler) textBytes() (n int64) {
	for k := range a.shards {
		n += a.shards[k].texts
	}
	return n
}

// TestSpillMemory: what is held stays within the bound, at both levels of parts.
func TestSpillMemory(t *testing.T) {
	const n, memory = 30_000, 64 << 10
	blocks := manyOpen(n, 4)
	a, w := newTest(0)
	a.Bound(memory, t.TempDir())
	defer a.Close()
	most, deepest, rows := int64(0), 0, 0
	watch := func() bool {
		most = max(most, a.held())
		for k := range a.shards {
			deepest = max(deepest, a.shards[k].spill.level)
		}
		return false
	}
	for _, e := range blocks {
		a.Fold(e)
		watch()
	}
	for more := true; more; {
		more = a.Flush(func() bool { return watch() || w.Builder.Rows() >= 1000 })
		rows += w.Builder.Take(w.Run, "test").Rows
	}
	if rows != n || a.Err() != nil {
		t.Errorf("%d rows of %d: %v", rows, n, a.Err())
	}
	if most > 2*memory || deepest != levels {
		t.Errorf("%d bytes were held, want %d; %d levels", most, memory, deepest)
	}
}

// TestNoScratch: without a directory the oldest requests are given up, each is
// still a row, and a diag counts them.
func TestNoScratch(t *testing.T) {
	const n, memory = 30_000, 1 << 20
	a, w := newTest(0)
	a.Bound(memory, "")
	rows, most := 0, int64(0)
	for _, e := range manyOpen(n, 1) {
		a.Fold(e)
		most = max(most, a.held())
		rows += w.Builder.Take(w.Run, "test").Rows
	}
	given := rows
	a.Flush(func() bool { return false })
	rows += w.Builder.Take(w.Run, "test").Rows
	if rows != n || most > memory {
		t.Errorf("%d rows of %d, %d bytes held", rows, n, most)
	}
	i := slices.IndexFunc(w.Log.All(), func(d diag.Diag) bool { return d.Code == "request_expired" })
	if i < 0 || w.Log.All()[i].Count != int64(given) || given < n-memory/openBytes {
		t.Errorf("%d were given up, diags %+v", given, w.Log.All())
	}
}

// TestLongIDs: ids of a megabyte count as memory, with and without a directory.
func TestLongIDs(t *testing.T) {
	const n = 60
	var blocks []*Events
	for i := range n {
		id := strings.Repeat("x", 1<<20) + fmt.Sprint(i)
		blocks = append(blocks, pack([]happening{{id: id, kind: Arrival, at: int64(i), timed: true, tokens: -1, off: int64(i) << 21}}))
	}
	for _, dir := range []string{"", t.TempDir()} {
		a, w := newTest(0)
		a.Bound(1<<20, dir)
		most := int64(0)
		for _, e := range blocks {
			a.Fold(e)
			most = max(most, a.textBytes())
		}
		for a.Flush(func() bool { most = max(most, a.textBytes()); return false }) {
		}
		if rows := w.Builder.Take(w.Run, "test").Rows; rows != n || most > Shards*(fewTexts+2<<20) || a.Err() != nil {
			t.Errorf("%q: %d rows of %d, %d bytes held, %v", dir, rows, n, most, a.Err())
		}
		a.Close()
	}
}

// TestEndlessRequest: a request with more tokens than there is memory for loses
// its gaps, not its count nor its ends.
func TestEndlessRequest(t *testing.T) {
	const tokens = 1<<16 + 1000
	blocks := manyOpen(1, tokens+1)
	for _, dir := range []string{"", t.TempDir()} {
		rows, diags, a := assembled(t, blocks, func(a *Assembler) { a.Bound(1<<20, dir) })
		want := fmt.Sprintf("last_token=%d ", 1+int64(tokens)*1000)
		if len(rows) != 1 || !strings.Contains(rows[0], want) || !strings.Contains(rows[0], fmt.Sprintf("output_tokens=%d ", tokens)) || strings.Contains(rows[0], "chunk_gaps=") {
			t.Errorf("%.400s", rows)
		}
		if !slices.ContainsFunc(diags, func(d diag.Diag) bool { return d.Code == "gaps_dropped" && d.Count == 1 }) {
			t.Errorf("%+v", diags)
		}
		a.Close()
	}
}

// brokenFile is a temporary file on a disk that is full from size on, that cannot be
// read, or of which one byte reads as another.
type brokenFile struct {
	*os.File
	size   int64
	unread error
	flip   int64 // offset of that byte
	closed *int
}

var errDisk = errors.New("no space left on device")

func (f brokenFile) WriteAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) > f.size {
		return 0, errDisk
	}
	return f.File.WriteAt(p, off)
}

func (f brokenFile) ReadAt(p []byte, off int64) (int, error) {
	if f.unread != nil {
		return 0, f.unread
	}
	n, err := f.File.ReadAt(p, off)
	if i := f.flip - off; f.flip > 0 && i >= 0 && i < int64(n) {
		p[i] ^= 1
	}
	return n, err
}

func (f brokenFile) Close() error {
	*f.closed++
	return errors.Join(f.File.Close(), os.Remove(f.Name()))
}

// TestSpillWithoutDescriptors: a process that may open no more files is told so, not
// to make room.
func TestSpillWithoutDescriptors(t *testing.T) {
	dir := t.TempDir()
	_, _, a := assembled(t, manyOpen(20_000, 3), func(a *Assembler) {
		a.Bound(256<<10, dir)
		for k := range a.shards {
			a.shards[k].spill.file.Create = func(string) (source.File, error) {
				return nil, &os.PathError{Op: "open", Path: dir, Err: syscall.EMFILE}
			}
		}
	})
	var hint interface{ Hint() string }
	if err := a.Err(); !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "ulimit -n") {
		t.Errorf("got %v", err)
	}
	if err := a.Close(); err != nil {
		t.Error(err)
	}
}

// TestSpillFaults: a disk that is full or fails ends the reading with one error
// that names the directory and says what to do; the file goes.
func TestSpillFaults(t *testing.T) {
	blocks := manyOpen(20_000, 3)
	for name, broken := range map[string]brokenFile{
		"full at once": {}, "full": {size: 300_000}, "unreadable": {size: 1 << 40, unread: errDisk},
		"cut off": {size: 1 << 40, unread: io.EOF}, "changed": {size: 1 << 40, flip: 100_000},
	} {
		want := map[string]error{"cut off": source.ErrCut, "changed": source.ErrChanged}[name]
		if want == nil {
			want = errDisk
		}
		dir := t.TempDir()
		created, closed := 0, 0
		broken.closed = &closed
		_, _, a := assembled(t, blocks, func(a *Assembler) {
			a.Bound(256<<10, dir)
			for k := range a.shards {
				a.shards[k].spill.file.Create = func(dir string) (source.File, error) {
					f, err := os.Create(filepath.Join(dir, fmt.Sprint(k)))
					created++
					broken := broken
					broken.File = f
					return broken, err
				}
			}
		})
		err := a.Err()
		var hint interface{ Hint() string }
		if !errors.Is(err, want) || !strings.Contains(err.Error(), dir) || !errors.As(err, &hint) || !strings.Contains(hint.Hint(), "TMPDIR") {
			t.Errorf("%s: %v", name, err)
		}
		if err := a.Close(); err != nil || closed != created || created == 0 {
			t.Errorf("%s: %d files created, %d closed, %v", name, created, closed, err)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%s: %d files are left", name, len(left))
		}
	}
	_, _, a := assembled(t, blocks, func(a *Assembler) { a.Bound(256<<10, "/no/such/directory") })
	if !errors.Is(a.Err(), os.ErrNotExist) {
		t.Errorf("%v", a.Err())
	}
}
