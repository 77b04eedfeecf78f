package analyzer

import (
	"math/rand/v2"
	"testing"

	"servescope/analyzer/load"
	"servescope/formats"
)

// TestRanges: ranges follow each other to the end of an input, and where others read
// too the last ones are a sixteenth as long: what one reader has left while the
// others have none is little.
func TestRanges(t *testing.T) {
	in := textFile{"a.jsonl", "", requestLines(rand.New(rand.NewPCG(1, 1)), 400)}
	size := int64(len(in.text))
	for _, others := range []load.Remote{nil, newPlaces(1)} {
		s, err := openAll(t, load.Options{Remote: others, Workers: 1}, in)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.in.Cut = 1600
		jobs := s.in.Jobs()
		at, last := int64(0), int64(0)
		for i, j := range jobs {
			if j.Rng.From != at {
				t.Fatalf("range %d begins at %d, the one before ends at %d", i, j.Rng.From, at)
			}
			at = j.Rng.To
			if i == len(jobs)-1 {
				if j.Rng != (formats.Range{From: j.Rng.From, To: -1}) {
					t.Errorf("the last range is %v", j.Rng)
				}
				at = size
			}
			if last = at - j.Rng.From; last > s.in.Cut || at > size {
				t.Errorf("range %d of %d bytes is %v", i, size, j.Rng)
			}
		}
		if n := size / s.in.Cut; others == nil && int64(len(jobs)) != (size+s.in.Cut-1)/s.in.Cut || others != nil && (last > s.in.Cut/16 || int64(len(jobs)) > n+40) {
			t.Errorf("%d ranges of %d bytes, the last of %d", len(jobs), size, last)
		}
	}
}
