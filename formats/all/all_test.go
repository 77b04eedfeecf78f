package all

import (
	"flag"
	"testing"

	"servescope/formats/formatstest"
)

var update = flag.Bool("update", false, "write the golden files")

const dir = "../../testdata/formats"

// TestFormats runs the conformance kit over every format.
func TestFormats(t *testing.T) { formatstest.Run(t, Set(), dir, *update) }

// FuzzFormats is the shared fuzz function of all formats.
func FuzzFormats(f *testing.F) { formatstest.Fuzz(f, Set(), dir) }
