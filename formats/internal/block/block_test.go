package block

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/formats"
)

// testSource is a formats.Source over text. random says whether it has At, size what
// it claims as its size, fault where reading fails.
type testSource struct {
	text   string
	random bool
	size   int64
	fault  int64
}

var errFault = errors.New("fault")

func (s *testSource) Name() string       { return "test" }
func (s *testSource) Size() int64        { return s.size }
func (s *testSource) ModTime() time.Time { return time.Time{} }
func (s *testSource) Open(off int64) (io.ReadCloser, error) {
	if off != 0 {
		return nil, errors.New("not seekable")
	}
	if s.fault > 0 {
		return io.NopCloser(io.MultiReader(strings.NewReader(s.text[:s.fault]), faulty{})), nil
	}
	return io.NopCloser(strings.NewReader(s.text)), nil
}
func (s *testSource) At() io.ReaderAt {
	if !s.random {
		return nil
	}
	return s
}
func (s *testSource) ReadAt(p []byte, off int64) (int, error) {
	if s.fault > 0 && off+int64(len(p)) > s.fault {
		return 0, errFault
	}
	return strings.NewReader(s.text).ReadAt(p, off)
}

type faulty struct{}

func (faulty) Read([]byte) (int, error) { return 0, errFault }

// line is one line as a block delivered it, or a skipped one without text.
type line struct {
	off  int64
	text string
}

// read returns the lines of a range in the order of delivery.
func read(t *testing.T, src formats.Source, rng formats.Range, opt Options) ([]line, *Stream[*[]line]) {
	t.Helper()
	s := Map(context.Background(), src, rng, opt, func() *[]line { return new([]line) }, scan)
	defer s.Close()
	var all []line
	for s.Next() {
		all = append(all, *s.Value()...)
		if b := s.Block(); b.TooLong >= 0 {
			all = append(all, line{b.TooLong, ""})
		}
	}
	return all, s
}

// scan takes a block apart and checks its padding.
func scan(b *Block, to *[]line) {
	*to = (*to)[:0]
	off := b.Off
	for part := range strings.Lines(string(b.Data)) {
		*to = append(*to, line{off, part})
		off += int64(len(part))
	}
	if strings.Trim(string(b.Data[len(b.Data):len(b.Data)+Pad]), "\n") != "" {
		panic("no padding")
	}
}

// lines is the reference: the lines of text, those longer than limit without text.
func lines(text string, limit int) []line {
	var all []line
	off := 0
	for part := range strings.Lines(text) {
		l := line{int64(off), part}
		if len(strings.TrimSuffix(part, "\n")) > limit {
			l.text = ""
		}
		all = append(all, l)
		off += len(part)
	}
	return all
}

// differ describes the first difference.
func differ(got, want []line) string {
	for i := range min(len(got), len(want)) {
		if got[i] != want[i] {
			return fmt.Sprintf("line %d is %d %.20q, want %d %.20q", i, got[i].off, got[i].text, want[i].off, want[i].text)
		}
	}
	return fmt.Sprintf("%d lines, want %d", len(got), len(want))
}

func randomText(r *rand.Rand) string {
	var b strings.Builder
	for range r.IntN(60) {
		n := r.IntN(30)
		switch r.IntN(10) {
		case 0:
			n = 0
		case 1:
			n = r.IntN(3000)
		}
		b.WriteString(strings.Repeat(string(rune('a'+r.IntN(26))), n))
		b.WriteByte('\n')
	}
	text := b.String()
	if r.IntN(3) == 0 {
		text = strings.TrimRight(text, "\n")
	}
	return text
}

// TestCutAnywhere reads texts cut into random ranges, with random block sizes
// and numbers of goroutines; the lines must be those of the whole text.
func TestCutAnywhere(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := randomText(r)
		src := &testSource{text: text, random: r.IntN(2) == 0, size: int64(len(text))}
		if r.IntN(4) == 0 {
			src.size = -1
		}
		opt := Options{Workers: 1 + r.IntN(4), Block: 1 + r.IntN(1<<r.IntN(12)), MaxLine: 1 << (4 + r.IntN(10))}
		want := lines(text, opt.MaxLine)
		cuts := []int64{0}
		for range r.IntN(4) {
			cuts = append(cuts, r.Int64N(int64(len(text))+1))
		}
		slices.Sort(cuts)
		var got []line
		for i, from := range cuts {
			to := int64(-1)
			if i+1 < len(cuts) {
				to = cuts[i+1]
			}
			part, s := read(t, src, formats.Range{From: from, To: to}, opt)
			if s.Err() != nil {
				t.Fatal(s.Err())
			}
			got = append(got, part...)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("random %v, options %+v, cuts %v: got %d lines, want %d\n%s", src.random, opt, cuts, len(got), len(want), differ(got, want))
		}
	}
}

func TestLongLineIsSkipped(t *testing.T) {
	text := "a\n" + strings.Repeat("x", 5000) + "\nb\n" + strings.Repeat("y", 1000) + "\n" + strings.Repeat("z", 5001)
	for _, random := range []bool{false, true} {
		for _, workers := range []int{1, 3} {
			src := &testSource{text: text, random: random, size: int64(len(text))}
			got, s := read(t, src, formats.Whole, Options{Workers: workers, Block: 256, MaxLine: 4999})
			want := []line{{0, "a\n"}, {2, ""}, {5003, "b\n"}, {5005, strings.Repeat("y", 1000) + "\n"}, {6006, ""}}
			if !slices.Equal(got, want) {
				t.Errorf("random %v: %s", random, differ(got, want))
			}
			diags := s.Diags().All()
			if len(diags) != 1 || diags[0].Code != "line_too_long" || diags[0].Count != 2 || diags[0].Offset != 2 {
				t.Errorf("%+v", diags)
			}
		}
	}
}

// endless is a line of a gigabyte that nobody holds in memory.
type endless struct{ *testSource }

const gigabyte = 1 << 30

func (endless) Size() int64 { return gigabyte }
func (e endless) At() io.ReaderAt {
	if e.random {
		return e
	}
	return nil
}
func (endless) ReadAt(p []byte, off int64) (int, error) {
	n := int(min(int64(len(p)), max(gigabyte-off, 0)))
	for i := range p[:n] {
		p[i] = 'x'
	}
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}
func (e endless) Open(int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(e, 0, gigabyte)), nil
}

// TestGigabyteLine bounds what is allocated for a line of a gigabyte.
func TestGigabyteLine(t *testing.T) {
	if testing.Short() {
		t.Skip("reads 2 GB")
	}
	for _, random := range []bool{false, true} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		got, s := read(t, endless{&testSource{random: random}}, formats.Whole, Options{Workers: 2, MaxLine: 8 << 20})
		runtime.ReadMemStats(&after)
		if s.Err() != nil || !slices.Equal(got, []line{{0, ""}}) {
			t.Errorf("error %v, %d lines", s.Err(), len(got))
		}
		if n := after.TotalAlloc - before.TotalAlloc; n > 64<<20 {
			t.Errorf("random %v: %d MiB allocated", random, n>>20)
		}
	}
}

func TestShrunkFile(t *testing.T) {
	src := &testSource{text: "one\ntwo\nthr", random: true, size: 4000}
	for _, block := range []int{2, 5, 1000} {
		got, s := read(t, src, formats.Whole, Options{Workers: 2, Block: block})
		if want := lines(src.text, 100); !slices.Equal(got, want) {
			t.Errorf("block %d: %s", block, differ(got, want))
		}
		if s.Err() != nil {
			t.Errorf("block %d: %v", block, s.Err())
		}
	}
}

func TestGrowingFile(t *testing.T) {
	src := &testSource{text: "one\ntwo\nthree\n", random: true, size: 6}
	got, s := read(t, src, formats.Whole, Options{Block: 4})
	if want := []line{{0, "one\n"}, {4, "tw"}}; !slices.Equal(got, want) || len(s.Diags().All()) != 0 {
		t.Errorf("what was appended later was read: %v", got)
	}
}

// TestFault expects everything before a read error, then the error.
func TestFault(t *testing.T) {
	text := strings.Repeat("line\n", 100)
	for _, random := range []bool{false, true} {
		for _, workers := range []int{1, 3} {
			src := &testSource{text: text, random: random, size: 500, fault: 300}
			got, s := read(t, src, formats.Whole, Options{Workers: workers, Block: 50})
			if !errors.Is(s.Err(), errFault) || len(got) < 50 || !slices.Equal(got, lines(text, 100)[:len(got)]) {
				t.Errorf("random %v: %d lines, error %v", random, len(got), s.Err())
			}
		}
	}
}

// TestCancel stops in the middle, by the context and by Close, and counts
// goroutines.
func TestCancel(t *testing.T) {
	text := strings.Repeat("line\n", 100_000)
	before := runtime.NumGoroutine()
	for _, random := range []bool{false, true} {
		for _, workers := range []int{1, 4} {
			ctx, cancel := context.WithCancel(context.Background())
			src := &testSource{text: text, random: random, size: int64(len(text))}
			s := Map(ctx, src, formats.Whole, Options{Workers: workers, Block: 100}, func() *[]line { return new([]line) }, scan)
			if !s.Next() {
				t.Fatal("nothing read")
			}
			cancel()
			if s.Next() || !errors.Is(s.Err(), context.Canceled) {
				t.Errorf("after cancel: %v", s.Err())
			}
			s.Close()
			s = Map(context.Background(), src, formats.Whole, Options{Workers: workers, Block: 100}, func() *[]line { return new([]line) }, scan)
			s.Next()
			if s.Close(); s.Next() {
				t.Error("went on after Close")
			}
		}
	}
	for i := 0; runtime.NumGoroutine() > before; i++ {
		if time.Sleep(time.Millisecond); i == 1000 {
			t.Fatalf("%d goroutines, before %d", runtime.NumGoroutine(), before)
		}
	}
}

// TestLongLinesWait has every block need a large buffer: none may wait for ever.
func TestLongLinesWait(t *testing.T) {
	text := strings.Repeat(strings.Repeat("x", 200_000)+"\n", 50)
	for _, random := range []bool{false, true} {
		src := &testSource{text: text, random: random, size: int64(len(text))}
		if got, s := read(t, src, formats.Whole, Options{Workers: 4, Block: 64}); len(got) != 50 || s.Err() != nil {
			t.Errorf("random %v: %d lines, %v", random, len(got), s.Err())
		}
	}
}

func BenchmarkMap(b *testing.B) {
	text := strings.Repeat(strings.Repeat("x", 99)+"\n", 1<<18)
	for _, random := range []bool{true, false} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("random=%v/workers=%d", random, workers), func(b *testing.B) {
				src := &testSource{text: text, random: random, size: int64(len(text))}
				b.SetBytes(int64(len(text)))
				b.ReportAllocs()
				for b.Loop() {
					n := 0
					s := Map(context.Background(), src, formats.Whole, Options{Workers: workers},
						func() *int { return new(int) },
						func(b *Block, n *int) { *n = bytes.Count(b.Data, []byte{'\n'}) })
					for s.Next() {
						n += *s.Value()
					}
					s.Close()
					if n != 1<<18 {
						b.Fatal(n)
					}
				}
			})
		}
	}
}

// TestSpare: a stream that is closed hands its values back, but for one that a
// long line has made large.
func TestSpare(t *testing.T) {
	for _, c := range []struct{ length, workers, want int }{{10, 1, 1}, {10, 2, 6}, {1 << 20, 1, 0}} {
		src := &testSource{text: "short\n" + strings.Repeat("x", c.length), random: true, size: -1}
		s := Map(context.Background(), src, formats.Whole, Options{Workers: c.workers, Block: 64}, func() *[]line { return new([]line) }, scan)
		got := 0
		s.Spare = func(*[]line) { got++ }
		if !s.Next() {
			t.Fatal(s.Err())
		}
		if s.Close(); got != c.want {
			t.Errorf("%d bytes, %d workers: %d values come back, want %d", c.length, c.workers, got, c.want)
		}
	}
}

// TestSteps: each step sees every block in file order, behind the step before, and one
// at a time.
func TestSteps(t *testing.T) {
	var text strings.Builder
	for i := range 5000 {
		fmt.Fprintf(&text, "line %d\n", i)
	}
	src := &testSource{text: text.String(), random: true, size: int64(text.Len())}
	for _, workers := range []int{1, 2, 5} {
		var seen [2]strings.Builder
		step := func(k int) func(*Block, *int) {
			return func(b *Block, state *int) {
				if *state != k+1 {
					t.Errorf("step %d in state %d", k, *state)
				}
				*state++
				seen[k].Write(b.Data)
			}
		}
		scan := func(_ *Block, state *int) { *state = 1 }
		s := Map(context.Background(), src, formats.Whole, Options{Workers: workers, Block: 256}, func() *int { return new(int) }, scan, step(0), step(1))
		for s.Next() {
			if *s.Value() != 3 {
				t.Errorf("a block in state %d", *s.Value())
			}
		}
		if err := cmp.Or(s.Err(), s.Close()); err != nil {
			t.Error(err)
		}
		for k := range seen {
			if seen[k].String() != text.String() {
				t.Errorf("%d workers: step %d saw the blocks in another order", workers, k)
			}
		}
	}
}
