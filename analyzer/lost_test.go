package analyzer

import (
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"servescope/analyzer/dataset"
	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/stat"
	"servescope/analyzer/trace"
	"servescope/analyzer/view"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

var errDisk = errors.New("input/output error")

// lossy is a temporary file whose disk fails when it is read.
type lossy struct{ dataset.Spill }

func (lossy) Read([]byte, int64) error { return errDisk }

// spilling opens a log whose columns go to a temporary file.
func spilling(t *testing.T, set *formats.Set, text string) *Session {
	t.Helper()
	path := filepath.Join(t.TempDir(), "x.jsonl")
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	in, err := source.Expand([]string{path}, nil, formats.Options{Scratch: dir})
	if err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), set, in, "", load.Options{Workers: 2, Memory: 1, Scratch: dir})
	if err != nil {
		t.Fatal(err)
	}
	s.in.BatchRows = 50
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s
}

// TestLostColumns answers nothing at all when the columns of requests cannot be read
// back, or are not those that were written.
func TestLostColumns(t *testing.T) {
	for _, want := range []error{errDisk, dataset.ErrUnpack} {
		for name, ask := range map[string]func(s *Session) (any, error){
			"report": func(s *Session) (any, error) {
				r, err := s.Run(t.Context(), queryOf(t, "by=tenant"))
				return r != nil, err
			},
			"definitions": func(s *Session) (any, error) {
				d, err := s.Define(t.Context(), new(query.Query), nil)
				return d != nil, err
			},
			"rows": func(s *Session) (any, error) {
				return false, s.Rows(t.Context(), new(query.Query), false, func(*trace.Batch) error { return nil })
			},
			"view": func(s *Session) (any, error) {
				c, err := s.View(t.Context(), new(query.Query), view.Viewport{Kind: "columns", Columns: []string{"ttft"}})
				return c != nil, err
			},
		} {
			s := spilling(t, all.Set(), requestLines(rand.New(rand.NewPCG(1, 2)), 400))
			rep, err := s.Run(t.Context(), new(query.Query))
			if err != nil || rep.Runs[0].Requests.Total != 400 || !s.set.Store.Full {
				t.Fatalf("%v, spilled %v", err, s.set.Store.Full)
			}
			if want == errDisk {
				s.set.Store.Spill = lossy{s.set.Store.Spill}
			} else {
				s.set.Requests[0].Length-- // as if less had been written
				off, err := s.set.Store.Spill.Append(make([]byte, s.set.Requests[0].Length))
				if s.set.Requests[0].Offset = off; err != nil {
					t.Fatal(err)
				}
			}
			for range 2 { // nor does it later
				if got, err := ask(s); !errors.Is(err, want) || got != false {
					t.Errorf("%s: an answer: %v, error %v, want %v", name, got, err, want)
				}
			}
		}
	}
}

// digests is a kernel whose state keeps numbers in a digest that is in the store.
type digests struct{ sums }

type digestState struct {
	kernel.State
	facts  *kernel.Facts
	digest *stat.Digest
}

func (d digests) New(q *query.Query, f *kernel.Facts) kernel.State {
	return &digestState{d.sums.New(q, f), f, stat.NewDigest([]float64{0.5}, stat.DefaultLimit)}
}

func (d *digestState) Update(v *kernel.View) {
	d.digest.Add([]int64{1, 2, 3})
	d.digest.Pack(d.facts.Store)
	d.State.Update(v)
}

func (d *digestState) Merge(o kernel.State) error {
	d.digest.Merge(o.(*digestState).digest)
	return d.State.Merge(o.(*digestState).State)
}

func (d *digestState) Finish(out kernel.Output) {

	d.digest.Quantile(metric.Default.Quantile, 0.5)
	d.State.Finish(out)
}

// TestLostStates reports nothing that was made of values which states had stored and
// which cannot be read back: zeros stand in for them.
func TestLostStates(t *testing.T) {
	s := spilling(t, formats.NewSet(tiny), strings.Repeat("tiny m a 5 1 1,2\n", 9))
	e := tinyEngine()
	e.Kernels = []kernel.Kernel{digests{}}
	if r, err := s.run(t.Context(), new(query.Query), e); err != nil || r.Runs[0].Requests.Total != 9 {
		t.Fatal(err)
	}
	whole := s.fold.Spilled.Spill
	s.fold.Spilled.Spill = lossy{whole}
	for _, flags := range [][]string{nil, {"by=tenant"}} {
		if r, err := s.run(t.Context(), queryOf(t, flags...), e); !errors.Is(err, errDisk) || r != nil {
			t.Errorf("%v: %v", flags, err)
		}
	}
	s.fold.Spilled.Spill = whole // the states of one question are not those of the next
	if r, err := s.run(t.Context(), new(query.Query), e); err != nil || r.Runs[0].Requests.Total != 9 {
		t.Error(err)
	}
}
