// What surrounds the views: header, selection, limits, tabs, notices.
import { html, use, useState, useEffect, useRef, useMemo, spoken } from './ui.js'
import * as store from './store.js'
import { views } from './state.js'
import { text, common, number, count } from './format.js'
import { command, query, range } from './query.js'
import { Lines } from './charts/lines.js'
import { curve } from './curves.js'
import { Select } from './widgets.js'
import { choices } from './many.js'
import { Controls } from './views/breakdown.js'


export function Header() {
  const r = use(store.report), run = use(store.run), e = use(store.engine), s = use(store.state), st = use(store.status)
  const themes = ['auto', 'light', 'dark'], next = themes[(themes.indexOf(s.theme) + 1) % 3]
  return html`<header class="top">
    <h1 class="brand">servescope</h1>
    ${run && html`<div class="what">
      ${r.runs.length > 1 ? html`<select aria-label="Run" value=${store.runIndex.value} onChange=${(ev) => store.set({ run: Number(ev.target.value), row: null })}>${choices(r.runs, store.runIndex.value).map(([i, label]) => html`<option value=${i} key=${i} selected=${i === store.runIndex.value}>${label}</option>`)}</select>` : html`<b class="cut" title=${run.label}>${run.label}</b>`}
      <span class="cut muted">${[run.format + (run.version ? ' ' + run.version : ''), run.side + ' side', run.model || run.models?.join(', ')].filter(Boolean).join(' · ')}</span>
    </div>`}
    <span class="grow"></span>
    ${st.partial && html`<span class="badge warn" title="A report of some of the requests: the others are being read">partial: ${count(st.partial.rows)} requests${st.partial.of > 0 ? ' of ' + count(st.partial.of) : ' so far'}</span>`}
    ${r && e?.canOpen !== false && html`<button onClick=${() => store.panel.value = 'add'} title="Open more files beside these" aria-label="Compare with more files">+<span class="long"> compare</span></button>`}
    ${e && html`<button onClick=${() => store.panel.value = 'seal'} title="What this page can and cannot send">${e.kind === 'native' ? 'Local engine' : 'Sealed ✓'}</button>`}
    ${r && html`<button onClick=${() => store.panel.value = 'export'} title="Save (e)">Export</button>`}
    <button class="icon wide-only" onClick=${() => store.panel.value = 'palette'} title="Commands (Ctrl K)" aria-label="Commands, ⌘K">⌘K</button>
    <button class="icon" onClick=${() => store.set({ theme: next })} title=${'Theme: ' + s.theme + ' (t)'} aria-label=${'Theme is ' + s.theme + '; switch to ' + next}>◐</button>
    <button class="icon" onClick=${() => store.panel.value = 'help'} title="Keys (?)" aria-label="Help">?</button>
  </header>`
}

export function Selection() {
  const s = use(store.state), run = use(store.run), st = use(store.status), input = useRef(null), [text_, setText] = useState(s.filter), wrong = use(store.problem), e = use(store.engine)
  useEffect(() => setText(s.filter), [s.filter])
  const span = run.throughput.window_ns?.value
  const commit = () => store.set({ filter: text_.trim() })
  if (e?.kind === 'saved') return html`<${Kept} s=${s} run=${run} />`
  return html`<section class="selection" aria-label="Selection">
    <form onSubmit=${(e) => { e.preventDefault(); commit() }}>
      <label for="filter">Filter</label>
      <input id="filter" ref=${input} value=${text_} onInput=${(e) => setText(e.target.value)} onBlur=${commit} placeholder="ttft > 500ms and status = ok" spellcheck="false" autocomplete="off" aria-invalid=${wrong ? 'true' : undefined} aria-describedby="filter-problem" />
      ${s.filter && html`<button type="button" class="quiet" aria-label="Clear the filter" onClick=${() => store.set({ filter: '' })}>✕</button>`}
    </form>
    <nav class="crumbs" aria-label="Time"><span class="muted">Time</span>
      <button class="crumb" aria-current=${!s.times.length} onClick=${() => store.set({ times: [] })}>all${!s.times.length && span ? ' · ' + text('ns', span) : ''}</button>
      ${s.times.map((t, i) => html`<span aria-hidden="true">▸</span><button class="crumb" aria-current=${i === s.times.length - 1} onClick=${() => store.set({ times: s.times.slice(0, i + 1) })}>${text('ns', t[0])} – ${text('ns', t[1])}</button>`)}
      ${s.times.length > 0 && html`<button class="quiet" aria-label="Leave this range" onClick=${() => store.set({ times: s.times.slice(0, -1) })}>✕</button>`}
    </nav>
    ${e?.definitions?.length > 1 && e.kind !== 'saved' && html`<${Select} label="Definitions" value=${s.definition || 'default'} options=${e.definitions.map((d) => [d.name, d.name])} onChange=${(v) => store.set({ definition: v === 'default' ? '' : v })} />`}
    ${e && e.kind !== 'saved' && html`<${Controls} s=${s} run=${run} dimensions=${e.dimensions} />`}
    <span id="filter-problem" class="bad">${wrong}</span>
    <span class="muted removed">${removed(run, st.partial)}</span>
  </section>`
}

// Kept is the selection of a saved report.
function Kept({ s, run }) {
  const q = store.report.value.query, t = range(s)
  const list = [['filter', s.filter || q?.filter], ['time', t && text('ns', t[0]) + ' – ' + text('ns', t[1])], ['definitions', store.report.value.definition.name]].filter(([, v]) => v)
  return html`<section class="selection" aria-label="Selection"><span class="muted">A saved report:</span>${list.map(([k, v]) => html`<span>${k} <code class="line">${v}</code></span>`)}<span class="muted removed">${removed(run)}</span></section>`
}

// removed tells what a query leaves out, which is known of all requests before they are
// all in the figures.
const removed = (run, partial) => {
  const x = run.removed, list = [[x.filter, 'by the filter'], [x.interval, 'outside the time'], [x.trim, 'trimmed']].filter(([n]) => n > 0)
  return list.length ? (partial ? 'left out of the whole run: ' : 'left out: ') + list.map(([n, t]) => count(n) + ' ' + t).join(', ') : ''
}

// Minimap shows the requests in flight over the whole run, whatever is selected, the
// tokens that came, and where requests failed.
export function Minimap() {
  const run = use(store.run), s = use(store.state), sess = use(store.session), e = use(store.engine), st = use(store.status), base = use(store.all), i = store.runIndex.value, all = !s.times.length && !s.filter, [whole, setWhole] = useState({})
  const own = useMemo(() => all && curve(run.concurrency), [run, all])
  const saved = e?.kind === 'saved', ready = st.phase === 'ready' && !st.partial && run.requests.total !== null
  useEffect(() => {
    if (saved && !all || !ready || whole[i]?.of === sess) return
    const stop = new AbortController()
    sess.view({}, { kind: 'series', run: i, buckets: 300, tokens: run.metrics.chunk_gap?.n > 0 }, { signal: stop.signal }).then((v) => setWhole({ ...whole, [i]: { of: sess, t: v.columns.t, v: v.columns.running_mean, tokens: v.columns.output_tokens && rate(v.columns.output_tokens, v.bucket, 5), end: v.columns.t[v.columns.t.length - 1] + v.bucket } }), () => {})
    return () => stop.abort()
  }, [all, sess, i, ready])
  const held = whole[i]?.of === sess ? whole[i] : null, c = held || own
  const bad = useMemo(() => failures(base, c?.end), [base, c?.end])
  if (saved && !all) return null
  if (!c || c.t.length < 3) return all ? null : html`<section class="minimap"></section>`
  const t = range(s), series = [{ label: 'requests in flight', values: c.v, color: 'accent', fill: true, unit: '' }]
  const most = (list) => list.reduce((a, v) => v > a ? v : a, 0), top = held?.tokens && most(held.tokens)
  // The tokens have a scale of their own: their highest is as high as that of requests.
  if (top) series.push({ label: 'output', values: held.tokens.map((v) => v / top * most(c.v)), read: held.tokens, color: 'decode', unit: 'tokens/s', width: 1 })
  return html`<section class="minimap" aria-label="Requests in flight over the whole run; drag to select a time">
    <${Lines} mini t=${c.t} series=${series} unit="" height=${46} to=${c.end} onRange=${(a, b) => store.set({ times: [[Math.round(a), Math.round(b)]] })} label="Requests in flight and output tokens over the whole run" />
    ${bad && html`<svg class="ticks" viewBox="0 0 1000 5" preserveAspectRatio="none" role="img" aria-label="Failed and aborted requests"><title>Failed and aborted requests</title><path d=${bad} /></svg>`}
    ${t && html`<span class="window" style=${{ left: 100 * Math.max(0, t[0] / c.end) + '%', width: 100 * Math.min(1, (t[1] - t[0]) / c.end) + '%' }}></span>`}
  </section>`
}

// rate is what came a second, over so many buckets at a time: single ones of the map are
// so short that their counts jump.
const rate = (n, bucket, wide) => n.map((_, i) => {
  const from = i - i % wide, to = Math.min(n.length, from + wide)
  return n.subarray(from, to).reduce((a, v) => a + v, 0) / ((to - from) * bucket / 1e9)
})

// failures are marks where requests failed or were aborted, at most 1000.
function failures(rows, end) {
  if (!rows?.n || !end) return ''
  const at = new Set(), bad = rows.status.values.map((v) => v === 'failed' || v === 'aborted')
  for (let i = 0; i < rows.n; i++) {
    const t = rows.end[i] === rows.end[i] ? rows.end[i] : rows.arrival[i]
    if (bad[rows.status.codes[i]] && t === t) at.add(Math.min(999, Math.floor(1000 * t / end)))
  }
  return Array.from(at, (x) => `M${x}.5 0v5`).join('')
}

export function Tabs() {
  const s = use(store.state), r = use(store.report)
  const bad = r.diags.filter((d) => d.severity !== 'info').length
  const title = (v) => v[0].toUpperCase() + v.slice(1), bar = useRef(null)
  useEffect(() => {
    const b = bar.current, tab = b?.querySelector('[aria-selected=true]')
    if (tab && (tab.offsetLeft < b.scrollLeft || tab.offsetLeft + tab.offsetWidth > b.scrollLeft + b.clientWidth)) b.scrollLeft = tab.offsetLeft - 40
  }, [s.view])
  const key = (e) => {
    const to = { ArrowRight: 1, ArrowLeft: -1 }[e.key]
    if (!to) return
    const list = [...e.currentTarget.querySelectorAll('[role=tab]')], i = list.indexOf(document.activeElement)
    e.preventDefault()
    e.stopPropagation()
    const next = list[(i + to + list.length) % list.length]
    next.focus()
    next.click()
  }
  return html`<nav aria-label="Views"><div class="tabs" ref=${bar} role="tablist" aria-label="Views" onKeyDown=${key}>${views.map((v, i) => html`<button role="tab" id=${'tab-' + v} aria-controls="view" aria-selected=${s.view === v} tabindex=${s.view === v ? 0 : -1} onClick=${() => store.set({ view: v })}><kbd aria-hidden="true">${i + 1}</kbd>${title(v)}${v === 'diagnostics' && bad > 0 && html` <span class="badge warn">${bad}</span>`}</button>`)}</div></nav>`
}

export function Progress() {
  const b = use(store.busy), waits = use(store.pending)
  if (!b) return waits ? html`<div class="updating" role="status"><span class="sr">Updating</span></div>` : null
  const share = b.total > 0 ? Math.min(1, b.done / b.total) : null
  return html`<div class="progress" role="progressbar" aria-label="Reading" aria-valuenow=${share === null ? undefined : Math.round(share * 100)} aria-valuemin="0" aria-valuemax="100"><span style=${{ width: (share ?? 0.3) * 100 + '%' }}></span><small>${b.total > 0 ? number(common('bytes', b.total), b.done) + ' of ' + text('bytes', b.total) : text('bytes', b.done)}${b.rows ? ' · ' + count(b.rows) + ' requests' : ''}</small><button class="small" onClick=${store.cancel}>Cancel</button></div>`
}

export function Notices() {
  const list = use(store.notices)
  return html`<div class="notices">${list.map((n) => html`<p key=${n}>${n}<button class="quiet" aria-label="Dismiss" onClick=${() => store.dismiss(n)}>✕</button></p>`)}</div>`
}

export const Live = () => html`<div class="sr" role="status" aria-live="polite">${use(spoken)}</div>`

export function Footer() {
  const e = use(store.engine), s = use(store.state), sess = use(store.session)
  if (!sess) return null
  const line = command('analyze', query(s), (sess.inputs || []).map((i) => i.name))
  return html`<footer class="foot"><span class="muted">The same in a terminal</span> <code class="line">${line}</code><button class="small quiet" onClick=${() => navigator.clipboard?.writeText(line)}>Copy</button><span class="grow"></span><span class="muted">servescope${e?.version ? ' ' + e.version : ''} · ${e?.kind === 'native' ? 'local engine' : e?.kind === 'saved' ? 'saved report' : 'engine in this tab'}</span></footer>`
}
