package formatstest

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
)

// errBroken marks a broken promise of a reader, as opposed to an error that a
// reader may return.
var errBroken = errors.New("broken promise")

func broken(format string, args ...any) error {
	return fmt.Errorf("%w: "+format, append([]any{errBroken}, args...)...)
}

// options are those of most variants.
func options() formats.Options {
	return formats.Options{Workers: 1, Memory: 64 << 20, Now: time.Unix(1772355600, 0).UTC(), Lists: true}
}

// read reads the ranges of src one after the other as one result. The error is
// that of opening or reading, or errBroken.
func read(f *formats.Format, src formats.Source, opt formats.Options, ranges ...formats.Range) (*result, error) {
	watched := &watched{Source: src}
	res := new(result)
	for _, rng := range ranges {
		if err := res.readRange(f, watched, opt, rng); err != nil {
			return res, err
		}
	}
	if n := watched.open.Load(); n != 0 {
		return res, broken("%d readers of the source are still open after Close", n)
	}
	return res, nil
}

// readWhole reads all of src.
func readWhole(f *formats.Format, src formats.Source, opt formats.Options) (*result, error) {
	return read(f, src, opt, formats.Whole)
}

func (res *result) readRange(f *formats.Format, src formats.Source, opt formats.Options, rng formats.Range) error {
	r, err := f.Open(context.Background(), src, rng, opt)
	if err != nil {
		if r != nil {
			return broken("Open returns a reader and an error")
		}
		return err
	}
	defer r.Close()
	used := make(map[int64]string) // runs of batches, as they were then
	for r.Next() {
		b := r.Batch()
		if err := Check(b); err != nil {
			return broken("%w", err)
		}
		if b.File != src.Name() {
			return broken("a batch of %s says it is of %s", src.Name(), b.File)
		}
		res.rows = dumpRows(res.rows, b)
		used[b.Run.Key] = b.Run.Format
	}
	if r.Next() {
		return broken("Next is true again after it was false")
	}
	if err := r.Err(); err != nil {
		return err
	}
	if err := res.addRuns(f, r.Runs(), used); err != nil {
		return err
	}
	for _, d := range r.Diags().All() {
		if d.File != src.Name() || d.Code == "" || d.Msg == "" || d.Count <= 0 || d.Offset < -1 {
			return broken("diag without code, message, count or file: %+v", d)
		}
	}
	res.diags.Merge(r.Diags())
	a := r.Account()
	if a.Total != a.Parsed+a.Diagnosed+a.Noise || min(a.Parsed, a.Diagnosed, a.Noise) < 0 {
		return broken("the account does not add up: %+v", a)
	}
	res.account.Total += a.Total
	res.account.Parsed += a.Parsed
	res.account.Diagnosed += a.Diagnosed
	res.account.Noise += a.Noise
	for kind, n := range a.Kinds {
		if res.account.Kinds == nil {
			res.account.Kinds = make(map[string]int64)
		}
		res.account.Kinds[kind] += n
	}
	return r.Close()
}

// addRuns adds the runs of a reader, which must include those of its batches.
func (res *result) addRuns(f *formats.Format, runs []*trace.RunMeta, used map[int64]string) error {
	last := int64(math.MinInt64)
	for _, m := range runs {
		if m.Key <= last {
			return broken("runs are not in order: %d after %d", m.Key, last)
		}
		last = m.Key
		delete(used, m.Key)
		if m.Format != f.Name {
			return broken("run %d is of format %q, want %q", m.Key, m.Format, f.Name)
		}
		for _, p := range m.Reported {
			if math.IsNaN(p.Value) || math.IsInf(p.Value, 0) {
				return broken("run %d reports %s = %v", m.Key, p.Key, p.Value)
			}
		}
		if !slices.ContainsFunc(res.runs, func(old *trace.RunMeta) bool { return old.Key == m.Key }) {
			res.runs = append(res.runs, m)
		}
	}
	if len(used) > 0 {
		return broken("batches are of runs that Runs does not list: %v", used)
	}
	return nil
}

// watched counts the readers that are open.
type watched struct {
	formats.Source
	open atomic.Int64
}

func (w *watched) Open(off int64) (io.ReadCloser, error) {
	r, err := w.Source.Open(off)
	if err != nil {
		return nil, err
	}
	w.open.Add(1)
	return &watchedReader{ReadCloser: r, w: w}, nil
}

type watchedReader struct {
	io.ReadCloser
	w      *watched
	closed atomic.Bool
}

func (r *watchedReader) Close() error {
	if !r.closed.Swap(true) {
		r.w.open.Add(-1)
	}
	return r.ReadCloser.Close()
}

// stream is a source that can only be read from its start, through wrap.
type stream struct {
	formats.Source
	wrap func(io.Reader) io.Reader
}

func (s stream) At() io.ReaderAt { return nil }
func (s stream) Size() int64     { return -1 }

func (s stream) Open(off int64) (io.ReadCloser, error) {
	if off != 0 {
		return nil, errors.New("a stream opens at its start only")
	}
	r, err := s.Source.Open(0)
	if err != nil {
		return nil, err
	}
	return struct {
		io.Reader
		io.Closer
	}{s.wrap(r), r}, nil
}

// failing is a source with random access that cannot be read beyond limit.
type failing struct {
	formats.Source
	limit int64
}

var errDisk = errors.New("the disk is on fire")

func (s failing) At() io.ReaderAt { return s }

func (s failing) ReadAt(p []byte, off int64) (int, error) {
	if off+int64(len(p)) <= s.limit {
		return s.Source.At().ReadAt(p, off)
	}
	n := 0
	if off < s.limit {
		n, _ = s.Source.At().ReadAt(p[:s.limit-off], off)
	}
	return n, errDisk
}

func (s failing) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(s, off, s.Size()-off)), nil
}

// firstDifference returns the first line in which two dumps differ.
func firstDifference(got, want string) string {
	g, w := strings.Split(got, "\n"), strings.Split(want, "\n")
	for i := range max(len(g), len(w)) {
		a, b := "(nothing)", "(nothing)"
		if i < len(g) {
			a = g[i]
		}
		if i < len(w) {
			b = w[i]
		}
		if a != b {
			return fmt.Sprintf("line %d\n got %.1000s\nwant %.1000s", i+1, a, b)
		}
	}
	return "no difference"
}
