package formatstest

import (
	"errors"
	"fmt"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// maxFuzz bounds the inputs of the fuzz function: larger ones find nothing that
// these do not, only later.
const maxFuzz = 64 << 10

// Fuzz feeds bytes to detection and, as a file of some format, to its reader:
// nothing panics, everything ends within a deadline, accounts add up, batches are
// well formed, and the result does not depend on blocks, workers and ranges. The
// seeds are the inputs below dir.
func Fuzz(f *testing.F, set *formats.Set, dir string) {
	cases, err := Load(set, dir)
	if err != nil {
		f.Fatal(err)
	}
	list := set.All()
	for _, c := range cases {
		for i, format := range list {
			if format == c.Format && len(c.text) <= maxFuzz {
				f.Add(c.text, uint8(i), uint16(100), uint16(1000))
			}
		}
	}
	f.Fuzz(func(t *testing.T, text []byte, which uint8, block, at uint16) {
		if len(text) > maxFuzz || len(list) == 0 {
			return
		}
		defer watch(fmt.Sprintf("as %s: %.1000q", list[int(which)%len(list)].Name, text))()
		src := source.FromBytes("fuzz", text)
		head, err := formats.ReadHead(src)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range set.All() {
			f.Sniff(head)
		}
		format := list[int(which)%len(list)]
		one, err := readWhole(format, src, options())
		if errors.Is(err, errBroken) {
			t.Fatal(err)
		}
		opt := options()
		opt.Block, opt.Workers = int(block), 1+int(block)%3
		ranges := []formats.Range{formats.Whole}
		if format.Shape == formats.Records || format.Shape == formats.Blocks {
			cut := min(int64(at), int64(len(text)))
			ranges = []formats.Range{{From: 0, To: cut}, {From: cut, To: -1}}
		}
		two, err2 := read(format, src, opt, ranges...)
		if (err == nil) != (err2 == nil) {
			t.Fatalf("the error is %v, but %v in blocks of %d and ranges %v", err, err2, opt.Block, ranges)
		}
		if got, want := two.dump(without{}), one.dump(without{}); err == nil && got != want {
			t.Fatalf("in blocks of %d and ranges %v: %s", opt.Block, ranges, firstDifference(got, want))
		}
	})
}
