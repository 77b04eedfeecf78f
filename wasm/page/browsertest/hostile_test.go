package browsertest

import (
	"context"
	"encoding/base64"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// strange counts the elements that nobody made.
const strange = `document.querySelectorAll('img, #app script, #app iframe, #app object, #app embed, [onerror]').length`

// testHostileDialogs shows what a hostile log holds in tips, in the palette, as names of
// runs that are compared, as Markdown, and as a saved page that is opened from a disk.
func testHostileDialogs(t *testing.T, ctx context.Context, file string) {
	t.Helper()
	plain := func(where string) {
		t.Helper()
		if n := eval[int](t, ctx, strange); n > 0 || strings.Contains(eval[string](t, ctx, `document.title`), "owned") {
			t.Errorf("%s: %d elements that nobody made, the title is %q", where, n, eval[string](t, ctx, `document.title`))
		}
	}
	eval[bool](t, ctx, `(document.getElementById('tab-timeline').click(), true)`)
	wait(t, ctx, drawn)
	eval[bool](t, ctx, `(document.querySelector('#view .plot').focus(), true)`)
	press(t, ctx, kb.ArrowRight)
	wait(t, ctx, `/<img src=x onerror=/.test(document.querySelector('#view .tip').textContent)`)
	plain("a tip")
	text := eval[string](t, ctx, `(async () => {
		const made = []
		URL.createObjectURL = blob => { made.push(blob); return '#' }
		HTMLAnchorElement.prototype.click = function () {}
		document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'e', bubbles: true }))
		for (const kind of ['md', 'html']) {
			const n = made.length
			for (let i = 0; made.length === n && i < 500; i++) {
				;[...document.querySelectorAll('dialog button:not(:disabled)')].find(b => b.querySelector('code')?.textContent === kind)?.click()
				await new Promise(done => setTimeout(done, 20))
			}
		}
		document.querySelector('dialog [aria-label=Close]').click()
		globalThis.markdown = await made[0].text()
		const bytes = new Uint8Array(await made.at(-1).arrayBuffer())
		let text = ''
		for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
		return btoa(text)
	})()`)
	// What stands behind the fence is code.
	if md, _, _ := strings.Cut(eval[string](t, ctx, `markdown`), "```"); strings.Contains(strings.ReplaceAll(md, `\<`, ""), "<img") || !strings.Contains(md, `\<img src=x`) {
		t.Errorf("Markdown: %.400s", md)
	}
	// Two runs, both with that name.
	other := filepath.Join(t.TempDir(), "<img src=y>.jsonl")
	log, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(other, log, 0o600); err != nil {
		t.Fatal(err)
	}
	drop(t, ctx, file, other)
	wait(t, ctx, settled+` && document.querySelector('#tab-compare') && servescope.session.inputs.length === 2`)
	eval[bool](t, ctx, `(document.getElementById('tab-compare').click(), true)`)
	wait(t, ctx, drawn+` && /<img src=y>/.test(document.getElementById('view').textContent)`)
	plain("Compare")
	press(t, ctx, "k", kb.ModifierCtrl)
	wait(t, ctx, `/Run <img src=y>/.test(document.getElementById('commands').textContent)`)
	plain("the palette")
	press(t, ctx, kb.Escape)
	doc, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	saved := filepath.Join(t.TempDir(), "saved.html")
	if err := os.WriteFile(saved, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.Navigate("about:blank"))
	ready(t, ctx, "file://"+saved)
	for _, view := range seven {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		plain("the saved page's " + view)
	}
	if !strings.Contains(eval[string](t, ctx, `document.body.textContent`), `<img src=x`) {
		t.Error("the saved page does not show what the log holds")
	}
}
