// Stacked bars of means: the parts of one total, in order of time. Means add up,
// percentiles do not. A part may be negative, which a bar cannot show: it is said.
import { html, useSize } from '../ui.js'
import { text } from '../format.js'
import { leafColor } from '../theme.js'
import { reason } from '../reasons.js'
import { Legend } from './figure.js'

const swatches = (leaves) => {
  const colors = [...new Set(leaves.map(leafColor))]
  return { '--swatch': 'var(--' + colors[0] + ')', '--swatch2': 'var(--' + (colors[1] || colors[0]) + ')' }
}
const deep = new Set(['prefill', 'first', 'network'])
const mixed = (leaves) => new Set(leaves.map(leafColor)).size > 1

// Stack draws rows [{name, note, total, unit, parts: [{leaves, label, value}]}] on one
// scale.
export function Stack({ rows, shared = true }) {
  const max = Math.max(...rows.map((r) => r.total)), [ref, wide] = useSize(), room = wide > 560 ? wide - 314 : wide
  return html`<div class="stack" ref=${ref}>${rows.map((r) => {
    const positive = r.parts.reduce((a, p) => a + Math.max(0, p.value), 0), width = shared ? r.total / max : 1
    return html`<div class="bar-row" key=${r.name}>
      <div class="bar-name">${r.name}<small class="muted">${r.note}</small></div>
      <div class="segments" role="img" aria-label=${r.name + ': ' + r.parts.map((p) => p.label + ' ' + text(r.unit, p.value)).join(', ')} style=${{ width: Math.max(0.5, 100 * width) + '%' }}>${r.parts.filter((p) => p.value > 0).map((p) => html`<span key=${p.label} class=${(mixed(p.leaves) ? 'merged ' : '') + (deep.has(leafColor(p.leaves[0])) ? 'deep' : '')} style=${{ ...swatches(p.leaves), flexGrow: p.value, flexBasis: 0 }} title=${p.label + ': ' + text(r.unit, p.value) + ' (' + text('ratio', p.value / r.total) + ')'}>${p.value / positive * width * room > text(r.unit, p.value).length * 6.4 + 12 ? html`<b>${text(r.unit, p.value)}</b>` : ''}</span>`)}</div>
      <div>${text(r.unit, r.total)}</div></div>`
  })}</div>`
}

// partsLegend names every part once, and what is not recorded hatched.
export function partsLegend(rows, missing = []) {
  const seen = new Map()
  for (const r of rows) for (const p of r.parts) if (p.value !== 0 && !seen.has(p.label)) seen.set(p.label, p.leaves)
  return html`<ul class="legend">${[...seen].map(([label, leaves]) => html`<li key=${label}><span class=${'swatch' + (mixed(leaves) ? ' two' : '')} style=${swatches(leaves)}></span>${label}</li>`)}
    ${missing.map((m) => html`<li key=${'-' + m.name}><span class="swatch hatch" style=${{ '--swatch': 'var(--residual)' }}></span>${m.name}: ${reason(m.reason)}</li>`)}</ul>`
}
