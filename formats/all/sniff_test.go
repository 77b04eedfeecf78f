package all

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
)

// TestSniffLeaves: looking at a head changes nothing of it, which other formats look at
// next, and from which it is told what a file is that none reads.
func TestSniffLeaves(t *testing.T) {
	names, err := filepath.Glob("../../testdata/formats/*/*/input*")
	if err != nil || len(names) == 0 {
		t.Fatal(err)
	}
	heads := map[string][]byte{
		"Feather 1":         append([]byte("FEA1\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\x00\x00\x04\x00\x00\x00"), make([]byte, 200)...),
		"encrypted Parquet": []byte("PARE\x15\x04\x15\x9c\x04\x15\xda\x02L\x15P\x15\x00\x12\x00\x00\x8e\x02\x14\n\n\n\x02\x00\x00\x00r0\x05\x06\x001\nPARE"),
		"a torn object":     []byte("{\"a\":[1,2\n{\"b\"\n,]}\n\n  {"),
		"a torn row":        []byte("a,b\n\"1,2\n3,\"4\n\n\n"),
	}
	for _, name := range names {
		if heads[name], err = os.ReadFile(name); err != nil {
			t.Fatal(err)
		}
	}
	for name, data := range heads {
		for _, cut := range []int{len(data), len(data) / 2} {
			h, err := formats.ReadHead(source.FromBytes("x", data[:cut]))
			if err != nil {
				continue
			}
			want := bytes.Clone(h.Start)
			for _, f := range Set().All() {
				if f.Sniff(h); !bytes.Equal(h.Start, want) {
					t.Fatalf("%s: %s changes the head", name, f.Name)
				}
			}
		}
	}
}
