package browsertest

import (
	"context"
	"encoding/xml"
	"fmt"
	"io"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
)

// TestPictures saves every chart of every view as SVG and as PNG.
func TestPictures(t *testing.T) {
	server, _ := busy(t, 150)
	ctx := newTab(t)
	show(t, ctx, "v=1&slo=ttft:500ms,tpot:40ms&w=5s&groups=model&theme=dark&sel=20", server)
	eval[bool](t, ctx, `(() => {
		globalThis.made = []
		URL.createObjectURL = blob => { made.push(blob); return '#' }
		HTMLAnchorElement.prototype.click = function () {}
		return true
	})()`)
	version := eval[string](t, ctx, `document.documentElement.dataset.version`)
	if version == "" {
		t.Error("the page does not know its version")
	}
	all := 0
	for _, view := range []string{"overview", "latency", "timeline", "load", "requests"} {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		type file struct{ Title, Type, Text, Legend string }
		files := eval[[]file](t, ctx, `(async () => {
			const out = []
			for (const b of document.querySelectorAll('#view figure .tools [aria-label^=Save]')) {
				made.length = 0
				b.click()
				for (let i = 0; !made.length && i < 500; i++) await new Promise(done => setTimeout(done, 10))
				const figure = b.closest('figure'), blob = made[0], png = blob.type === 'image/png'
				let text
				if (png) {
					const bitmap = await createImageBitmap(blob), c = new OffscreenCanvas(bitmap.width, bitmap.height), g = c.getContext('2d'), seen = new Set()
					g.drawImage(bitmap, 0, 0)
					const d = g.getImageData(0, 0, c.width, c.height).data
					for (let i = 0; i < d.length; i += 4) if (d[i + 3] === 255) seen.add(d[i] << 16 | d[i + 1] << 8 | d[i + 2])
					text = seen.size + ' ' + c.width
				} else text = await blob.text()
				out.push({ Title: figure.querySelector('h3').textContent, Type: blob.type, Text: text, Legend: figure.querySelector('.legend li')?.lastChild.textContent.trim() ?? '' })
			}
			return out
		})()`)
		for _, f := range files {
			all++
			if f.Type == "image/png" {
				var colours, width int
				fmt.Sscan(f.Text, &colours, &width)
				if colours < 5 || width < 600 {
					t.Errorf("%s: a picture of %d colours, %d wide", f.Title, colours, width)
				}
				continue
			}
			marks, texts := drawing(t, f.Title, f.Text)
			if !units.MatchString(texts) {
				t.Errorf("%s: no unit in %.300s", f.Title, texts)
			}
			if marks < 5 || !strings.Contains(texts, f.Title) || !strings.Contains(texts, f.Legend) || !strings.Contains(texts, "server.jsonl") || !strings.Contains(texts, "servescope "+version) {
				t.Errorf("%s: %d marks, %.600s", f.Title, marks, texts)
			}
		}
	}
	if all < 24 {
		t.Errorf("%d pictures", all)
	}
}

// units are those of which every picture has one at least.
var units = regexp.MustCompile(`\b(ns|µs|ms|s|min|tok|req|ms/tok|tok/s|req/s)\b|%|requests`)

// drawing counts the marks of an SVG and joins its texts, which are broken into lines
// where the picture is narrow.
func drawing(t *testing.T, name, text string) (marks int, texts string) {
	t.Helper()
	d := xml.NewDecoder(strings.NewReader(text))
	for {
		token, err := d.Token()
		if err == io.EOF {
			return marks, strings.Join(strings.Fields(texts), " ")
		}
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		switch e := token.(type) {
		case xml.StartElement:
			if e.Name.Local == "path" || e.Name.Local == "rect" || e.Name.Local == "image" {
				marks++
			}
			for _, a := range e.Attr {
				if strings.Contains(a.Value, "NaN") || strings.Contains(a.Value, "undefined") {
					t.Errorf("%s: %s of %s is %s", name, a.Name.Local, e.Name.Local, a.Value)
				}
			}
		case xml.CharData:
			texts += " " + string(e)
		}
	}
}

const slo = `new URLSearchParams(location.hash.slice(1)).get('slo')`

// TestLimitOnChart moves the limit in the chart with the pointer, with the keyboard,
// and takes it away; the link and the goodput go with it.
func TestLimitOnChart(t *testing.T) {
	server, _ := busy(t, 150)
	ctx := newTab(t)
	do(t, ctx, chromedp.EmulateViewport(1440, 900))
	show(t, ctx, "v=1&view=latency&slo=ttft:500ms", server)
	wait(t, ctx, drawn+` && document.querySelector('.grip')`)
	good := func() string {
		return eval[string](t, ctx, `document.querySelector('#limits .goodput .muted').textContent`)
	}
	before := good()
	at := eval[[]float64](t, ctx, `(() => { const r = document.querySelector('.grip').getBoundingClientRect(); return [r.left + 12, r.top + 60] })()`)
	for i, kind := range []input.DispatchMouseEventType{input.DispatchMouseEventTypeMousePressed, input.DispatchMouseEventTypeMouseMoved, input.DispatchMouseEventTypeMouseReleased} {
		x := at[0]
		if i > 0 {
			x += 200
		}
		if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: kind, X: x, Y: at[1], Button: input.MouseButtonLeft, Buttons: 1, ClickCount: 1}); err != nil {
			t.Fatal(err)
		}
	}
	value := func() float64 {
		return eval[float64](t, ctx, `Number(document.querySelector('.grip').getAttribute('aria-valuenow'))`)
	}
	wait(t, ctx, `Number(document.querySelector('.grip').getAttribute('aria-valuenow')) > 6e8`)
	dragged := value()
	if after := good(); after == before {
		t.Errorf("goodput stays at %s", after)
	}
	eval[bool](t, ctx, `(document.querySelector('.grip').focus(), true)`)
	press(t, ctx, kb.ArrowLeft)
	wait(t, ctx, fmt.Sprintf(`Number(document.querySelector('.grip').getAttribute('aria-valuenow')) < %g`, dragged))
	wait(t, ctx, `!`+slo+`.includes('500ms')`)
	press(t, ctx, kb.Delete)
	wait(t, ctx, `!document.querySelector('.grip') && !`+slo)
	// A value of the curve becomes the limit.
	eval[bool](t, ctx, `(document.querySelector('.plot').focus(), true)`)
	press(t, ctx, kb.ArrowRight+kb.ArrowRight+kb.Enter)
	wait(t, ctx, `document.querySelector('.grip')`)
	rank := func() string {
		return eval[string](t, ctx, `document.querySelector('.quantiles .current').innerText.split(/\s/)[0]`)
	}
	press(t, ctx, "[[")
	wait(t, ctx, `/TTFT p90: /.test(document.querySelector('[aria-live=polite]').textContent)`)
	if got := rank(); got != "p90" {
		t.Errorf("marked is %s", got)
	}
	press(t, ctx, "]]]]")
	wait(t, ctx, `/TTFT p99.9: /.test(document.querySelector('[aria-live=polite]').textContent)`)
	if got := rank(); got != "p99.9" {
		t.Errorf("marked is %s", got)
	}
}

// choose picks an option of a labelled list.
func choose(t *testing.T, ctx context.Context, label, value string) {
	t.Helper()
	eval[bool](t, ctx, `(() => {
		const s = [...document.querySelectorAll('.select')].find(l => l.querySelector('span').textContent === '`+label+`').querySelector('select')
		s.value = '`+value+`'
		s.dispatchEvent(new Event('change', { bubbles: true }))
		return true
	})()`)
	wait(t, ctx, settled)
}

// TestBreakdown: groups and windows are controls; what the page shows of them are
// the figures of a report that is asked for the same.
func TestBreakdown(t *testing.T) {
	server, _ := busy(t, 150)
	ctx := newTab(t)
	show(t, ctx, "v=1", server)
	choose(t, ctx, "Group by", "model")
	choose(t, ctx, "and", "status")
	choose(t, ctx, "Windows", "5000000000")
	wait(t, ctx, drawn+` && document.querySelector('.small-multiples')`)
	type group struct {
		By    map[string]string
		Total int
	}
	want := eval[[]group](t, ctx, `servescope.session.run({ by: 'model,status', window: '5s' }).then(r => r.runs[0].groups.map(g => ({ By: g.by, Total: g.requests.total })))`)
	if len(want) < 4 {
		t.Fatalf("%d groups", len(want))
	}
	got := eval[[][]string](t, ctx, `[...document.querySelectorAll('[aria-label="By model and status"] tbody tr')].map(r => [...r.cells].slice(0, 3).map(c => c.textContent))`)
	if len(got) != len(want) {
		t.Fatalf("%d rows, %d groups", len(got), len(want))
	}
	for i, g := range want {
		if got[i][0] != g.By["model"] || got[i][1] != g.By["status"] || got[i][2] != fmt.Sprint(g.Total) {
			t.Errorf("row %v of group %+v", got[i], g)
		}
	}
	windows := eval[int](t, ctx, `servescope.session.run({ by: 'model,status', window: '5s' }).then(r => r.runs[0].windows.length)`)
	eval[bool](t, ctx, `([...document.querySelectorAll('figure')].find(f => f.querySelector('.small-multiples')).querySelector('[aria-pressed]').click(), true)`)
	wait(t, ctx, `document.querySelector('[aria-label="Windows of 5 s"] tbody')`)
	if n := eval[int](t, ctx, `document.querySelector('[aria-label="Windows of 5 s"] tbody').rows.length`); n != windows {
		t.Errorf("%d rows of %d windows", n, windows)
	}
	hash := eval[string](t, ctx, `location.hash`)
	for _, part := range []string{"groups=model,status", "w=5s"} {
		if !strings.Contains(hash, part) {
			t.Errorf("link %s lacks %s", hash, part)
		}
	}
	if line := eval[string](t, ctx, `document.querySelector('.foot .line').textContent`); !strings.Contains(line, "--by model,status --window 5s") {
		t.Errorf("the line is %s", line)
	}
	choose(t, ctx, "Group by", "")
	choose(t, ctx, "Windows", "0")
	wait(t, ctx, drawn+` && !document.querySelector('.small-multiples')`)
}
