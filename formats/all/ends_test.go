package all

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"servescope/formats/formatstest"
)

// TestEnds: detecting and reading an input ends, whatever has become of it.
func TestEnds(t *testing.T) {
	inputs, err := filepath.Glob(filepath.Join(dir, "*", "*", "input.*"))
	if err != nil || len(inputs) == 0 {
		t.Fatal(inputs, err)
	}
	for _, path := range inputs {
		ends(t, path)
	}
}

// TestRealEnds: so does that of real files, and of files that once did not end.
func TestRealEnds(t *testing.T) {
	root := dataDir(t)
	for _, part := range []string{"clients", "faults"} {
		err := filepath.WalkDir(filepath.Join(root, part), func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				ends(t, path)
			}
			return err
		})
		if err != nil {
			t.Error(err)
		}
	}
}

func ends(t *testing.T, path string) {
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	formatstest.Ends(t, Set(), path, text)
}
