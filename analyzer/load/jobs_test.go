package load

import (
	"context"
	"testing"

	"servescope/analyzer/dataset"
	"servescope/formats"
	"servescope/formats/source"
)

// few is one remote reader that takes everything.
type few struct{ Remote }

func (few) Readers() int                                          { return 1 }
func (few) Takes(*formats.Format, formats.Source) bool            { return true }
func (few) States(context.Context, *RemoteFold) ([][]byte, error) { return nil, nil }

// TestRanges: ranges follow each other to the end of an input, and where there are remote
// readers the last ranges are a sixteenth as long: what one reader has left while the
// others have none is little.
func TestRanges(t *testing.T) {
	const size, length = 70_001, 1600
	input := &dataset.Input{Source: source.FromBytes("a.jsonl", make([]byte, size)), Format: &formats.Format{Shape: formats.Records}}
	for _, remote := range []Remote{nil, few{}} {
		jobs := (&cutter{[]*dataset.Input{input}, &Options{Workers: 1, Remote: remote}, length}).jobs()
		at, last := int64(0), int64(0)
		for i, j := range jobs {
			if j.rng.From != at {
				t.Fatalf("range %d begins at %d, the one before ends at %d", i, j.rng.From, at)
			}
			at = j.rng.To
			if i == len(jobs)-1 {
				if j.rng.To != -1 {
					t.Errorf("the last range is %v", j.rng)
				}
				at = size
			}
			if last = at - j.rng.From; last > length || at > size {
				t.Errorf("range %d of %d bytes is %v", i, size, j.rng)
			}
		}
		n := len(jobs)
		if remote == nil && n != (size+length-1)/length || remote != nil && (last > length/16 || n > size/length+40) {
			t.Errorf("%d ranges of %d bytes, the last of %d", n, size, last)
		}
	}
}
