package servebench

import (
	"bytes"
	"context"
	"errors"
	"io"
	"math/rand/v2"
	"strings"
	"sync/atomic"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// changing is a source whose bytes are others once changed is set.
type changing struct {
	formats.Source
	now, later []byte
	changed    atomic.Bool
}

func (c *changing) At() io.ReaderAt { return c }

func (c *changing) Open(off int64) (io.ReadCloser, error) {
	return io.NopCloser(io.NewSectionReader(c, off, c.Size()-off)), nil
}

func (c *changing) ReadAt(p []byte, off int64) (int, error) {
	b := c.now
	if c.changed.Load() {
		b = c.later
	}
	if off >= int64(len(b)) {
		return 0, io.EOF
	}
	n := copy(p, b[off:])
	if n < len(p) {
		return n, io.EOF
	}
	return n, nil
}

// forward is a changing source without random access.
type forward struct{ *changing }

func (forward) At() io.ReaderAt { return nil }

// TestChanges changes a result between the passes. Where the second finds other
// lists than the first has counted there is an error; else every request has its
// row. Nothing hangs.
func TestChanges(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.Bench(&text, shapes.Config{Seed: 9, Count: 200, Tokens: 12, Open: 20}); err != nil {
		t.Fatal(err)
	}
	plainText := text.Bytes()
	from := bytes.Index(plainText, []byte(`"itls": [`)) + len(`"itls": [`)
	to := from + bytes.Index(plainText[from:], []byte("]]")) + 1
	oddText := append(append(bytes.Clone(plainText[:from]), `[0.5, null], `...), plainText[from+bytes.Index(plainText[from:to], []byte("], "))+3:]...)
	r := rand.New(rand.NewPCG(13, 14))
	seen := [2]int{}
	for round := range 200 {
		now := plainText
		if round%3 == 2 {
			now = oddText
		}
		to := from + bytes.Index(now[from:], []byte("]]")) + 1
		later, at, must := bytes.Clone(now), from+r.IntN(to-from), false
		switch kind := r.IntN(5); kind {
		case 0:
			later, must = later[:at], true
		case 1: // one list becomes two, or two one
			comma := bytes.Index(later[at:to], []byte(", 0."))
			if comma < 0 {
				continue
			}
			later[at+comma], must = ']', true
			later[at+comma+1] = '['
		case 2: // the rest of the lists is gone
			copy(later[at:to], bytes.Repeat([]byte{" \x00"[r.IntN(2)]}, to-at))
		case 3:
			later[at] = `[]",{}0 x`[r.IntN(9)]
		default: // grown
			later = append(later, now...)
		}
		c := &changing{Source: source.FromBytes("x", now), now: now, later: later}
		var src formats.Source = c
		if r.IntN(4) == 0 {
			src = forward{c}
		}
		d := plain
		d.Describe = func(rec *Record) (*trace.RunMeta, Rules) { // the first pass is over
			c.changed.Store(true)
			return plain.Describe(rec)
		}
		opt := formats.Options{Workers: 1 + r.IntN(3), Block: 1 << (6 + r.IntN(8)), Lists: true}
		rows, err := countRows(t, src, opt, &d)
		switch {
		case err == nil && (must || rows != 200):
			t.Fatalf("round %d, %+v: %d rows, no error", round, opt, rows)
		case err != nil && !errors.Is(err, errChanged):
			t.Fatal(err)
		case err != nil && !strings.HasPrefix(err.Error(), "x: "):
			t.Fatalf("%v names no file", err)
		case err != nil:
			seen[1]++
		default:
			seen[0]++
		}
	}
	if seen[0] < 20 || seen[1] < 20 {
		t.Errorf("%d without an error, %d with one", seen[0], seen[1])
	}
}

func countRows(t *testing.T, src formats.Source, opt formats.Options, d *Dialect) (rows int, err error) {
	t.Helper()
	r, err := Open(context.Background(), src, formats.Whole, opt, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		rows += r.Batch().Rows
	}
	return rows, r.Err()
}
