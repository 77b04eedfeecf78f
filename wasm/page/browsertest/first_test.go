package browsertest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// first opens a file as soon as the engine of a page can be asked, and notes when the
// engine was there and when the report, in ms since the page began to load.
const first = `const timer = setInterval(async () => {
	const { engine } = globalThis.servescope ?? {}
	if (!engine) return
	clearInterval(timer)
	const ready = performance.now(), session = await engine.open([new File([%s], 'sample.jsonl')])
	await session.run({})
	globalThis.first = [ready, performance.now()]
}, 1)`

// TestFirstReport: the report of the sample is there within a second.
func TestFirstReport(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	ctx := newTab(t)
	script := page.AddScriptToEvaluateOnNewDocumentParams{Source: fmt.Sprintf(first, quoted(string(text)))}
	if _, err := chromedp.Call(ctx, page.AddScriptToEvaluateOnNewDocument, script); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate("file://"+document(t)))
	wait(t, ctx, `globalThis.first`)
	got := eval[[]float64](t, ctx, `first`)
	t.Logf("the engine is there after %.0f ms", got[0])
	within(t, "the first report", got[1], 1000)
}
