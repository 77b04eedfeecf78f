package page

import (
	"encoding/json"
	"fmt"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/unit"
)

// TestScripts runs the tests of the page's scripts that need no browser, and holds
// the numbers that they print to those of package unit. SERVESCOPE_REQUIRE_NODE
// makes a machine without Node an error.
func TestScripts(t *testing.T) {
	node, err := exec.LookPath("node")
	if err != nil || runtime.GOOS == "js" {
		if os.Getenv("SERVESCOPE_REQUIRE_NODE") != "" {
			t.Fatalf("Node is required: %v", err)
		}
		t.Skip("there is no Node to run the scripts")
	}
	vectors, err := json.Marshal(map[string]any{"steps": unit.Steps, "values": printed(), "rows": rows()})
	if err != nil {
		t.Fatal(err)
	}
	files, err := filepath.Glob("src/test/*.test.mjs")
	if err != nil || len(files) < 5 {
		t.Fatalf("%d files of tests: %v", len(files), err)
	}
	cmd := exec.Command(node, append([]string{"--test", "--test-reporter=tap"}, files...)...)
	cmd.Env = append(os.Environ(), "VECTORS="+string(vectors))
	out, err := cmd.CombinedOutput()
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	if strings.Contains(string(out), "# SKIP") {
		t.Errorf("a test was skipped\n%s", out)
	}
}

// printed is what the terminal prints for values of every unit and size: the values
// lie on a grid and beside the limits of each step.
func printed() [][3]any {
	var out [][3]any
	for u := range unit.Steps {
		for e := -4; e <= 17; e++ {
			for _, m := range []float64{1, 1.0005, 1.23456, 3.14159, 9.9994, 9.99951, 9.99996} {
				v := m * math.Pow10(e)
				out = append(out, [3]any{u, v, unit.Format(u, v)}, [3]any{u, -v, unit.Format(u, -v)})
			}
		}
		out = append(out, [3]any{u, 0, unit.Format(u, 0)}, [3]any{u, 0.07, unit.Format(u, 0.07)})
	}
	return out
}

// rows is what the terminal prints for values that share a scale.
func rows() [][3]any {
	var out [][3]any
	for _, list := range [][]float64{{190e6, 128.2e6, 587.2e6}, {26.01e6, 51.77e6}, {0, 0}, {0, 1.5}, {5, 80000}, {1e3, 12345e6}, {0.0001, 99.5}, {64, 63, 1}} {
		for _, u := range []unit.Unit{unit.Nanosecond, unit.NSPerToken, unit.Ratio, unit.Byte, unit.Token} {
			s := unit.Common(u, list...)
			want := []string{s.Symbol}
			for _, v := range list {
				want = append(want, s.Format(v))
			}
			out = append(out, [3]any{u, list, want})
		}
	}
	return out
}

// TestReasons: every reason of a null has its words.
func TestReasons(t *testing.T) {
	text, err := os.ReadFile("src/reasons.js")
	if err != nil {
		t.Fatal(err)
	}
	for r := metric.None + 1; int(r) < metric.Reasons; r++ {
		if !strings.Contains(string(text), fmt.Sprintf("\n  %s: '", r)) {
			t.Errorf("reasons.js has no words for %s", r)
		}
	}
}

// TestNoMarkup: what a log holds becomes text. No script of ours makes elements of
// text, evaluates it, or navigates.
func TestNoMarkup(t *testing.T) {
	scripts := 0
	err := filepath.WalkDir("src", func(path string, d os.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".js" {
			return err
		}
		scripts++
		text, err := os.ReadFile(path)
		for _, word := range []string{"innerHTML", "outerHTML", "insertAdjacentHTML", "dangerouslySetInnerHTML", "document.write", "eval(", "new Function", "location.href", "location.assign", "location.replace", "window.open", "localStorage", "sessionStorage", "indexedDB", "document.cookie"} {
			if strings.Contains(string(text), word) {
				t.Errorf("%s: %s", path, word)
			}
		}
		if n := strings.Count(string(text), "\n"); n > 500 {
			t.Errorf("%s has %d lines", path, n)
		}
		return err
	})
	if err != nil || scripts < 20 {
		t.Fatalf("%d scripts: %v", scripts, err)
	}
}
