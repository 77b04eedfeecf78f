package tokenlog

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// row is what a request of a generated log says.
type row struct {
	id                      string
	offset, first, finished int64
	status                  int32
	gaps                    []int64
}

// requestsOf reads an event log to its end and returns its rows in the order of
// their offsets.
func requestsOf(t *testing.T, text []byte, opt formats.Options) (rows []row, diags []diag.Diag, account formats.Account) {
	t.Helper()
	opt.Lists = true
	r, err := Events.Open(context.Background(), source.FromBytes("log", text), formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			id, _ := b.Texts(trace.RequestID).At(i)
			q := row{id: string(id)}
			q.offset, _ = b.Ints(trace.Offset).At(i)
			q.first, _ = b.Ints(trace.FirstToken).At(i)
			q.finished, _ = b.Ints(trace.Finished).At(i)
			q.status, _ = b.Dicts(trace.StatusCol).At(i)
			gaps, _ := b.Lists(trace.ChunkGaps).At(i)
			q.gaps = slices.Clone(gaps)
			rows = append(rows, q)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	slices.SortFunc(rows, func(a, b row) int { return cmp.Compare(a.offset, b.offset) })
	return rows, r.Diags().All(), r.Account()
}

// TestScratch: with any memory, workers and cut a log has the same rows.
func TestScratch(t *testing.T) {
	var text bytes.Buffer
	shapes.Events(&text, shapes.Config{Seed: 5, Count: 3000, Tokens: 12, Open: 2000})
	cut := text.Bytes()[text.Len()/8 : text.Len()*7/8] // some begin, some end outside
	rows, diags, account := requestsOf(t, cut, formats.Options{})
	if len(rows) < 2000 || account.Total != account.Parsed+account.Diagnosed {
		t.Fatalf("%d rows, %+v", len(rows), account)
	}
	r := rand.New(rand.NewPCG(1, 9))
	for range 8 {
		dir := t.TempDir()
		opt := formats.Options{Memory: 1 << (12 + r.IntN(9)), Scratch: dir, Workers: 1 + r.IntN(3), Block: 1 << (10 + r.IntN(8))}
		got, other, a := requestsOf(t, cut, opt)
		if !reflect.DeepEqual(got, rows) || !slices.Equal(other, diags) || !reflect.DeepEqual(a, account) {
			t.Errorf("%+v: %d rows, want %d; diags %+v, want %+v; %+v, want %+v", opt, len(got), len(rows), other, diags, a, account)
		}
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files are left", len(left))
		}
	}
}

// TestScratchFails: no directory to write to is one error that says what to do.
func TestScratchFails(t *testing.T) {
	var text bytes.Buffer
	shapes.Events(&text, shapes.Config{Seed: 5, Count: 3000, Tokens: 12, Open: 2000})
	r, err := Events.Open(context.Background(), source.FromBytes("log", text.Bytes()), formats.Whole,
		formats.Options{Memory: 1 << 16, Scratch: "/no/such/place", Workers: 2})
	if err != nil {
		t.Fatal(err)
	}
	for r.Next() {
	}
	if r.Err() == nil || !strings.Contains(r.Err().Error(), "/no/such/place") || r.Next() {
		t.Errorf("%v", r.Err())
	}
	if err := r.Close(); err != nil {
		t.Error(err)
	}
}

// TestCancelled: a reader that is given up, before or after its context, ends its
// goroutines and its temporary file.
func TestCancelled(t *testing.T) {
	before := runtime.NumGoroutine()
	var text bytes.Buffer
	shapes.Events(&text, shapes.Config{Seed: 5, Count: 12000, Tokens: 12, Open: 2000})
	for batches := range 4 {
		dir := t.TempDir()
		ctx, cancel := context.WithCancel(context.Background())
		r, err := Events.Open(ctx, source.FromBytes("log", text.Bytes()), formats.Whole,
			formats.Options{Memory: 1 << 17, Scratch: dir, Workers: 3, Lists: true, Block: 4096})
		if err != nil {
			t.Fatal(err)
		}
		for range batches {
			r.Next()
		}
		if batches%2 == 0 {
			cancel()
			for r.Next() {
			}
			if batches == 0 && r.Err() == nil {
				t.Error("no error")
			}
		}
		if err := r.Close(); err != nil {
			t.Error(err)
		}
		cancel()
		if left, _ := os.ReadDir(dir); len(left) > 0 {
			t.Errorf("%d files are left", len(left))
		}
	}
	for range 200 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(5 * time.Millisecond)
	}
	t.Error(fmt.Sprint(runtime.NumGoroutine(), " goroutines, ", before, " before"))
}
