package browsertest

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/chromedp"
)

// axe is the checker's script. It is put into the page by the debugger, which the
// page's policy does not bind, so that the policy stands as it is.
func axe(t *testing.T) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "tools/axe/node_modules/axe-core/axe.min.js"))
	if err != nil {
		missing(t, "axe-core is not there: npm ci in tools/axe")
	}
	return string(text)
}

// faults asks axe for what is serious or critical in the page as it stands.
func faults(t *testing.T, ctx context.Context, script string) []string {
	t.Helper()
	if !eval[bool](t, ctx, `typeof axe === 'object'`) {
		eval[bool](t, ctx, script+`; true`)
	}
	return eval[[]string](t, ctx, `axe.run(document, { resultTypes: ['violations'], preload: false, iframes: false, performanceTimer: false }).then(r => r.violations.filter(v => ['serious', 'critical'].includes(v.impact)).flatMap(v => v.nodes.slice(0, 4).map(n =>
		v.impact + ' ' + v.id + ': ' + v.help + '\n\t' + n.target.join(' ') + '\n\t' + n.html.slice(0, 200) + '\n\t' + n.any.map(a => a.message).join('; '))))`)
}

// accessible holds what the page shows to the rules of axe.
func accessible(t *testing.T, ctx context.Context, script, what string) {
	t.Helper()
	for _, text := range faults(t, ctx, script) {
		t.Errorf("%s: %s", what, text)
	}
}

// TestAccessible: the page without a file, with one that nothing can read, and with
// two that are joined. Views of loaded samples are checked where they are shown.
func TestAccessible(t *testing.T) {
	script := axe(t)
	ctx := newTab(t)
	server, client := busy(t, 120)
	bad := filepath.Join(t.TempDir(), "letter.txt")
	if err := os.WriteFile(bad, []byte("Dear reader,\nthis is no log.\n"), 0o666); err != nil {
		t.Fatal(err)
	}
	do(t, ctx, chromedp.EmulateViewport(1440, 900))
	for _, theme := range []string{"light", "dark"} {
		show(t, ctx, "v=1&theme="+theme)
		wait(t, ctx, `document.querySelector('.formats dt')`)
		// The checker finds what is there to find.
		eval[bool](t, ctx, `(document.getElementById('app').insertAdjacentHTML('beforeend', '<button id="mute"></button>'), true)`)
		if n := len(faults(t, ctx, script)); n != 1 {
			t.Errorf("a button without a name makes %d findings", n)
		}
		eval[bool](t, ctx, `(document.getElementById('mute').remove(), true)`)
		accessible(t, ctx, script, "empty page, "+theme)
		drop(t, ctx, bad)
		wait(t, ctx, `document.querySelector('.failure')`)
		accessible(t, ctx, script, "unknown file, "+theme)
		for _, panel := range []string{"?", "seal"} {
			name := fmt.Sprintf("panel %s, %s", panel, theme)
			if panel == "seal" {
				eval[bool](t, ctx, `([...document.querySelectorAll('.top button')].find(b => /Sealed/.test(b.textContent)).click(), true)`)
			} else {
				press(t, ctx, panel)
			}
			wait(t, ctx, `document.querySelector('dialog[open]')`)
			accessible(t, ctx, script, name)
			press(t, ctx, "\x1b")
			wait(t, ctx, `!document.querySelector('dialog')`)
		}
		show(t, ctx, "v=1&slo=ttft:500ms&theme="+theme, server, client)
		press(t, ctx, "c")
		wait(t, ctx, `document.querySelector('dialog[open]')`)
		eval[bool](t, ctx, `([...document.querySelectorAll('dialog button')].find(b => /^Join them/.test(b.textContent)).click(), true)`)
		wait(t, ctx, `!document.querySelector('dialog') && `+settled+` && /joined/.test(document.querySelector('.what').textContent)`)
		for _, view := range seven {
			eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
			wait(t, ctx, drawn)
			accessible(t, ctx, script, fmt.Sprintf("joined, %s, %s", view, theme))
		}
	}
}
