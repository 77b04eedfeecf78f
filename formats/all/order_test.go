package all

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"strings"
	"testing"
)

// beyond returns the packages of the formats that the page's core lacks, which build
// tags say, in one way.
func beyond(t *testing.T) map[string]bool {
	t.Helper()
	files, err := filepath.Glob("*.go")
	if err != nil {
		t.Fatal(err)
	}
	beyond := make(map[string]bool) // packages of formats
	for _, name := range files {
		file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly|parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		tagged := false
		for _, c := range file.Comments {
			if text := strings.TrimSpace(c.List[0].Text); strings.HasPrefix(text, "//go:build") {
				if tagged = text == "//go:build !js || full"; !tagged && text != "//go:build js && !full" {
					t.Errorf("%s: %s: write //go:build !js || full", name, text)
				}
			}
		}
		for _, imp := range file.Imports {
			if tagged {
				beyond[strings.Trim(imp.Path.Value, `"`)] = true
			}
		}
	}
	return beyond
}

// TestBeyondTheCore: the formats that the page's core lacks come after all that it has,
// so that a file that one of its formats is sure of is read as every format together
// would have it.
func TestBeyondTheCore(t *testing.T) {
	beyond := beyond(t)
	last, first := 0, 1<<30
	for _, f := range Set().All() {
		switch pkg := packageOf(t, f); {
		case !strings.HasPrefix(pkg, "servescope/formats/"):
			t.Errorf("%s: its package is not known: %s", f.Name, pkg)
		case beyond[pkg]:
			first = min(first, f.Priority)
		default:
			last = max(last, f.Priority)
		}
	}
	if len(beyond) == 0 || last >= first {
		t.Errorf("the core has a format of priority %d, beyond it there is one of %d: it must be greater", last, first)
	}
}
