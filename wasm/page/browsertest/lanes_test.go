package browsertest

import (
	"context"
	"testing"

	"github.com/chromedp/chromedp/kb"
)

// testLanes holds the picture of all lanes, far and near, to the tokens of single
// requests: where one has waited longer than nearly all have, its pixel has the colour
// of a stall, and most pixels have not.
func testLanes(t *testing.T, ctx context.Context) {
	eval[bool](t, ctx, `(document.getElementById('tab-timeline').click(), true)`)
	press(t, ctx, "0")
	wait(t, ctx, drawn)
	for _, zoom := range []string{"", "wwww"} {
		for _, key := range zoom {
			press(t, ctx, string(key))
		}
		wait(t, ctx, drawn)
		got := eval[map[string]float64](t, ctx, lanesDrawn)
		t.Logf("%v", got)
		if got["stalls"] < 3 || got["missing"] > 0 {
			t.Errorf("of %.0f stalls of some of %.0f lanes %.0f are not drawn", got["stalls"], got["lanes"], got["missing"])
		}
		if got["drawn"] > got["of"]/2 {
			t.Errorf("%.0f of %.0f pixels have the colour of a stall", got["drawn"], got["of"])
		}
	}
	press(t, ctx, "0")
	press(t, ctx, kb.Escape)
	wait(t, ctx, drawn)
}

// lanesDrawn counts the stalls of some requests and those of them that the picture of
// the lanes does not show where they are.
const lanesDrawn = `(async () => {
	if (!document.querySelector('#view .plot')) throw new Error(document.body.innerText)
	const { session } = servescope, { columns: c } = await session.view({}, { kind: 'columns', columns: ['arrival', 'end'] })
	const units = { h: 3.6e12, m: 6e10, s: 1e9, ms: 1e6, us: 1e3, ns: 1 }, link = new URLSearchParams(location.hash.slice(1)).get('t')
	const ns = s => s.match(/[\d.]+[a-z]+/g).reduce((sum, x) => sum + parseFloat(x) * units[x.replace(/[\d.]+/, '')], 0)
	const [from, to] = link ? link.split('~').pop().split('..').map(ns) : [0, c.end.reduce((a, b) => Math.max(a, b))]
	const run = await session.run(link ? { from: '+' + link.split('~').pop().split('..')[0], to: '+' + link.split('..').pop() } : {})
	const least = Math.ceil(run.runs[0].metrics.chunk_gap.quantiles['0.99'])
	const order = Array.from(c.row.keys()).filter(i => !link || c.arrival[i] >= from && c.arrival[i] < to).sort((a, b) => c.arrival[a] - c.arrival[b] || a - b)
	const canvas = document.querySelector('#view .plot canvas'), w = canvas.width - 58 - 22, h = canvas.height - 20 - 38, n = order.length, stalls = []
	const hex = getComputedStyle(document.documentElement).getPropertyValue('--stall').trim(), color = [5, 3, 1].reduce((v, i) => v << 8 | parseInt(hex.slice(i, i + 2), 16), 255) >>> 0
	for (let k = 0; k < n; k += Math.ceil(n / 6)) {
		const { columns: { t, gap } } = await session.view({}, { kind: 'request', row: c.row[order[k]] })
		for (let j = 1; j < t.length; j++) {
			const at = t[j] - gap[j] / 2
			if (gap[j] < least || at < from || at >= to) continue
			stalls.push([Math.floor((at - from) / (to - from) * w), Math.floor((n > h / 2 ? k : k + 0.5) * h / n)])
		}
	}
	for (let i = 0;; i++) { // the gaps come after the lanes
		const picture = new Uint32Array(canvas.getContext('2d').getImageData(58, 20, w, h).data.buffer)
		const missing = stalls.filter(([x, y]) => picture[y * w + x] !== color)
		if (missing.length && i < 100) await new Promise(done => setTimeout(done, 200))
		else return { stalls: stalls.length, missing: missing.length, drawn: picture.filter(p => p === color).length, of: w * h, lanes: n }
	}
})()`
