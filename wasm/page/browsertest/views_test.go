package browsertest

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

var seven = []string{"overview", "latency", "timeline", "load", "requests", "compare", "diagnostics"}

// wait waits until an expression is true.
func wait(t *testing.T, ctx context.Context, expression string) {
	t.Helper()
	ok := eval[bool](t, ctx, `new Promise(done => { let n = 0; const look = () => { try { if (`+expression+`) return done(true) } catch {} ; if (++n > 5000) return done(false); setTimeout(look, 20) }; look() })`)
	if !ok {
		t.Fatalf("never true: %s; the page shows %s", expression, eval[string](t, ctx, `document.body.innerText.slice(0, 600)`))
	}
}

const settled = `document.querySelector('[data-ready]') && !document.querySelector('.updating')`

// drawn is settled, with nothing that is still fetched.
const drawn = settled + ` && !/Reading …/.test(document.getElementById('view').innerText)`

// show opens files at a link.
func show(t *testing.T, ctx context.Context, link string, files ...string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate("about:blank"))
	ready(t, ctx, "file://"+document(t)+"#"+link)
	if len(files) > 0 {
		drop(t, ctx, files...)
		wait(t, ctx, settled)
	}
}

func sampleFiles() []string {
	return []string{filepath.Join(root, "testdata/sample/tokenlog.jsonl"), filepath.Join(root, "testdata/sample/vllm-bench.json")}
}

// shots are the pictures that TestViews makes: the shipped samples, and the made run
// with what its client saw as another one.
var shots = []struct {
	name, theme   string
	width, height int64
}{
	{"", "light", 1440, 900}, {"", "dark", 1440, 900}, {"", "light", 390, 844}, {"", "dark", 390, 844},
	{"busy-", "light", 1440, 900}, {"busy-", "dark", 1440, 900}, {"busy-", "light", 390, 844}, {"busy-", "dark", 390, 844},
}

// TestViews shows every view, light and dark, wide and narrow: none is wider than the
// screen, has an empty chart, prints what is no number or breaks a rule of axe. The
// pictures are for people to look at: bin/screenshots.
func TestViews(t *testing.T) {
	dir := filepath.Join(root, "bin", "screenshots")
	if err := os.MkdirAll(dir, 0o777); err != nil {
		t.Fatal(err)
	}
	server, client := busy(t, 400)
	ctx, script := newTab(t), axe(t)
	for _, shot := range shots {
		link, files := "v=1&slo=ttft:500ms,tpot:40ms&theme=", sampleFiles()
		if shot.name != "" {
			link, files = "v=1&slo=ttft:1s,tpot:40ms&groups=model&w=5s&sel=150&theme=", []string{server, client}
		}
		do(t, ctx, chromedp.EmulateViewport(shot.width, shot.height))
		show(t, ctx, link+shot.theme, files...)
		for _, view := range seven {
			name := fmt.Sprintf("%s%s-%s-%d", shot.name, view, shot.theme, shot.width)
			eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
			wait(t, ctx, drawn)
			eval[bool](t, ctx, `new Promise(done => setTimeout(() => done(true), 150))`)
			if over := eval[int](t, ctx, `document.documentElement.scrollWidth - innerWidth`); over > 0 {
				t.Errorf("%s is %d pixels too wide", name, over)
			}
			if bad := eval[string](t, ctx, `(document.getElementById('view').innerText.match(/.{0,30}\b(undefined|NaN|Infinity|\[object .{0,20})/) ?? [''])[0]`); bad != "" {
				t.Errorf("%s prints %q", name, bad)
			}
			if blank := eval[string](t, ctx, blankCharts); blank != "" {
				t.Errorf("%s: nothing is drawn in %s", name, blank)
			}
			if shot.name != "" && shot.width > 1000 {
				accessible(t, ctx, script, name)
			}
			picture, err := chromedp.Run(ctx, chromedp.FullScreenshot(100))
			if err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o666); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// blankCharts names the figures whose canvases hold fewer than three colours.
const blankCharts = `[...document.querySelectorAll('#view figure')].filter(f => {
	const list = [...f.querySelectorAll('canvas:not(.over)')]
	return list.length && !list.some(c => {
		const g = c.getContext('2d').getImageData(0, 0, c.width, c.height).data, seen = new Set()
		for (let i = 0; i < g.length && seen.size < 3; i += 4) if (g[i + 3] > 200) seen.add(g[i] << 16 | g[i + 1] << 8 | g[i + 2])
		return seen.size >= 3
	})
}).map(f => f.querySelector('h3').textContent).join(', ')`

// TestHostile: what a log holds is text in every view.
func TestHostile(t *testing.T) {
	hostile := []string{`<img src=x onerror="document.title='owned'">`, `"><script>document.title='owned'</script>`, "\u202egnp.exe", "a\x00b", strings.Repeat("x", 5000), `{{constructor.constructor('x')()}}`, "&lt;b&gt;", "two\nlines"}
	var log strings.Builder
	for i := range 40 {
		at := 1764428000 + float64(i)/10
		row := map[string]any{
			"request_id": fmt.Sprint(hostile[i%len(hostile)], i), "model": hostile[(i+1)%len(hostile)], "tenant": hostile[(i+2)%len(hostile)],
			"arrival": at, "prompt_tokens": 10, "output_tokens": 3, "token_timestamps": []float64{at + .1, at + .15, at + .2},
		}
		if i%5 == 0 {
			row = map[string]any{"request_id": row["request_id"], "arrival": at, "finished": at + .1, "error": hostile[i/5]}
		}
		line, err := json.Marshal(row)
		if err != nil {
			t.Fatal(err)
		}
		log.Write(append(line, '\n'))
	}
	file := filepath.Join(t.TempDir(), "<img src=x>.jsonl")
	if err := os.WriteFile(file, []byte(log.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	ctx := newTab(t)
	show(t, ctx, "v=1&groups=model,tenant&w=1s&by=model", file)
	scripts := eval[int](t, ctx, `document.scripts.length`)
	for _, view := range seven {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, settled)
		if view == "requests" {
			eval[bool](t, ctx, `(document.querySelector('.item').click(), true)`)
			wait(t, ctx, `document.querySelector('.drawer .fields dt')`)
			for _, want := range []string{`<img src=x onerror=`, `"><script>document`, `\u202egnp.exe`, `&lt;b&gt;`, `two\u000alines`, `a\u0000b`} {
				if !eval[bool](t, ctx, `document.querySelector('.list').textContent.includes(`+quoted(want)+`)`) {
					t.Errorf("the list does not show %s", want)
				}
			}
		}
		switch view {
		case "overview":
			if shown := eval[string](t, ctx, `document.querySelector('[aria-label="By model and tenant"]').textContent`); !strings.Contains(shown, `<img src=x onerror=`) {
				t.Errorf("the groups are %.300s", shown)
			}
		case "latency":
			text := eval[string](t, ctx, `(async () => {
				const make = URL.createObjectURL
				let made
				URL.createObjectURL = blob => { made = blob; return '#' }
				document.querySelector('#view figure [aria-label$=SVG]').click()
				URL.createObjectURL = make
				return made.text()
			})()`)
			if _, texts := drawing(t, "hostile", text); !strings.Contains(texts, `<img src=x onerror=`) {
				t.Errorf("the picture's texts are %.300s", texts)
			}
		}
		if n := eval[int](t, ctx, `document.querySelectorAll('img, #app script, #app iframe, #app object, #app embed, [onerror]').length`); n > 0 {
			t.Errorf("%s holds %d elements that nobody made", view, n)
		}
	}
	if n := eval[int](t, ctx, `document.scripts.length`); n != scripts {
		t.Errorf("%d scripts, of them %d ours", n, scripts)
	}
	if title := eval[string](t, ctx, `document.title`); strings.Contains(title, "owned") {
		t.Errorf("title %q", title)
	}
	testHostileDialogs(t, ctx, file)
}

func quoted(v any) string {
	text, _ := json.Marshal(v)
	return string(text)
}

func press(t *testing.T, ctx context.Context, keys string, modifiers ...kb.Modifier) {
	t.Helper()
	do(t, ctx, chromedp.KeyEvent(keys, chromedp.KeyModifiers(modifiers...)))
}

// TestKeyboard walks through the page without a pointer.
func TestKeyboard(t *testing.T) {
	ctx := newTab(t)
	show(t, ctx, "", sampleFiles()...)
	for i, view := range seven {
		press(t, ctx, fmt.Sprint(i+1))
		wait(t, ctx, `document.querySelector('.tabs [aria-selected=true]').id === 'tab-`+view+`'`)
	}
	press(t, ctx, "5")
	press(t, ctx, "/")
	wait(t, ctx, `document.activeElement.id === 'filter'`)
	press(t, ctx, kb.Backspace) // the character that the driver sends although the key was handled
	press(t, ctx, "status = failed"+kb.Enter)
	wait(t, ctx, settled+` && document.querySelectorAll('.list .item').length === 1`)
	press(t, ctx, kb.Escape) // leaves the field
	press(t, ctx, ".")       // opens the request
	wait(t, ctx, `document.querySelector('.drawer h2')`)
	press(t, ctx, kb.Escape)
	wait(t, ctx, `!document.querySelector('.drawer')`)
	press(t, ctx, "?")
	wait(t, ctx, `document.querySelector('dialog[open] .keys') && document.querySelector('dialog').contains(document.activeElement)`)
	press(t, ctx, kb.Escape)
	wait(t, ctx, `!document.querySelector('dialog')`)
	press(t, ctx, "k", kb.ModifierCtrl)
	wait(t, ctx, `document.activeElement.getAttribute('role') === 'combobox'`)
	press(t, ctx, "clear the filter"+kb.Enter)
	wait(t, ctx, settled+` && document.querySelectorAll('.list .item').length > 1`)
	press(t, ctx, "2")
	// A chart is read value by value.
	eval[bool](t, ctx, `(document.querySelector('.plot').focus(), true)`)
	press(t, ctx, kb.ArrowRight+kb.ArrowRight)
	wait(t, ctx, `/TTFT: p5 /.test(document.querySelector('[aria-live=polite]').textContent)`)
	press(t, ctx, "4")
	wait(t, ctx, drawn+` && document.querySelector('#view .lines')`)
	eval[bool](t, ctx, `(document.querySelector('#view .lines').focus(), true)`)
	press(t, ctx, kb.ArrowRight+kb.ArrowRight)
	wait(t, ctx, `/arrivals .* req.s/.test(document.querySelector('[aria-live=polite]').textContent)`)
	press(t, ctx, "2")
	if hash := eval[string](t, ctx, `location.hash`); !strings.Contains(hash, "view=latency") || strings.Contains(hash, "f=") {
		t.Errorf("link %s", hash)
	}
}

// TestTabWalk goes through every view with the Tab key alone: it comes by every control
// that is on the screen, and each of them shows that it has the focus.
func TestTabWalk(t *testing.T) {
	server, client := busy(t, 120)
	ctx := newTab(t)
	do(t, ctx, chromedp.EmulateViewport(1440, 900))
	show(t, ctx, "v=1&slo=ttft:500ms&groups=model&w=5s&sel=20", server, client)
	eval[bool](t, ctx, `(() => {
		let tab = false // what the page itself puts the focus on, as when a drawing is late, need not show it
		addEventListener('keydown', e => { tab = e.key === 'Tab' }, true)
		addEventListener('focusin', ({ target: e }) => {
			const c = getComputedStyle(e)
			walked.add(e)
			if (tab) (c.outlineStyle !== 'none' && parseFloat(c.outlineWidth) >= 1 ? lit : dim).add(e)
			tab = false
		})
		return true
	})()`)
	for _, view := range seven {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), document.activeElement.blur(), true)`)
		wait(t, ctx, drawn)
		n := eval[int](t, ctx, `(() => {
			globalThis.walked = new Set()
			globalThis.dim = new Set()
			globalThis.lit = new Set()
			globalThis.controls = [...document.querySelectorAll('button, input, select, summary, a[href], [tabindex]')].filter(e => e.tabIndex >= 0 && !e.disabled && e.checkVisibility({ visibilityProperty: true }) && !e.closest('[inert]'))
			scrollTo(0, 0)
			return controls.length
		})()`)
		if n < 25 {
			t.Errorf("%s: %d controls", view, n)
		}
		for range n + 3 {
			press(t, ctx, kb.Tab)
		}
		if left := eval[string](t, ctx, `controls.filter(e => !walked.has(e)).map(e => e.outerHTML.slice(0, 120)).join('\n')`); left != "" {
			t.Errorf("%s: Tab does not come by\n%s", view, left)
		}
		if lit := eval[int](t, ctx, `controls.filter(e => lit.has(e)).length`); lit < n-3 {
			t.Errorf("%s: the focus is seen on %d of %d controls", view, lit, n)
		}
		if dim := eval[string](t, ctx, `[...dim].filter(e => controls.includes(e)).map(e => e.outerHTML.slice(0, 120)).join('\n')`); dim != "" {
			t.Errorf("%s: the focus does not show on\n%s", view, dim)
		}
	}
}

// TestSelection: the page's figures under limits, a filter and a range of time are
// those of the report, and a link shows the same again.
func TestSelection(t *testing.T) {
	ctx := newTab(t)
	link := "v=1&view=load&t=2.5s..4.6s&f=prompt_tokens+>+400&slo=ttft:300ms,tpot:30ms"
	show(t, ctx, link, sampleFiles()[0])
	type goodput struct{ Good, Denominator, Unknown int64 }
	want := eval[struct{ Goodput goodput }](t, ctx, `servescope.session.run({ filter: 'prompt_tokens > 400', from: '+2.5s', to: '+4.6s', slo: 'ttft=300ms,tpot=30ms' }).then(r => ({ Goodput: { Good: r.runs[0].goodput.good, Denominator: r.runs[0].goodput.denominator, Unknown: r.runs[0].goodput.unknown } }))`).Goodput
	if want.Denominator < 5 || want.Good == 0 || want.Good == want.Denominator {
		t.Fatalf("the selection tests nothing: %+v", want)
	}
	if got := eval[string](t, ctx, `document.querySelector('#limits .goodput .muted').textContent`); got != fmt.Sprintf("%d of %d req", want.Good, want.Denominator) {
		t.Errorf("the page says %s, the report %+v", got, want)
	}
	if n := eval[int](t, ctx, `(document.getElementById('tab-requests').click(), servescope.session.view({ filter: 'prompt_tokens > 400', from: '+2.5s', to: '+4.6s' }, { kind: 'columns', columns: ['ttft'] }).then(v => v.n))`); int64(n) != want.Denominator {
		t.Errorf("%d requests, judged are %d", n, want.Denominator)
	}
	hash := eval[string](t, ctx, `location.hash`)
	for _, part := range []string{"t=2.5s..4.6s", "slo=ttft:300ms,tpot:30ms", "view=requests"} {
		if !strings.Contains(hash, part) {
			t.Errorf("link %s lacks %s", hash, part)
		}
	}
	testUntimed(t, ctx)
	testFolder(t, ctx)
}

// testFolder: the files of a folder that is dropped onto the page on disk are opened,
// with those of the folders in it.
func testFolder(t *testing.T, ctx context.Context) {
	dir := t.TempDir()
	sample, err := os.ReadFile(sampleFiles()[0])
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"run-b.jsonl", "deeper/run-a.jsonl", "deeper/still/run-c.jsonl"} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, sample, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	show(t, ctx, "v=1", dir)
	if runs := eval[string](t, ctx, `[...document.querySelectorAll('.what option')].map(o => o.textContent).join(' ')`); runs != "run-a.jsonl run-c.jsonl run-b.jsonl" {
		t.Errorf("the runs of the folder are %s", runs)
	}
	empty := t.TempDir()
	drop(t, ctx, empty)
	wait(t, ctx, `/no file to read/.test(document.querySelector('.notices').textContent)`)
}

// testUntimed: of requests whose send times are not recorded no chart over time says
// that nothing came, and Compare says which figures a run has not.
func testUntimed(t *testing.T, ctx context.Context) {
	of := filepath.Join(root, "testdata/formats")
	show(t, ctx, "v=1&view=load", filepath.Join(of, "vllmbench/v0.7-chat-role-chunk/input.json"), sampleFiles()[0])
	wait(t, ctx, drawn)
	if text := eval[string](t, ctx, `document.getElementById('view').innerText`); !strings.Contains(text, "no common clock") || strings.Contains(text, "at most 0") || eval[int](t, ctx, `document.querySelectorAll('#view canvas').length`) > 0 {
		t.Errorf("Load shows %s", text)
	}
	eval[bool](t, ctx, `(document.getElementById('tab-compare').click(), true)`)
	wait(t, ctx, drawn)
	if text := eval[string](t, ctx, `document.querySelector('#view .facts').textContent`); !strings.Contains(text, "Mean in flight (B: no common clock)") {
		t.Errorf("Compare lacks %s", text)
	}
}
