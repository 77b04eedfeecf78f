// Timeline: every request as a lane, and the gaps between tokens under it.
import { html, memo, use, useState, useEffect, useMemo } from '../ui.js'
import * as store from '../store.js'
import { text, count } from '../format.js'
import { Figure } from '../charts/figure.js'
import { Gantt, phases } from '../charts/gantt.js'
import { segments } from '../charts/lanes.js'
import { Heat } from '../charts/heatmap.js'
import { Lines } from '../charts/lines.js'
import { Choice, Null } from '../widgets.js'
import { flight, part, running, span, longGap } from '../stats.js'
import { zoom } from '../zoom.js'
import { Drawer, open } from './drawer.js'
import { useView } from './view.js'
import { StepTimes } from './engines.js'
import { order as walk } from '../keys.js'

export function Timeline() {
  const rows = use(store.here), all = use(store.all), run = use(store.run), s = use(store.state), sel = use(store.selection), whole = useMemo(() => rows && span(rows), [rows]), [order, setOrder] = useState('start'), [ranked, setRanked] = useState(false)
  if (!rows) return html`<p class="muted">Reading …</p>`
  if (!rows.n) return html`<section class="panel"><h2>No requests to lay out</h2><p class="muted">${run.requests.total === null ? html`<${Null} code=${run.requests.reason} />. ` : 'The selection holds none. '}${run.steps.length > 0 ? 'What the engine logs of itself stands under Load.' : ''}</p></section>${run.steps.length > 0 && html`<${StepTimes} run=${run} timed />`}`
  const [from, to] = sel || whole, threshold = longGap(run) ?? Infinity
  return html`<div class=${'split' + (s.row !== null ? ' open' : '')}><div class="view-column">
    <${Lanes} rows=${rows} all=${all} run=${run} from=${from} to=${to} within=${sel} order=${order} setOrder=${setOrder} threshold=${threshold} selected=${s.row} />
    ${run.clock === 'request' ? html`<section class="panel"><h3>In flight</h3><p class="sentence"><${Null} code="clock" /></p></section>` : html`<${Flight} rows=${all} from=${from} to=${to} picked=${all !== rows && sel !== null} />`}
    ${run.steps.length > 0 && html`<${StepTimes} run=${run} timed />`}
    <${Gaps} from=${from} to=${to} within=${sel} ranked=${ranked} setRanked=${setRanked} run=${run} />
  </div>${s.row !== null && html`<${Drawer} row=${s.row} />`}</div>`
}

// tall is the height of so many lanes, which are thin where there are more than pixels.
const tall = (n) => Math.min(520, Math.max(200, n * 7 + 60)), thin = (n) => n > tall(n) - 58

// Ticks at the end of each gap are fetched for so many lanes.
const fewLanes = 80

const Lanes = memo(({ rows, all, run, from, to, within, order, setOrder, threshold, selected }) => {
  const gap = run.metrics.chunk_gap, own = run.clock === 'request'
  // The long gaps of the whole time are drawn at every zoom: some shorter ones are fetched
  // with them, for each selection has its own p99. Where they are too many the longest are
  // at hand, and those of the selection are asked for.
  const spec = gap?.n > 0 && threshold < Infinity ? { kind: 'gaps', low: Math.floor(2 ** (Math.floor(Math.log2(threshold) * 4) / 4)) } : null
  const whole = useView(spec, true), part = useView(whole?.low > threshold && within ? spec : null), v = part?.columns && within ? part : whole, gaps = v?.columns
  const single = useView(gap?.n > 0 && rows.n <= fewLanes ? { kind: 'gaps', low: 1, from, to, limit: 20000 } : null), ticks = single && !(single.total > single.n) ? single.columns : null
  const used = useMemo(() => {
    const set = new Set()
    const ok = rows.status.values.indexOf('ok')
    for (let i = 0; i < Math.min(rows.n, 5000); i++) if (rows.status.codes[i] === ok) for (const [, , p] of segments(rows, i)) set.add(p)
    return set
  }, [rows])
  const legend = [...phases.filter(([p]) => used.has(p) || (p === 5 && spec && gaps?.row.length > 0)).map(([, l, c]) => ({ label: c === 'stall' ? `gap of ${text('ns', threshold)} or more (p99)` : l, color: c })), ...['failed', 'aborted'].filter((x) => run.requests[x] > 0).map((x) => ({ label: x, color: x }))]
  const table = () => ({ head: ['request', 'start (s)', 'TTFT (ms)', 'E2E (ms)', 'status'], rows: Array.from(rows.row, (r, i) => [rows.request_id.values[rows.request_id.codes[i]] ?? String(r), (rows.arrival[i] / 1e9).toFixed(3), (rows.ttft[i] / 1e6).toFixed(1), (rows.e2e[i] / 1e6).toFixed(1), rows.status.values[rows.status.codes[i]]].map((x) => x === 'NaN' ? '—' : x)) })
  return html`<${Figure} title="Requests" sentence=${own ? `${count(rows.n)} requests, each from its own start: the source does not say when they were sent. Click one to open it.` : `${count(rows.n)} requests over ${text('ns', to - from)}; drag to zoom into a time, click one to open it.${thin(rows.n) ? ' Lanes are thinner than a pixel: each pixel shows the worst in it.' : ''}${v?.low > threshold ? ` Gaps are too many here: those of ${text('ns', v.low)} or more are drawn. Zoom in to see the others.` : ''}`} table=${table} legend=${legend} controls=${html`<${Choice} label="Order" value=${order} onChange=${setOrder} options=${[['start', 'By start'], ['packed', 'Packed']]} />`}>
    <${Gantt} rows=${all} from=${from} to=${to} within=${own ? null : within} order=${order} gaps=${gaps} ticks=${ticks} threshold=${threshold} selected=${selected} onBrush=${own ? null : (a, b) => zoom(a, b)} own=${own} onPick=${open} height=${tall(rows.n)} /></${Figure}>`
})

// Flight is the number of requests in flight on the same axis.
const Flight = memo(({ rows, from, to, picked }) => {
  const all = useMemo(() => flight(rows.arrival, rows.end), [rows]), c = useMemo(() => part(all, from, to, 800, picked ? running(rows.arrival, rows.end, from) : []), [all, from, to])
  return html`<${Figure} title="In flight" sentence=${`Selected requests between send or arrival and end; at most ${c.max} at once.`} table=${() => ({ head: ['time (s)', 'requests'], rows: Array.from(c.t, (t, i) => [(t / 1e9).toFixed(4), c.v[i]]) })}>
    <${Lines} t=${c.t} series=${[{ label: 'in flight', values: c.v, color: 'accent', fill: true }]} unit="requests" height=${110} from=${from} to=${to} sync="time" onRange=${zoom} label="Requests in flight" /></${Figure}>`
})

// Gaps are counted over all of the time, and finer over the selected one. What that does
// not reach yet shows the coarse counts at once, on the same scale of lengths.
const Gaps = memo(({ from, to, within, ranked, setRanked, run }) => {
  const m = run.metrics.chunk_gap, map = { kind: 'heatmap', xbins: 160, ybins: 48 }
  const coarse = useView(m?.n ? map : null, true), y = coarse?.columns?.y, fine = useView(within && y?.length ? { ...map, from, to, low: y[0], high: y[y.length - 1] - 1 } : null)
  const v = within && fine?.columns ? fine : coarse
  if (!m?.n) return html`<section class="panel"><h3>Gaps between tokens</h3><p class="sentence"><${Null} code=${m?.reason} /></p></section>`
  if (!coarse) return html`<section class="panel"><h3>Gaps between tokens</h3><p class="muted">Reading …</p></section>`
  if (!v.columns) return html`<section class="panel"><h3>Gaps between tokens</h3><p class="muted">${v.error.message}</p></section>`
  if (!coarse.columns.count.some((n) => n > 0)) return html`<section class="panel"><h3>Gaps between tokens (ITL)</h3><p class="sentence">${count(m.n)} chunk gaps, none of which can be placed on one axis of time: <${Null} code="clock" />. Latency shows their distribution.</p></section>`
  const out = (v.below || 0) + (v.above || 0) + (v.outside || 0)
  return html`<${Figure} title="Gaps between tokens (ITL)" sentence=${`${count(m.n)} chunk gaps of ${count(m.requests || 0)} requests: median ${text(m.unit, m.quantiles['0.5'] ?? m.mean)}, p99 ${m.quantiles['0.99'] === undefined ? '—' : text(m.unit, m.quantiles['0.99'])}${out ? `; ${count(out)} outside the area` : ''}. ${ranked ? 'Ranked colours: the rarest cells stand out.' : 'Linear colours: the most frequent cells stand out.'} Click a cell to open its requests.`}
    table=${() => ({ head: ['time (s)', 'gap from (ms)', 'gap to (ms)', 'gaps'], rows: cells(v) })} controls=${html`<${Choice} label="Colours" value=${ranked} onChange=${setRanked} options=${[[false, 'Linear'], [true, 'Ranked']]} />`} legend=${[ranked ? { kind: 'ramp', from: 'most frequent', to: 'rarest' } : { kind: 'ramp', from: 'none', to: count(v.columns.count.reduce((a, b) => Math.max(a, b), 0)) + ' gaps in a cell' }]}>
    <${Heat} map=${v.columns} under=${v === coarse ? null : coarse.columns} ranked=${ranked} unit="ns" title="gap" from=${from} to=${to} onBrush=${(a, b) => zoom(a, b)} onPick=${longest} /></${Figure}>`
})

// longest opens the request with the longest gap in a part of the time, if it is as long
// as the cell says; , and . walk through the others.
async function longest(from, to, low, high) {
  const v = await store.view({ kind: 'gaps', from, to, low, high, limit: 20000 }).catch(() => null), list = []
  v?.columns?.gap.forEach((gap, i) => {
    const end = v.columns.end[i] // a saved document holds others too
    if (gap >= low && gap <= high && end >= from && end < to) list.push([gap, v.columns.row[i]])
  })
  if (!list.length) return store.notice('The requests of this cell are not at hand.')
  list.sort((a, b) => b[0] - a[0])
  walk.rows = [...new Set(list.map(([, row]) => row))]
  open(walk.rows[0])
  store.notice(`${count(walk.rows.length)} request${walk.rows.length > 1 ? 's have gaps' : ' has a gap'} of ${text('ns', low)} to ${text('ns', high)} there; , and . walk through them.`)
}

function cells(v) {
  const { x, y, count: n } = v.columns, ny = y.length - 1, out = []
  n.forEach((k, at) => k && out.push([(x[Math.floor(at / ny)] / 1e9).toFixed(3), (y[at % ny] / 1e6).toFixed(3), (y[at % ny + 1] / 1e6).toFixed(3), k]))
  return out.sort((a, b) => b[3] - a[3])
}
