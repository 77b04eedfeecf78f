package browsertest

import (
	"bytes"
	"compress/gzip"
	"encoding/base64"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
)

// TestStrangeModule: a module that never takes calls is told, not waited for. This
// one is empty: it has nothing that the script of the worker looks for.
func TestStrangeModule(t *testing.T) {
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	w.Write([]byte("\x00asm\x01\x00\x00\x00"))
	w.Close()
	doc, err := os.ReadFile(document(t))
	if err != nil {
		t.Fatal(err)
	}
	module := `id="engine.wasm.gz">` + base64.StdEncoding.EncodeToString(packed.Bytes()) + "<"
	doc = regexp.MustCompile(`id="engine\.wasm\.gz">[^<]*<`).ReplaceAllLiteral(doc, []byte(module))
	path := filepath.Join(t.TempDir(), "page.html")
	if err := os.WriteFile(path, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	ctx := newTab(t)
	do(t, ctx, chromedp.Navigate("file://"+path))
	wait(t, ctx, `document.querySelector('.failure')`)
	if text := eval[string](t, ctx, `document.querySelector('.failure').innerText`); strings.Count(text, "did not start") != 1 || !strings.Contains(text, "make page") {
		t.Errorf("the page says %q", text)
	}
}
