package browsertest

import (
	"encoding/base64"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestSavedPage saves the page with its report from the page itself: what is saved
// is the document that the command writes, with another report in it. It opens at
// the view and the selection that it was saved at, and asks nobody.
func TestSavedPage(t *testing.T) {
	ctx := newTab(t)
	sample := sampleFiles()[0]
	const link = "v=1&view=timeline&t=1s..5s&f=prompt_tokens+>+400&slo=ttft:300ms&groups=status&w=1s&sel=20"
	show(t, ctx, link, sample)
	wait(t, ctx, drawn)
	const answer = `(async () => JSON.stringify([await servescope.SESSION.run(QUERY), Array.from((await servescope.SESSION.view(QUERY, { kind: 'columns', columns: ['ttft'] })).columns.ttft)]))()`
	ask := func(session, query string) string {
		return eval[string](t, ctx, strings.NewReplacer("SESSION", session, "QUERY", query).Replace(answer))
	}
	want := ask("session", `{ filter: 'prompt_tokens > 400', from: '+1s', to: '+5s', by: 'status', window: '1s', slo: 'ttft=300ms' }`)
	press(t, ctx, "e")
	wait(t, ctx, `document.querySelector('dialog.export')`)
	text := eval[string](t, ctx, `(async () => {
		let made = null
		URL.createObjectURL = blob => { made = blob; return '#' }
		HTMLAnchorElement.prototype.click = function () {}
		;[...document.querySelectorAll('dialog button')].find(b => /html/.test(b.textContent)).click()
		for (let i = 0; !made && i < 2000; i++) await new Promise(done => setTimeout(done, 10))
		const bytes = new Uint8Array(await made.arrayBuffer())
		let text = ''
		for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
		return btoa(text)
	})()`)
	doc, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	saved, written := filepath.Join(dir, "saved.html"), filepath.Join(dir, "written.html")
	if err := os.WriteFile(saved, doc, 0o600); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(command(t), "analyze", sample, "-o", written).CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	theirs, err := os.ReadFile(written)
	if err != nil {
		t.Fatal(err)
	}
	bare := func(doc []byte) string {
		s := regexp.MustCompile(` data-state="[^"]*"`).ReplaceAllLiteralString(string(doc), "")
		return regexp.MustCompile(`id="saved">[A-Za-z0-9+/=]*<`).ReplaceAllLiteralString(s, `id="saved"><`)
	}
	if a, b := bare(theirs), bare(doc); a != b {
		t.Errorf("the documents differ: %s", difference([]byte(a), []byte(b)))
	}

	ready(t, ctx, "file://"+saved)
	wait(t, ctx, drawn+` && document.querySelector('.drawer .fields')`)
	if got := ask("engine.sessions[0]", "{}"); got != want {
		t.Errorf("the saved answers: %s", difference([]byte(want), []byte(got)))
	}
	if tab := eval[string](t, ctx, `document.querySelector('[role=tab][aria-selected=true]').id`); tab != "tab-timeline" {
		t.Errorf("it opens at %s", tab)
	}
	if kept := eval[string](t, ctx, `document.querySelector('.selection').innerText`); !strings.Contains(kept, "prompt_tokens > 400") || !strings.Contains(kept, "1 s – 5 s") {
		t.Errorf("it says of its selection %q", kept)
	}
	for _, view := range seven {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		if blank := eval[string](t, ctx, blankCharts); blank != "" {
			t.Errorf("%s: nothing is drawn in %s", view, blank)
		}
		if bad := eval[string](t, ctx, `(document.getElementById('view').innerText.match(/.{0,60}does not hold that/) ?? [''])[0]`); bad != "" {
			t.Errorf("%s says %s", view, bad)
		}
	}
	// Its selection stays: no figure would follow another one.
	press(t, ctx, "0")
	wait(t, ctx, `/stays as it was selected/.test(document.querySelector('.notices').textContent)`)
	if hash := eval[string](t, ctx, `location.hash`); !strings.Contains(hash, "t=1s..5s") {
		t.Errorf("link %s", hash)
	}
	press(t, ctx, kb.Escape)
	// A link for the document chooses the view, not the selection.
	do(t, ctx, chromedp.Navigate("about:blank"))
	ready(t, ctx, "file://"+saved+"#v=1&view=load&f=ttft+>+9s")
	wait(t, ctx, drawn)
	if got := ask("engine.sessions[0]", "{}"); got != want || !eval[bool](t, ctx, `document.getElementById('tab-load').ariaSelected === 'true'`) {
		t.Error("a link changes the report, or not the view")
	}
}
