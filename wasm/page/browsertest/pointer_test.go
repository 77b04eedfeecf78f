package browsertest

import (
	"testing"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/chromedp"
)

// TestPointer: a chart takes the pointer wherever it is drawn, from the first and after
// its size has changed; and what it then tells is of the request that lies there.
func TestPointer(t *testing.T) {
	server, _ := busy(t, 150)
	ctx := newTab(t)
	do(t, ctx, chromedp.EmulateViewport(1440, 900))
	show(t, ctx, "v=1&slo=ttft:500ms,tpot:40ms", server)
	covered := func(when string) {
		t.Helper()
		if bad := eval[string](t, ctx, `[...document.querySelectorAll('#view .plot')].filter(p => {
			const [a, b] = [...p.querySelectorAll('canvas')].map(c => c.getBoundingClientRect())
			return a.width < 100 || ['left', 'top', 'width', 'height'].some(k => Math.abs(a[k] - b[k]) > 1)
		}).map(p => p.getAttribute('aria-label')).join('\n')`); bad != "" {
			t.Errorf("%s: the pointer is not taken all over\n%s", when, bad)
		}
	}
	for _, view := range []string{"latency", "compare", "timeline"} {
		eval[bool](t, ctx, `(document.getElementById('tab-`+view+`').click(), true)`)
		wait(t, ctx, drawn)
		covered(view)
	}
	// The lanes are fewer and higher in a short time: the last one is near the lower end.
	do(t, ctx, chromedp.EmulateViewport(1000, 900))
	wait(t, ctx, `document.querySelector('#view .plot').clientWidth < 1000`)
	covered("in a narrower window")
	press(t, ctx, "ww")
	wait(t, ctx, drawn)
	press(t, ctx, "0")
	wait(t, ctx, drawn)
	eval[bool](t, ctx, `new Promise(done => setTimeout(done, 300, true))`)
	covered("after a zoom")
	at := eval[[]float64](t, ctx, `(async () => {
		const { columns: c } = await servescope.session.view({}, { kind: 'columns', columns: ['request_id', 'arrival', 'end'] })
		const plot = document.querySelector('#view .plot')
		plot.scrollIntoView({ block: 'center' })
		const r = plot.getBoundingClientRect(), n = c.row.length, end = c.end.reduce((a, b) => Math.max(a, b))
		const order = Array.from(c.row.keys()).sort((a, b) => c.arrival[a] - c.arrival[b]), k = n - 3, i = order[k]
		globalThis.expected = c.request_id.values[c.request_id.codes[i]]
		return [r.left + 58 + (c.arrival[i] + c.end[i]) / 2 / end * (r.width - 80), r.top + 20 + (k + 0.5) / n * (r.height - 58)]
	})()`)
	if _, err := chromedp.Call(ctx, input.DispatchMouseEvent, input.DispatchMouseEventParams{Type: input.DispatchMouseEventTypeMouseMoved, X: at[0], Y: at[1]}); err != nil {
		t.Fatal(err)
	}
	wait(t, ctx, `document.querySelector('#view .tip')`)
	if got := eval[string](t, ctx, `expected + ' ' + document.querySelector('#view .tip').innerText.split('\n')[0]`); got[:len(got)/2] != got[len(got)/2+1:] {
		t.Errorf("the request that is there and the one that is told: %s", got)
	}
}
