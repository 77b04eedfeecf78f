package analyzer

import (
	"math/rand/v2"
	"testing"

	"servescope/formats"
)

// TestRanges: ranges follow each other to the end of an input, and where others read
// too the last ones are a sixteenth as long: what one reader has left while the
// others have none is little.
func TestRanges(t *testing.T) {
	in := textFile{"a.jsonl", "", requestLines(rand.New(rand.NewPCG(1, 1)), 400)}
	size := int64(len(in.text))
	for _, others := range []Remote{nil, newPlaces(1)} {
		s, err := openAll(t, Options{Remote: others, Workers: 1}, in)
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		s.in.cut = 1600
		jobs := s.in.jobs()
		at, last := int64(0), int64(0)
		for i, j := range jobs {
			if j.rng.From != at {
				t.Fatalf("range %d begins at %d, the one before ends at %d", i, j.rng.From, at)
			}
			at = j.rng.To
			if i == len(jobs)-1 {
				if j.rng != (formats.Range{From: j.rng.From, To: -1}) {
					t.Errorf("the last range is %v", j.rng)
				}
				at = size
			}
			if last = at - j.rng.From; last > s.in.cut || at > size {
				t.Errorf("range %d of %d bytes is %v", i, size, j.rng)
			}
		}
		if n := size / s.in.cut; others == nil && int64(len(jobs)) != (size+s.in.cut-1)/s.in.cut || others != nil && (last > s.in.cut/16 || int64(len(jobs)) > n+40) {
			t.Errorf("%d ranges of %d bytes, the last of %d", len(jobs), size, last)
		}
	}
}
