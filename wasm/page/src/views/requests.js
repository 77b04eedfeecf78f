// Requests: a table of any length, sorted, with presets for outliers; a row opens the
// drawer.
import { html, use, useState, useMemo, useRef, useEffect } from '../ui.js'
import * as store from '../store.js'
import { text, count, common, number } from '../format.js'
import { Null } from '../widgets.js'
import { Drawer, open } from './drawer.js'
import { useView } from './view.js'
import { order } from '../keys.js'
import { inFlight, beyond, longGap } from '../stats.js'

const height = 28
const columns = [
  ['request_id', 'request', 'text', 216], ['status', 'status', 'text', 70], ['arrival', 'start', 'ns', 80], ['ttft', 'TTFT', 'ns', 80], ['tpot', 'TPOT', 'ns/token', 104], ['e2e', 'E2E', 'ns', 80], ['gap_max', 'longest gap', 'ns', 116], ['stalls', 'stalls', '', 66], ['beyond', 'beyond prompt', 'ns', 130],
  ['prompt_tokens', 'prompt', 'tokens', 86], ['cached_tokens', 'cached', 'tokens', 88], ['output_tokens', 'output', 'tokens', 86], ['flight', 'in flight', '', 70], ['model', 'model', 'text', 140], ['error_class', 'error', 'text', 120],
]
// A stall is a gap as long as the run's p99, or twice its median where that is longer.
// What lies beyond a prompt is TTFT less the median of requests whose prompts, without
// what was cached, are about as long.
const notes = { stalls: 'gaps at or above the p99 of the run, or twice its median', beyond: 'TTFT less the median of requests with as long a prompt, without what was cached' }
const presets = [['Slowest TTFT', 'ttft', true], ['Longest E2E', 'e2e', true], ['Longest gap', 'gap_max', true], ['Most stalls', 'stalls', true], ['Furthest beyond its prompt', 'beyond', true], ['Highest TPOT', 'tpot', true], ['Longest prompt', 'prompt_tokens', true], ['In order', 'arrival', false]]

const has = (col) => col && (col.codes ? col.codes.some((c) => c >= 0) : col.some((v) => v === v))

export function Requests() {
  const rows = use(store.here), run = use(store.run), s = use(store.state), [by, setBy] = useState(['arrival', false]), [hidden, setHidden] = useState(new Set())
  const limit = rows?.n ? longGap(run) : null, long = 'gaps_ge.' + limit
  const extra = useView(limit ? { kind: 'columns', columns: ['gap_max', long] } : null)
  const table = useMemo(() => {
    if (!rows) return null
    const gap = new Float64Array(rows.n).fill(NaN), stalls = gap.slice()
    if (extra?.columns?.gap_max) {
      const at = new Map(Array.from(extra.columns.row, (r, i) => [r, i]))
      rows.row.forEach((r, i) => {
        if (!at.has(r)) return
        gap[i] = extra.columns.gap_max[at.get(r)]
        if (extra.columns[long]) stalls[i] = extra.columns[long][at.get(r)]
      })
    }
    const fresh = rows.prompt_tokens.map((n, i) => rows.cached_tokens[i] > 0 ? n - rows.cached_tokens[i] : n)
    return { ...rows, gap_max: gap, stalls, beyond: beyond(fresh, rows.ttft), flight: inFlight(rows.arrival, rows.end) }
  }, [rows, extra])
  const sorted = useMemo(() => table ? sort(table, by) : [], [table, by])
  useEffect(() => { order.rows = table ? Array.from(sorted, (i) => table.row[i]) : [] }, [sorted])
  if (!table) return html`<p class="muted">Reading …</p>`
  if (!table.n) return html`<section class="panel"><h2>No requests</h2><p class="muted">${run.requests.total === null ? html`<${Null} code=${run.requests.reason} />` : run.requests.filtered ? `The query leaves out all ${count(run.requests.filtered)}.` : 'The input holds none.'}</p></section>`
  const offered = columns.filter(([n]) => has(table[n])), shown = offered.filter(([n]) => !hidden.has(n))
  return html`<div class="row"><span class="muted">Show</span>${presets.filter(([, n]) => has(table[n])).map(([t, n, d]) => html`<button class="small" key=${t} aria-pressed=${by[0] === n && by[1] === d} onClick=${() => setBy([n, d])}>${t}</button>`)}
      <details class="chooser"><summary>Columns</summary><div>${offered.map(([n, t]) => html`<label key=${n}><input type="checkbox" checked=${!hidden.has(n)} onChange=${(e) => { const h = new Set(hidden); e.target.checked ? h.delete(n) : h.add(n); setHidden(h) }} /> ${t}</label>`)}</div></details>
      <span class="grow"></span><span class="muted">${count(table.n)} requests</span></div>
    <div class=${'split' + (s.row !== null ? ' open' : '')}><${List} table=${table} sorted=${sorted} shown=${shown} by=${by} setBy=${setBy} selected=${s.row} />${s.row !== null && html`<${Drawer} row=${s.row} />`}</div>`
}

// sort orders rows by a column, null last in either direction.
function sort(table, [name, desc]) {
  const col = table[name], at = Uint32Array.from({ length: table.n }, (_, i) => i)
  if (!col) return at
  if (col.codes) {
    const rank = new Map(col.values.map((v, i) => [v, i]).sort((a, b) => a[0] < b[0] ? -1 : 1).map(([, i], k) => [i, k]))
    const key = (i) => col.codes[i] < 0 ? Infinity : rank.get(col.codes[i]) * (desc ? -1 : 1)
    return at.sort((a, b) => key(a) - key(b) || a - b)
  }
  const sign = desc ? -1 : 1
  return at.sort((a, b) => {
    const x = col[a], y = col[b]
    if (x !== x || y !== y) return (x !== x) - (y !== y) || a - b
    return (x - y) * sign || a - b
  })
}

function List({ table, sorted, shown, by, setBy, selected }) {
  const ref = useRef(null), [top, setTop] = useState(0), [[wide, view], setView] = useState([0, 600])
  useEffect(() => {
    const o = new ResizeObserver(() => ref.current && setView([ref.current.clientWidth, ref.current.clientHeight]))
    o.observe(ref.current)
    return () => o.disconnect()
  }, [])
  const at = useMemo(() => sorted.findIndex((i) => table.row[i] === selected), [sorted, selected])
  useEffect(() => {
    const e = ref.current
    if (!e || at < 0) return
    const y = at * height
    if (y < e.scrollTop || y > e.scrollTop + e.clientHeight - 2 * height) e.scrollTop = y - e.clientHeight / 2
  }, [at])
  const first = Math.max(0, Math.floor(top / height) - 8), last = Math.min(sorted.length, first + Math.ceil(view / height) + 16)
  const scales = useMemo(() => Object.fromEntries(shown.filter(([, , u]) => u !== 'text').map(([n, , u]) => {
    let lo = Infinity, hi = 0
    for (const v of table[n]) if (v === v) { if (v > 0 && v < lo) lo = v; if (v > hi) hi = v }
    const s = common(u, (lo === Infinity ? 0 : lo + hi) / 2, hi)
    return [n, { ...s, prec: ['tokens', ''].includes(u) ? 0 : s.prec }]
  })), [table, shown.length])
  const f = Math.max(1, (wide - 2) / shown.reduce((a, [, , , w]) => a + w, 0)), cols = shown.map(([, , , w]) => Math.floor(w * f) + 'px').join(' ')
  const move = (e) => {
    const d = { ArrowDown: 1, ArrowUp: -1, PageDown: 12, PageUp: -12 }[e.key]
    if (!d && e.key !== 'Home' && e.key !== 'End') return
    e.preventDefault()
    e.stopPropagation()
    const to = e.key === 'Home' ? 0 : e.key === 'End' ? sorted.length - 1 : Math.min(sorted.length - 1, Math.max(0, at + d))
    open(table.row[sorted[to]])
    ref.current.focus()
  }
  const cell = (n, u, i) => {
    const c = table[n]
    if (u === 'text') return c.codes[i] < 0 ? html`<span class="null">—</span>` : html`<span class=${n === 'status' ? 'status ' + c.values[c.codes[i]] : ''} title=${c.values[c.codes[i]]}><bdi>${c.values[c.codes[i]]}</bdi></span>`
    return c[i] === c[i] ? html`<span>${number(scales[n], c[i])}</span>` : html`<span class="null" title="not recorded, or not defined for this request">—</span>`
  }
  return html`<div class="list" ref=${ref} tabindex="0" role="grid" aria-label="Requests" aria-rowcount=${sorted.length + 1} aria-colcount=${shown.length} onScroll=${(e) => setTop(e.target.scrollTop)} onKeyDown=${move} style=${{ '--cols': cols }}>
    <div class="head" role="row">${shown.map(([n, t, u]) => html`<div key=${n} role="columnheader" class=${u === 'text' ? 'text' : ''} aria-sort=${by[0] === n ? (by[1] ? 'descending' : 'ascending') : undefined}><button title=${notes[n]} onClick=${() => setBy([n, by[0] === n ? !by[1] : u !== 'text'])}>${t}${scales[n]?.symbol ? ' (' + scales[n].symbol + ')' : ''}${by[0] === n ? (by[1] ? ' ↓' : ' ↑') : ''}</button></div>`)}</div>
    <div role="rowgroup" class="items" style=${{ height: sorted.length * height + 'px' }}>${Array.from({ length: last - first }, (_, k) => {
      const i = sorted[first + k]
      return html`<div class="item" role="row" key=${table.row[i]} aria-rowindex=${first + k + 2} aria-selected=${table.row[i] === selected} style=${{ top: (first + k) * height + 'px' }} onClick=${() => open(table.row[i])}>${shown.map(([n, , u]) => html`<div role="gridcell" class=${'cell' + (u === 'text' ? ' text' : '') + (n === 'request_id' ? ' id' : '')} key=${n}>${cell(n, u, i)}</div>`)}</div>`
    })}</div></div>`
}
