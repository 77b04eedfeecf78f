package browsertest

import (
	"net/url"
	"strings"
	"testing"
)

// TestBadLink: what a link asks for and the engine does not understand is left out with
// a notice, and the rest of it holds: the files are shown.
func TestBadLink(t *testing.T) {
	ctx := newTab(t)
	show(t, ctx, "v=1&view=load&f=ttft+%3E+&slo=nonsense:5s&def=nobody&groups=nothing&t=2.5s..4.6s", sampleFiles()[0])
	wait(t, ctx, drawn)
	notices := eval[string](t, ctx, `document.querySelector('.notices').textContent`)
	if n := strings.Count(notices, "left out of the link"); n != 4 {
		t.Errorf("%d notices: %s", n, notices)
	}
	if hash := eval[string](t, ctx, `location.hash.replace(/&h=.*/, '')`); hash != "#v=1&view=load&t=2.5s..4.6s" {
		t.Errorf("the link is %s", hash)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll('#view figure').length`); n < 3 {
		t.Errorf("%d charts", n)
	}
}

// TestWrongLater: the same of a link that is followed when files are open, so that what is
// shown is what the link and the selection say; going back gives the link before it.
func TestWrongLater(t *testing.T) {
	ctx := newTab(t)
	show(t, ctx, "v=1&t=1s..3s", sampleFiles()[0])
	wait(t, ctx, drawn)
	const shown = `JSON.stringify([location.hash.replace(/&h=.*/, ''), document.querySelector('.crumbs').innerText.split('\n').filter(x => /\d/.test(x)), document.getElementById('filter-problem').innerText])`
	within := eval[string](t, ctx, shown)
	for _, wrong := range []string{"slo=nobody:5s", "def=nobody", "f=ttft+%3E+", "groups=nothing"} {
		eval[bool](t, ctx, `(location.hash = 'v=1&`+wrong+`', true)`)
		wait(t, ctx, `location.hash === '#v=1' || location.hash === ''`)
		wait(t, ctx, settled+` && /all · 6.609 s/.test(document.querySelector('.crumbs').innerText)`)
		if n := eval[string](t, ctx, `document.querySelector('.notices').textContent`); !strings.Contains(n, "left out of the link") {
			t.Errorf("%s: the notice is %q", wrong, n)
		}
		if n := eval[string](t, ctx, `document.querySelector('.card .big').innerText`); n != "64 req" {
			t.Errorf("%s: the page shows %s", wrong, n)
		}
		eval[bool](t, ctx, `(history.back(), true)`)
		wait(t, ctx, settled+` && `+shown+` === `+"`"+within+"`")
		if n := eval[string](t, ctx, `document.querySelector('.card .big').innerText`); n != "21 req" {
			t.Errorf("after %s: the page shows %s", wrong, n)
		}
	}
}

// TestRoundTrip: the link that the page writes in each of its views shows the same again
// in another page: the selection, the limits, the groups and windows, the definitions, the
// runs that are compared, and every text of the view.
func TestRoundTrip(t *testing.T) {
	server, client := busy(t, 150)
	ctx := newTab(t)
	const link = "v=1&run=1&base=0&m=e2e&curve=percentile&color=concurrency&by=model&p=90&groups=model,status&w=5s&t=1s..20s~2.5s..14s&f=prompt_tokens+>+100&slo=ttft:1s,tpot:40ms&def=vllm-2026&sel=190&theme=dark"
	const texts = `JSON.stringify(['.top', '.selection', '#limits', '.tabs', '#view'].map(s => document.querySelector(s).innerText))`
	show(t, ctx, link, server, client)
	const hashed = `/[#&]h=[0-9a-f]{8}/.test(location.hash)` // the file's hash is told when it is known
	wait(t, ctx, hashed)
	type shown struct{ Link, Texts string }
	var want []shown
	for _, view := range seven {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		want = append(want, eval[shown](t, ctx, `(async () => ({ Link: location.hash.slice(1), Texts: `+texts+` }))()`))
	}
	for i, w := range want {
		for _, part := range strings.Split(link, "&") {
			if decoded, _ := url.QueryUnescape(w.Link); !strings.Contains(strings.ReplaceAll(decoded, " ", "+"), part) {
				t.Errorf("%s: the link %s lacks %s", seven[i], decoded, part)
			}
		}
		show(t, ctx, w.Link, server, client)
		wait(t, ctx, drawn+" && "+hashed)
		got := eval[shown](t, ctx, `(async () => ({ Link: location.hash.slice(1), Texts: `+texts+` }))()`)
		if got.Texts != w.Texts {
			t.Errorf("%s: %s", seven[i], difference([]byte(w.Texts), []byte(got.Texts)))
		}
		if got.Link != w.Link {
			t.Errorf("%s: the link is %s, and was %s", seven[i], got.Link, w.Link)
		}
	}
}
