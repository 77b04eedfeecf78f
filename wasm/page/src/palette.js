// The command palette: every key's command, metrics, runs and presets, by name.
import { html, useState, useRef, useEffect } from './ui.js'
import * as store from './store.js'
import { map } from './keys.js'
import { sample } from './drop.js'
import { metricInfo, metricName } from './widgets.js'
import { score } from './score.js'

function commands() {
  const r = store.report.value, run = store.run.value
  const list = map.filter((m) => r || m.always).map((m) => ({ name: m.name, key: m.key, run: m.run }))
  list.push({ name: 'Open the sample run', run: sample }, { name: 'Show the seal', run: () => { store.panel.value = 'seal' } })
  if (!r) return list
  for (const [name, m] of Object.entries(run.metrics)) if (m.n > 0) list.push({ name: 'Metric ' + metricName(name) + ': ' + metricInfo(name).title, run: () => store.set({ view: 'latency', metric: name }) })
  r.runs.forEach((x, i) => r.runs.length > 1 && list.push({ name: 'Run ' + x.label, run: () => store.set({ run: i, row: null }) }))
  for (const s of ['ok', 'failed', 'aborted']) list.push({ name: 'Filter: status ' + s, run: () => store.set({ filter: 'status = ' + s }) })
  if (store.engine.value.kind !== 'saved') {
    for (const d of store.engine.value.dimensions) list.push({ name: 'Group by ' + d.replace(/_/g, ' '), run: () => store.set({ groups: [d] }) })
    list.push({ name: 'Group by nothing', run: () => store.set({ groups: [] }) })
    for (const w of [1, 5, 10, 30, 60]) list.push({ name: 'Windows of ' + w + ' s', run: () => store.set({ window: w * 1e9 }) })
    list.push({ name: 'No windows', run: () => store.set({ window: 0 }) })
  }
  list.push({ name: 'Clear the filter', run: () => store.set({ filter: '' }) }, { name: 'Clear the limits', run: () => store.set({ slo: [] }) }, { name: 'Close the files', run: store.close })
  return list
}

export function Palette({ close }) {
  const [text, setText] = useState(''), [at, setAt] = useState(0), ref = useRef(null)
  const list = commands().map((c) => ({ ...c, s: score(text, c.name) })).filter((c) => c.s !== null)
  if (text) list.sort((a, b) => b.s - a.s)
  const shown = list.slice(0, 200), i = Math.min(at, shown.length - 1)
  useEffect(() => document.getElementById('command-' + i)?.scrollIntoView({ block: 'nearest' }), [i, text])
  const go = (c) => {
    close()
    setTimeout(() => c?.run()) // the dialog gives the focus back first
  }
  const key = (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key]
    if (by) setAt((i + by + shown.length) % shown.length)
    else if (e.key === 'Enter') go(shown[i])
    else return
    e.preventDefault()
  }
  return html`<input ref=${ref} autofocus class="wide" role="combobox" aria-expanded="true" aria-controls="commands" aria-activedescendant=${'command-' + i} aria-label="Command" value=${text} onInput=${(e) => { setText(e.target.value); setAt(0) }} onKeyDown=${key} placeholder="Type a command or a metric" />
    <ul id="commands" role="listbox" aria-label="Commands" class="commands">${shown.map((c, k) => html`<li role="option" id=${'command-' + k} aria-selected=${k === i} onClick=${() => go(c)} onPointerMove=${() => setAt(k)}><span class="cut">${c.name}</span>${c.key && html`<kbd>${c.key}</kbd>`}</li>`)}${!shown.length && html`<li class="muted">nothing of that name</li>`}</ul>`
}
