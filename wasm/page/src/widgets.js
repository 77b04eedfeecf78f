// Small parts of the views.
import { html, useState, useRef, useEffect } from './ui.js'
import { text, parts, number, common, short } from './format.js'
import { reason } from './reasons.js'
import { metricName } from './names.js'
import { engine, report } from './store.js'

// Value is one value of a report with its unit, or a dash with the reason.
export function Value({ v, unit }) {
  if (!v || v.value === null || v.value === undefined) return html`<${Null} code=${v?.reason} note=${v?.note} />`
  const [n, s] = parts(v.unit || unit || '', v.value)
  return html`<span class="value" title=${v.note}>${n}${s && html` <small>${s}</small>`}</span>`
}

export const Null = ({ code, note }) => html`<span class="null" title=${reason(code) + (note ? '. ' + note : '')}>— <small>${reason(code)}</small></span>`

// Num is a number with its unit, or a dash for NaN and null.
export const Num = ({ v, unit }) => v === null || v === undefined || v !== v ? html`<span class="null">—</span>` : html`<${Value} v=${{ value: v, unit }} />`

export const metricInfo = (name) => engine.value?.metrics.find((m) => m.name === name) || { name, title: name.replace(/_/g, ' '), unit: '', better: 'neither' }

export { metricName } from './names.js'

export const arrow = { lower: '↓ lower is better', higher: '↑ higher is better', neither: '' }

// formula is the definition of a metric under the report's definition set.
export const formula = (name) => report.value?.definition.formulas[name] || metricInfo(name).formula || ''

// Info is a button that shows a definition.
export function Info({ label, children }) {
  const [open, set] = useState(false), ref = useRef(null)
  useEffect(() => {
    if (!open) return
    const away = (e) => !ref.current?.contains(e.target) && set(false)
    addEventListener('pointerdown', away)
    return () => removeEventListener('pointerdown', away)
  }, [open])
  return html`<span class="info" ref=${ref} onKeyDown=${(e) => { if (e.key === 'Escape' && open) { e.stopPropagation(); set(false) } }}>
    <button class="info-button" aria-expanded=${open} aria-label=${'About ' + label} onClick=${(e) => { e.stopPropagation(); set(!open) }}>i</button>
    ${open && html`<span class="note" role="note">${children}</span>`}</span>`
}

export function MetricInfo({ name, m }) {
  const info = metricInfo(name)
  return html`<${Info} label=${metricName(name)}><b>${info.title}</b>
    ${formula(name) && html`<code>${formula(name)}</code>`}
    <span>${[info.unit && 'base unit ' + info.unit, arrow[info.better], m?.side && 'stamps of the ' + m.side].filter(Boolean).join(' · ')}</span>
    <span>Definition set ${report.value?.definition.name}: ${report.value?.definition.title}</span></${Info}>`
}

// Tabs is a row of choices, one of which holds.
export function Choice({ label, options, value, onChange }) {
  return html`<div class="choice" role="group" aria-label=${label}>${options.map(([v, t]) => html`<button class="small" key=${v} aria-pressed=${v === value} onClick=${() => onChange(v)}>${t}</button>`)}</div>`
}

export function Select({ label, options, value, onChange }) {
  return html`<label class="select"><span>${label}</span><select value=${value} onChange=${(e) => onChange(e.target.value)}>${options.map(([v, t]) => html`<option value=${v} key=${v} selected=${String(v) === String(value)}>${t}</option>`)}</select></label>`
}

// Dialog traps the focus while it is open and gives it back.
export function Dialog({ title, onClose, children, class: cls }) {
  const ref = useRef(null)
  useEffect(() => {
    const d = ref.current, before = document.activeElement
    if (!d.open) d.showModal()
    return () => before?.focus?.()
  }, [])
  return html`<dialog ref=${ref} class=${cls || ''} aria-label=${title} onCancel=${(e) => { e.preventDefault(); onClose() }} onClick=${(e) => e.target === ref.current && onClose()}>
    <div class="dialog"><header><h2>${title}</h2><button class="quiet" onClick=${onClose} aria-label="Close">✕</button></header>${children}</div></dialog>`
}

// Spark is a small line of values that share a width: an empirical distribution or
// a curve over time; counts over time stay as they are until the next of their steps.
export function Spark({ points, label, color = 'accent', steps = false }) {
  if (points.length < 2 || points[0][0] >= points[points.length - 1][0] - 1e-3) return null
  const xs = points.map((p) => p[0]), ys = points.map((p) => p[1])
  const x0 = Math.min(...xs), x1 = Math.max(...xs), y1 = Math.max(...ys, 1e-300), y0 = Math.min(0, ...ys)
  const d = points.map((p, i) => {
    const x = ((p[0] - x0) / (x1 - x0 || 1) * 120).toFixed(1), y = (27 - (p[1] - y0) / (y1 - y0 || 1) * 25).toFixed(1)
    return i && steps ? 'H' + x + 'V' + y : (i ? 'L' : 'M') + x + ' ' + y
  }).join('')
  return html`<svg class="spark" viewBox="0 0 120 28" preserveAspectRatio="none" role="img" aria-label=${label}><path d=${d} class=${'stroke-' + color} /></svg>`
}
