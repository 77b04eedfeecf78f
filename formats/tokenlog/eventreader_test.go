package tokenlog

import (
	"bytes"
	"context"
	"fmt"
	"slices"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// rowOrder returns the offsets of the rows in the order in which they are read.
func rowOrder(t *testing.T, text []byte, opt formats.Options) (offsets []int64) {
	t.Helper()
	opt.Lists = true
	r, err := Events.Open(context.Background(), source.FromBytes("log", text), formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		for i := range r.Batch().Rows {
			at, _ := r.Batch().Ints(trace.Offset).At(i)
			offsets = append(offsets, at)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return offsets
}

// TestRowOrder: rows come in the order in which the requests end, those that do not
// end behind them in the order of their first events; with little memory in another
// order, which depends on that alone.
func TestRowOrder(t *testing.T) {
	var text bytes.Buffer
	shapes.Events(&text, shapes.Config{Seed: 6, Count: 2000, Tokens: 8, Open: 500})
	log := text.Bytes()[:text.Len()*3/4]
	first, ended := map[string]int64{}, []int64(nil)
	off := int64(0)
	for line := range bytes.Lines(log) {
		_, id, _ := bytes.Cut(line, []byte(`"request_id":"`))
		id, _, _ = bytes.Cut(id, []byte(`"`))
		if _, ok := first[string(id)]; !ok {
			first[string(id)] = off
		}
		if bytes.Contains(line, []byte(`"finish"`)) {
			ended = append(ended, first[string(id)])
			delete(first, string(id))
		}
		off += int64(len(line))
	}
	delete(first, "") // of the line that is cut
	var open []int64
	for _, at := range first {
		open = append(open, at)
	}
	slices.Sort(open)
	want := append(ended, open...)
	for _, memory := range []int64{0, 128 << 10} {
		for i, opt := range []formats.Options{{Workers: 1}, {Workers: 2, Block: 1000}, {Workers: 3, Block: 1 << 14}, {Workers: 4, Block: 77}} {
			if opt.Memory = memory; memory > 0 {
				opt.Scratch = t.TempDir()
			}
			got := rowOrder(t, log, opt)
			if memory > 0 && i == 0 {
				if slices.Equal(got, want) {
					t.Error("nothing had to go")
				}
				want = got
			}
			if !slices.Equal(got, want) {
				t.Errorf("%+v: %d rows in another order, want %d", opt, len(got), len(want))
			}
		}
	}
}

// TestRowOrderOnALine: requests of all shards that end on one line have their rows in
// the order in which they end there.
func TestRowOrderOnALine(t *testing.T) {
	var begin, end bytes.Buffer
	var want []int64
	shards := map[uint64]bool{}
	for i := range 40 {
		id := fmt.Sprint("r", i*7919)
		want = append(want, int64(begin.Len()))
		shards[assemble.Hash([]byte(id))>>63] = true
		fmt.Fprintf(&begin, `{"ts":1764428000.%06d,"request_id":%q,"event":"arrival"}`+"\n", i, id)
		fmt.Fprintf(&end, `{"ts":1764428001.%06d,"request_id":%q,"event":"finish"}`, i, id)
	}
	if len(shards) < 2 {
		t.Fatal("all ids are of one shard")
	}
	for _, workers := range []int{1, 2} {
		got := rowOrder(t, []byte(begin.String()+end.String()+"\n"), formats.Options{Workers: workers})
		if !slices.Equal(got, want) {
			t.Errorf("%d workers: rows at %d, want %d", workers, got, want)
		}
	}
}
