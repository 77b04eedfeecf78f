package torchtrace

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"

	"servescope/formats/source"
)

// TestVaultWithoutRoom: where a temporary file cannot be made, the error names the
// directory, and comes with what to do about it.
func TestVaultWithoutRoom(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "none")
	v := vault{budget: 1, file: source.TempFile{Dir: dir}}
	_, err := v.put([]byte("more than that"))
	var h interface{ Hint() string }
	if !errors.As(err, &h) || !strings.Contains(h.Hint(), "TMPDIR") || !strings.HasPrefix(err.Error(), "a temporary file in "+dir+": ") {
		t.Errorf("got %v", err)
	}
}
