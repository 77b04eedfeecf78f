// The keyboard. Single keys are inactive in fields and dialogs, and can be switched off.
import { html, use, signal } from './ui.js'
import * as store from './store.js'
import { views, ranks } from './state.js'
import { text, rankName } from './format.js'
import { metricName } from './names.js'
import { say } from './ui.js'
import { span } from './stats.js'
import { browse } from './drop.js'
import { Licences } from './licences.js'

export const single = signal(true)

const focus = (id) => document.getElementById(id)?.focus()
const themes = ['auto', 'light', 'dark']

// map lists the keys with what they do; the palette offers the same commands.
export const map = [
  ...views.map((v, i) => ({ key: String(i + 1), name: 'View ' + v, run: () => store.set({ view: v }) })),
  { key: 'o', name: 'Open files', always: true, run: browse },
  { key: '/', name: 'Edit the filter', run: () => focus('filter') },
  { key: 'w', name: 'Zoom in on the time', also: 'ArrowUp', run: () => scale(0.5) },
  { key: 's', name: 'Zoom out', also: 'ArrowDown', run: () => scale(2) },
  { key: 'a', name: 'Earlier', also: 'ArrowLeft', run: () => shift(-0.25) },
  { key: 'd', name: 'Later', also: 'ArrowRight', run: () => shift(0.25) },
  { key: 'f', name: 'Fit the open request', run: fit },
  { key: '0', name: 'All of the time', run: () => store.set({ times: [] }) },
  { key: ',', name: 'Previous request in the list', run: () => step(-1) },
  { key: '.', name: 'Next request in the list', run: () => step(1) },
  { key: '[', name: 'Lower percentile', run: () => percentile(-1) },
  { key: ']', name: 'Higher percentile', run: () => percentile(1) },
  { key: 'g', name: 'SLO limits', run: () => document.querySelector('#limits input:not(:disabled)')?.focus() },
  { key: 'c', name: 'Compare with more files', run: () => { store.panel.value = 'add' } },
  { key: 'e', name: 'Save or export', run: () => { store.panel.value = 'export' } },
  { key: 't', name: 'Next theme', always: true, run: () => store.set({ theme: themes[(themes.indexOf(store.state.value.theme) + 1) % 3] }) },
  { key: '?', name: 'Keys', always: true, run: () => { store.panel.value = 'help' } },
  { key: 'Escape', name: 'Close, or up one range of time', run: up },
]

// order is the list of rows that , and . walk; the view of requests keeps it.
export const order = { rows: [] }

function step(by) {
  const list = order.rows.length ? order.rows : Array.from(store.here.value?.row || [])
  if (!list.length) return
  const at = list.indexOf(store.state.value.row)
  store.set({ row: list[Math.min(list.length - 1, Math.max(0, at < 0 ? 0 : at + by))] })
}

// percentile marks the next rank, in the distribution and wherever tails stand.
function percentile(by) {
  const s = store.state.value, rank = ranks[Math.min(ranks.length - 1, Math.max(0, ranks.indexOf(s.rank) + by))]
  const m = store.run.value?.metrics[s.metric], v = m?.n ? m.quantiles[rank] : undefined
  store.set({ rank })
  say(metricName(s.metric) + ' ' + rankName(rank) + ': ' + (v === undefined ? 'not known' : text(m.unit, v)))
}

// time is the selected range of time, or all of it.
function time() {
  const w = store.run.value?.throughput.window_ns?.value
  return store.selection.value || (w ? [0, w] : null)
}

// bounds are the range around the selected one, or that of the run where it is known.
function bounds() {
  const s = store.state.value.times, all = store.all.value
  return s.length > 1 ? s[s.length - 2] : [0, all && all !== store.here.value ? span(all)[1] : Infinity]
}

function move(a, b) {
  const [lo, hi] = bounds(), t = [Math.round(Math.max(lo, a)), Math.round(Math.min(hi, b))]
  if (t[1] - t[0] >= 1000) store.move([...store.state.value.times.slice(0, -1), t])
}

function scale(by) {
  const t = time()
  if (!t || (by > 1 && !store.selection.value)) return
  const mid = (t[0] + t[1]) / 2, half = ((t[1] - t[0]) / 2) * by
  move(mid - half, mid + half)
}

function shift(by) {
  const t = store.selection.value, [lo, hi] = bounds()
  if (!t) return
  const d = Math.max(lo - t[0], Math.min(Math.max(0, hi - t[1]), (t[1] - t[0]) * by))
  move(t[0] + d, t[1] + d)
}

function fit() {
  const h = store.here.value, i = h ? h.row.indexOf(store.state.value.row) : -1
  if (i < 0 || !(h.end[i] > h.arrival[i])) return
  const pad = (h.end[i] - h.arrival[i]) * 0.1
  store.set({ times: [...store.state.value.times, [Math.max(0, Math.round(h.arrival[i] - pad)), Math.round(h.end[i] + pad)]] })
}

function up() {
  if (store.state.value.row !== null) store.set({ row: null })
  else if (store.state.value.times.length) store.set({ times: store.state.value.times.slice(0, -1) })
}

export function keys() {
  addEventListener('keydown', (e) => {
    if ((e.ctrlKey || e.metaKey) && e.key.toLowerCase() === 'k') {
      e.preventDefault()
      store.panel.value = 'palette'
      return
    }
    if (e.ctrlKey || e.metaKey || e.altKey || store.panel.value || e.defaultPrevented) return
    const t = e.target
    if (t.closest?.('input, select, textarea, [contenteditable]')) {
      if (e.key === 'Escape') t.blur()
      return
    }
    if (!single.value && e.key !== 'Escape') return
    if (e.key.startsWith('Arrow') && t.closest?.('[role=tablist], [role=grid], .scroll, .plot, .lines, .list')) return
    if (e.key.startsWith('Arrow') && (e.key === 'ArrowUp' || e.key === 'ArrowDown') && t === document.body) return // scrolls
    const k = map.find((m) => m.key === e.key || m.also === e.key)
    if (!k || (!store.report.value && !k.always)) return
    e.preventDefault()
    k.run()
  })
}

export function Help() {
  const on = use(single)
  return html`<dl class="keys">${map.map((m) => html`<div key=${m.key}><dt><kbd>${m.key.replace('Escape', 'Esc')}</kbd>${m.also && html` <kbd>${m.also.replace('Arrow', '').toLowerCase()}</kbd>`}</dt><dd>${m.name}</dd></div>`)}<div><dt><kbd>Ctrl K</kbd></dt><dd>Commands</dd></div></dl>
    <p>On a chart, the arrow keys read its values one by one; Enter opens the request. Drag to select a time or a box.</p>
    <label><input type="checkbox" checked=${on} onChange=${(e) => { single.value = e.target.checked }} /> single keys are on</label>
    <${Licences} />`
}
