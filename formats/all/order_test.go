package all

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"reflect"
	"regexp"
	"runtime"
	"strings"
	"testing"
)

// TestBeyondTheCore: which formats the page's core holds is said by build tags, in
// one way. Those that it lacks come after all that it has, so that a file that one
// of its formats is sure of is read as every format together would have it.
func TestBeyondTheCore(t *testing.T) {
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
	last, first := 0, 1<<30
	for _, f := range Set().All() {
		sniff := runtime.FuncForPC(reflect.ValueOf(f.Sniff).Pointer()).Name()
		switch pkg := regexp.MustCompile(`^[\w/]+`).FindString(sniff); {
		case !strings.HasPrefix(pkg, "servescope/formats/"):
			t.Errorf("%s: the package of %s is not known", f.Name, sniff)
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
