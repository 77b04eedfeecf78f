package analyzer

import (
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// faultySource fails at a byte offset, or blocks there until released.
type faultySource struct {
	formats.Source
	at    int64
	block chan struct{}
}

func (s *faultySource) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(&faultyReader{s: s, off: off}), nil
}

type faultyReader struct {
	s   *faultySource
	off int64
}

func (r *faultyReader) Read(p []byte) (int, error) {
	n := min(int64(len(p)), 100)
	if r.off+n > r.s.at {
		if r.s.block == nil {
			return 0, errors.New("input/output error")
		}
		<-r.s.block
	}
	got, err := r.s.Source.At().ReadAt(p[:n], r.off)
	r.off += int64(got)
	return got, err
}

func TestReadErrors(t *testing.T) {
	before := runtime.NumGoroutine()
	text := randomText(rand.New(rand.NewPCG(1, 1)), 200, "m")
	in := inputsOf(textFile{"good", "", text}, textFile{"bad", "", "tiny m a 1 1 1\n" + text})
	in.List[1].Source = &faultySource{Source: in.List[1].Source, at: 3000}
	s, err := Open(t.Context(), formats.NewSet(tiny), in, "tiny", load.Options{Workers: 3})
	if err != nil {
		t.Fatal(err)
	}
	s.in.RangeSize = 700
	for range 2 { // the session stays usable
		if _, err := s.run(t.Context(), new(query.Query), tinyEngine()); err == nil || err.Error() != "bad: input/output error" {
			t.Errorf("got %v", err)
		}
	}
	leaked(t, before)
}

// leaked fails if more goroutines run than before, after a moment.
func leaked(t *testing.T, before int) {
	t.Helper()
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}

func TestCancel(t *testing.T) {
	before := runtime.NumGoroutine()
	text := strings.Repeat("tiny m a 1 1 1\n", 1000)
	ctx, cancel := context.WithCancel(t.Context())
	s := openTest(t, load.Options{Workers: 2, Progress: func(int64, int64) { cancel() }}, 500, textFile{"x", "", text})
	if _, err := s.run(ctx, new(query.Query), tinyEngine()); !errors.Is(err, context.Canceled) {
		t.Errorf("while reading: %v", err)
	}
	s = openTest(t, load.Options{Workers: 2}, 500, textFile{"x", "", text})
	runTest(t, s, new(query.Query))
	if _, err := s.run(ctx, new(query.Query), tinyEngine()); !errors.Is(err, context.Canceled) {
		t.Errorf("over resident rows: %v", err)
	}
	if err := s.Rows(ctx, new(query.Query), true, func(*trace.Batch) error { return nil }); !errors.Is(err, context.Canceled) {
		t.Errorf("rows: %v", err)
	}
	stop := errors.New("enough")
	if err := s.Rows(t.Context(), new(query.Query), true, func(*trace.Batch) error { return stop }); err != stop {
		t.Errorf("rows that are refused: %v", err)
	}
	leaked(t, before)
}

func TestProgress(t *testing.T) {
	text := strings.Repeat("tiny m a 1 1 1\n", 1000)
	var last, calls int64
	s := openTest(t, load.Options{Workers: 3, Progress: func(done, total int64) {
		if done < last || total != 2*int64(len(text)) {
			t.Errorf("%d of %d after %d", done, total, last)
		}
		last = done
		calls++
	}}, 0, textFile{"x", "", text}, textFile{"y", "", text})
	runTest(t, s, new(query.Query))
	if last != 2*int64(len(text)) || calls < 2 {
		t.Errorf("ends at %d after %d calls", last, calls)
	}
}

// pipe is a source that neither knows its size nor can be read from the middle.
type pipe struct{ formats.Source }

func (pipe) Size() int64     { return -1 }
func (pipe) At() io.ReaderAt { return nil }

func TestSourceWithoutSize(t *testing.T) {
	text := strings.Repeat("tiny m a 1 1 1\n", 50)
	in := inputsOf(textFile{"x", "", text})
	in.List[0].Source = pipe{in.List[0].Source}
	opt := load.Options{Workers: 2, Memory: 1, Progress: func(_, total int64) {
		if total != -1 {
			t.Errorf("total %d", total)
		}
	}}
	s, err := Open(t.Context(), formats.NewSet(tiny), in, "", opt)
	if err != nil {
		t.Fatal(err)
	}
	for range 2 {
		r := runTest(t, s, new(query.Query))
		if r.Inputs[0].Bytes != int64(len(text)) || r.Runs[0].Requests.Total != 50 {
			t.Errorf("%d bytes, %d requests", r.Inputs[0].Bytes, r.Runs[0].Requests.Total)
		}
	}
}

// changingSource is a source whose text can be exchanged.
type changingSource struct {
	formats.Source
	text string
}

func (s *changingSource) At() io.ReaderAt { return nil }

func (s *changingSource) Open(int64) (io.ReadCloser, error) {
	return io.NopCloser(strings.NewReader(s.text)), nil
}

// TestInputChanges refuses to answer from an input that has more or fewer rows
// when it is read again.
func TestInputChanges(t *testing.T) {
	line := "tiny m a 5 1 1,2\n"
	text := strings.Repeat(line, 50)
	for _, again := range []string{strings.Repeat(line, 20), text + line, ""} {
		for _, flags := range [][]string{nil, {"by=tenant"}} {
			in := inputsOf(textFile{"x", "", text})
			src := &changingSource{in.List[0].Source, text}
			in.List[0].Source = src
			s, err := Open(t.Context(), formats.NewSet(tiny), in, "tiny", load.Options{Workers: 2, Memory: 1})
			if err != nil {
				t.Fatal(err)
			}
			runTest(t, s, queryOf(t, flags...))
			src.text = again
			if _, err := s.run(t.Context(), queryOf(t, flags...), tinyEngine()); !errors.Is(err, dataset.ErrChanged) {
				t.Errorf("%v: %d bytes, then %d: %v", flags, len(text), len(again), err)
			}
			if err := s.Rows(t.Context(), queryOf(t, flags...), true, func(*trace.Batch) error { return nil }); !errors.Is(err, dataset.ErrChanged) {
				t.Errorf("%v: rows of %d bytes, then %d: %v", flags, len(text), len(again), err)
			}
			s.Close()
		}
	}
}

// TestInputRewrittenAtFirst says of a file that is written over during its first
// reading that it was, and nothing of one that is appended to.
func TestInputRewrittenAtFirst(t *testing.T) {
	text := strings.Repeat("tiny m a 5 1 1,2\n", 50)
	path := filepath.Join(t.TempDir(), "x.log")
	begin := time.Unix(1_764_428_000, 0)
	for during, said := range map[string]bool{strings.ReplaceAll(text, "1,2", "1,3"): true, text + text: false} {
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o666), os.Chtimes(path, begin, begin)); err != nil {
			t.Fatal(err)
		}
		in, err := source.Expand([]string{path}, nil, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		write := sync.OnceFunc(func() {
			if err := os.WriteFile(path, []byte(during), 0o666); err != nil {
				t.Error(err)
			}
		})
		s, err := Open(t.Context(), formats.NewSet(tiny), in, "tiny", load.Options{Progress: func(int64, int64) { write() }})
		if err != nil {
			t.Fatal(err)
		}
		r := runTest(t, s, new(query.Query))
		s.Close()
		if got := slices.ContainsFunc(r.Diags, func(d diag.Diag) bool { return d.Code == "file_rewritten" }); got != said {
			t.Errorf("%d bytes instead of %d: said %v, diags %v", len(during), len(text), got, r.Diags)
		}
	}
}

// TestInputRewritten refuses to answer from a file that was written over between
// two readings, with as many rows and bytes as before, and takes no offence at one
// that has grown.
func TestInputRewritten(t *testing.T) {
	text := strings.Repeat("tiny m a 5 1 1,2\n", 50)
	path := filepath.Join(t.TempDir(), "x.log")
	write := func(text string, at time.Time) {
		t.Helper()
		if err := errors.Join(os.WriteFile(path, []byte(text), 0o666), os.Chtimes(path, at, at)); err != nil {
			t.Fatal(err)
		}
	}
	begin := time.Unix(1_764_428_000, 0)
	for _, c := range []struct {
		text    string
		at      time.Time
		refused bool
	}{{strings.ReplaceAll(text, "1,2", "1,3"), begin.Add(time.Second), true}, {text + text, begin.Add(time.Second), false}, {text, begin, false}} {
		write(text, begin)
		in, err := source.Expand([]string{path}, nil, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := Open(t.Context(), formats.NewSet(tiny), in, "tiny", load.Options{Workers: 2, Memory: 1})
		if err != nil {
			t.Fatal(err)
		}
		runTest(t, s, new(query.Query))
		write(c.text, c.at)
		if _, err := s.run(t.Context(), new(query.Query), tinyEngine()); errors.Is(err, dataset.ErrChanged) != c.refused {
			t.Errorf("%d bytes, %v: %v", len(c.text), c.at.Sub(begin), err)
		}
		s.Close()
	}
}
