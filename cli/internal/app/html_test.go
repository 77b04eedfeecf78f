package app

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestHTML writes the page with a report and holds it to its seal: no engine, and
// nothing to load or to send to.
func TestHTML(t *testing.T) {
	for _, args := range [][]string{{"--format", "html"}, nil, {"--filter", "prompt_tokens > 100", "--slo", "ttft=500ms", "--by", "status"}} {
		path := filepath.Join(t.TempDir(), "report.html")
		var stderr strings.Builder
		p := &Process{Stdin: strings.NewReader(""), Stdout: &strings.Builder{}, Stderr: &stderr, Getenv: func(string) string { return "" }, Now: time.Now()}
		if code := Run(t.Context(), p, append([]string{"analyze", "../../../testdata/sample/tokenlog.jsonl", "-o", path}, args...)); code != 0 {
			t.Fatalf("%q: exit code %d: %s", args, code, stderr.String())
		}
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		doc := string(text)
		for _, part := range []string{`data-engine="saved"`, `id="saved"`, "connect-src &#39;none&#39;", "worker-src &#39;none&#39;", "default-src &#39;none&#39;"} {
			if !strings.Contains(doc, part) {
				t.Errorf("%q: the document lacks %s", args, part)
			}
		}
		if strings.Contains(doc, "wasm-unsafe-eval") || strings.Contains(doc, `id="engine.wasm.gz"`) {
			t.Errorf("%q: the document holds an engine", args)
		}
	}
}
