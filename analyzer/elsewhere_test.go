package analyzer

import (
	"context"
	"errors"
	"math/rand/v2"
	"runtime"
	"strings"
	"sync"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/fold"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// places are places of which each has Folders of its own, as those have that share no
// memory with the session. The bytes of a part count as read when it is opened: who waits
// for a number of bytes comes by it, whoever reads how much of the input.
type places struct {
	n int

	mu      sync.Mutex
	folders map[*load.RemoteFold][]*fold.Folder
	folded  int // rows
	ended   int // folds
	short   bool
}

func newPlaces(n int) *places {
	return &places{n: n, folders: make(map[*load.RemoteFold][]*fold.Folder)}
}

func (p *places) Readers() int { return 2 * p.n }

func (p *places) Takes(f *formats.Format, in formats.Source) bool {
	return f != nil && f.Shape == formats.Records && in.Size() >= 0
}

// farReader is a reader of a place.
type farReader struct {
	formats.Reader
	p      *places
	folder *fold.Folder
	part   *load.RemoteJob
	folded bool
}

func (p *places) Open(ctx context.Context, reader int, part *load.RemoteJob) (formats.Reader, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	r := &farReader{p: p, part: part}
	if part.Fold != nil {
		if p.folders[part.Fold] == nil {
			p.folders[part.Fold] = make([]*fold.Folder, p.n)
		}
		own := &p.folders[part.Fold][reader%p.n]
		if *own == nil {
			var err error
			q := *part.Fold.Query
			if *own, err = NewFolder(&q); err != nil {
				return nil, err
			}
		}
		r.folder = *own
	}
	n := part.Range.To - part.Range.From
	if part.Range.To < 0 {
		n = part.Source.Size() - part.Range.From
	}
	if err := part.Read(int(n)); err != nil {
		return nil, err
	}
	var err error
	r.Reader, err = part.Format.Open(ctx, part.Source, part.Range, part.Options)
	return r, err
}

func (r *farReader) Next() bool {
	ok := r.Reader.Next()
	r.folded = ok && r.folder != nil && r.folder.Fold(r.Reader.Batch(), r.part.Source, r.part.Label, r.part.Slot)
	if r.folded {
		r.p.mu.Lock()
		defer r.p.mu.Unlock()
		r.p.folded += r.Reader.Batch().Rows
	}
	return ok
}

func (r *farReader) Folded() bool { return r.folded }

func (r *farReader) Batch() *trace.Batch {
	if b := r.Reader.Batch(); r.folded && r.part.Bare {
		return b.WithLists(trace.ChunkGaps, trace.Lists{}).WithLists(trace.ChunkTokens, trace.Lists{})
	}
	return r.Reader.Batch()
}

func (r *farReader) Diags() *diag.Log { return r.Reader.Diags() }

func (p *places) States(ctx context.Context, f *load.RemoteFold) (out [][]byte, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, folder := range p.folders[f] {
		if folder != nil {
			out = append(out, folder.States(nil))
		}
	}
	delete(p.folders, f)
	if p.ended++; p.short && len(out) > 0 {
		out[0] = out[0][:len(out[0])-1]
	}
	return out, ctx.Err()
}

// TestElsewhere holds reports and rows of what is read and folded in several places
// to those of one, whatever the cuts and the memory.
func TestElsewhere(t *testing.T) {
	r := rand.New(rand.NewPCG(6, 2))
	queries := []*query.Query{{}, queryOf(t, "window=1s"), queryOf(t, "filter=output_tokens > 2", "by=model"), queryOf(t, "trim=warmup=3")}
	lists := [][]textFile{{
		{"a.jsonl", "", requestLines(r, 400)},
		{"b.jsonl", "two", requestLines(r, 150)},
		{"c.jsonl", "two", requestLines(r, 60) + "{\"request_id\": broken\n"},
	}}
	for _, in := range fixtures(t) {
		s, err := openAll(t, load.Options{}, in)
		if err != nil {
			continue
		}
		if f := s.Formats()[0]; f != nil && f.Shape == formats.Records && !strings.HasSuffix(in.name, ".gz") {
			lists = append(lists, []textFile{in})
		}
		s.Close()
	}
	if len(lists) < 5 {
		t.Fatalf("%d fixtures of records", len(lists))
	}
	folded := 0
	for n, list := range lists {
		if n == 1 {
			queries = queries[:1] // of the fixtures, of which there are many
		}
		for _, q := range queries {
			var want string
			for round := range 3 {
				p := newPlaces(1 + r.IntN(3))
				opt := load.Options{Remote: p, Workers: 1 + r.IntN(2), Block: 1 + r.IntN(9000)}
				if round == 0 {
					opt = load.Options{}
				}
				if round == 2 {
					opt.Memory = 1 // no lists are kept: they are read again
				}
				s, err := openAll(t, opt, list...)
				if err != nil {
					t.Fatal(err)
				}
				s.in.RangeSize, s.in.BatchRows = 1+r.Int64N(int64(len(list[0].text)+100)), 1+r.IntN(20)
				rep, err := s.Run(t.Context(), q)
				if err != nil {
					t.Fatalf("%s: %v", list[0].name, err)
				}
				got := jsonOf(t, rep) + exported(t, s, q)
				s.Close()
				if round == 0 {
					want = got
				}
				if got != want {
					t.Fatalf("%s, %+v, cut %d: %s", list[0].name, opt, s.in.RangeSize, firstDifference(got, want))
				}
				if len(p.folders) > 0 {
					t.Errorf("%d folds have not been ended", len(p.folders))
				}
				folded += p.folded
			}
		}
	}
	if folded < 1000 && runtime.GOOS != "js" { // there the session's own reader has the only thread
		t.Errorf("%d rows were folded elsewhere", folded)
	}
}

// TestElsewhereFails: a fold ends also when it fails, and states that are cut short
// are an error.
func TestElsewhereFails(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("on one thread the session's own reader has read all before a place is asked")
	}
	in := textFile{"a.jsonl", "", requestLines(rand.New(rand.NewPCG(1, 1)), 300)}
	p := newPlaces(2)
	p.short = true
	s, err := openAll(t, load.Options{Remote: p}, in)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.in.RangeSize = 2000
	if _, err := s.Run(t.Context(), new(query.Query)); !errors.Is(err, fold.ErrStates) && (err == nil || !strings.Contains(err.Error(), "kernel")) {
		t.Errorf("states that are cut short: %v", err)
	}
	ctx, cancel := context.WithCancel(t.Context())
	p = newPlaces(1)
	again, err := openAll(t, load.Options{Remote: p, Progress: func(done, _ int64) {
		if done > 20_000 {
			cancel()
		}
	}}, in)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	again.in.RangeSize = 2000
	if _, err := again.Run(ctx, new(query.Query)); !errors.Is(err, context.Canceled) || p.ended != 1 || len(p.folders) > 0 {
		t.Errorf("a query that is given up: %v; %d folds ended, %d go on", err, p.ended, len(p.folders))
	}
	if _, err := NewFolder(queryOf(t, "by=model")); err == nil {
		t.Error("a grouped query is folded elsewhere")
	}
}
