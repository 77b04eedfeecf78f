// Distributions of one or several runs as curves: the share of values that are at
// most x (with the 95 % band of the empirical distribution), x by percentile, or a
// histogram.
import { html, useMemo } from '../ui.js'
import { PlotArea, limitLine, acrossLine } from './plotarea.js'
import { text, count, rankName } from '../format.js'
import { quantile, atMost, band, sampled } from '../stats.js'

const rankText = rankName
const pTicks = [0.5, 0.75, 0.9, 0.95, 0.99, 0.999, 0.9999]

const floor = (v, lo) => v > 0 ? v : lo

// bounds of a logarithmic axis over the positive values of several sorted lists.
function bounds(list, limit) {
  let lo = Infinity, hi = 0
  for (const s of list) {
    let i = 0
    while (i < s.values.length && s.values[i] <= 0) i++
    if (i < s.values.length) {
      lo = Math.min(lo, s.values[i])
      hi = Math.max(hi, s.values[s.values.length - 1])
    }
  }
  if (limit) {
    lo = Math.min(lo, limit)
    hi = Math.max(hi, limit)
  }
  if (!(hi > 0)) return [1, 10]
  return [lo * 0.9, Math.max(hi * 1.1, lo * 1.3)]
}

// Curves draws series [{label, color, values (sorted), dash}]. mode is ecdf,
// percentile or histogram; rank is the percentile that is marked. onPick(v) moves the
// limit. The axis of values goes with over, or with the values and the limit.
export function Curves({ series, unit, name, mode, limit, onPick, rank, over, height = 300 }) {
  const list = series.filter((s) => s.values.length), [lo, hi] = useMemo(() => bounds(over || list, over ? null : limit), [series, over, limit])
  const n = Math.min(...list.map((s) => s.values.length)), top = Math.min(0.9999, 1 - 1 / (2 * Math.max(n, 10)))
  const value = { lo, hi, log: true, unit, title: name }
  const share = { lo: 0, hi: 1, unit: 'ratio', title: 'requests with at most this' }
  const ranked = { lo: 0, hi: Math.max(top, 0.95), fn: (p) => -Math.log10(1 - p), inverse: (v) => 1 - 10 ** -v, unit: '', title: 'percentile', ticks: [[0, 'p0'], ...pTicks.filter((p) => p <= Math.max(top, 0.95)).map((p) => [p, rankText(p)])] }
  const first = list[0]
  const bins = useMemo(() => mode === 'histogram' ? histogram(list, lo, hi) : null, [series, mode, lo, hi])
  const axes = mode === 'percentile' ? [ranked, value] : mode === 'ecdf' ? [value, share] : [value, { lo: 0, hi: bins.max * 1.08, unit: '', title: 'values per bin' }]
  const draw = (g, { c, sx, sy, box }) => {
    for (const s of list) {
      g.strokeStyle = g.fillStyle = c[s.color]
      g.lineWidth = 2
      g.setLineDash(s.dash || [])
      if (mode === 'histogram') bars(g, bins.of.get(s), bins, sx, sy, list.length > 1)
      else line(g, s, mode, sx, sy, box, lo)
      g.setLineDash([])
    }
    if (limit && mode !== 'percentile') limitLine(g, { c, sx, box }, limit, text(unit, limit))
    if (limit && mode === 'percentile') acrossLine(g, { c, sy, box }, limit)
    if (rank && list.length === 1 && mode !== 'histogram') mark(g, c, sx, sy, box)
  }
  const mark = (g, c, sx, sy, box) => {
    const v = quantile(first.values, rank), [px, py] = mode === 'percentile' ? [sx(rank), sy(floor(v, lo))] : [sx(floor(v, lo)), sy(rank)]
    g.fillStyle = c.ink
    g.beginPath()
    g.arc(px, py, 4, 0, 7)
    g.fill()
    g.font = '600 12px ' + c.font
    const left = px > box.x + box.w / 2
    g.textAlign = left ? 'right' : 'left'
    const label = `${rankText(rank)} ${text(unit, v)}`, x = px + (left ? -9 : 9), y = Math.min(box.y + box.h - 6, Math.max(box.y + 12, py + 18)), w = g.measureText(label).width
    g.fillStyle = c.panel
    g.globalAlpha = 0.8
    g.fillRect(left ? x - w - 3 : x - 3, y - 12, w + 6, 16)
    g.globalAlpha = 1
    g.fillStyle = c.ink
    g.fillText(label, x, y)
  }
  const read = (x, y) => {
    if (mode === 'percentile') return list.map((s) => `${s.label}: ${rankText(x)} = ${text(unit, quantile(s.values, x))}`).join('\n')
    if (mode === 'histogram') return list.map((s) => `${s.label}: ${bins.at(s, x)} values near ${text(unit, x)}`).join('\n')
    return list.map((s) => `${s.label}: ${text('ratio', atMost(s.values, x) / s.values.length)} at most ${text(unit, x)}`).join('\n')
  }
  const data = first && [0.01, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99, 0.999].filter((p) => p < top || p <= 0.95).map((p) => {
    const v = quantile(first.values, p)
    return { x: mode === 'percentile' ? p : floor(v, lo), y: mode === 'percentile' ? floor(v, lo) : mode === 'ecdf' ? p : undefined, text: list.map((s) => `${s.label}: ${rankText(p)} ${text(unit, quantile(s.values, p))}`).join('\n'), pick: onPick && (() => onPick(v)) }
  })
  const grips = limit && onPick && [{ axis: mode === 'percentile' ? 'y' : 'x', value: limit, label: name + ' limit on the chart', text: (v) => text(unit, v), onChange: onPick }]
  if (!list.length) return html`<p class="muted">The values themselves are not at hand; the quantiles are those of the report.</p>`
  return html`<${PlotArea} height=${height} x=${axes[0]} y=${axes[1]} draw=${draw} read=${read} data=${data} label=${name} grips=${grips} onPick=${onPick && ((x, y) => onPick(mode === 'percentile' ? y : x))} />`
}

function line(g, s, mode, sx, sy, box, lo) {
  const v = s.values, n = v.length
  if (mode === 'ecdf') {
    const e = band(n), at = sampled(n, 2000)
    g.globalAlpha = 0.14
    g.beginPath()
    at.forEach((i, k) => g[k ? 'lineTo' : 'moveTo'](sx(floor(v[i], lo)), sy(Math.min(1, (i + 1) / n + e))))
    at.reverse().forEach((i) => g.lineTo(sx(floor(v[i], lo)), sy(Math.max(0, (i + 1) / n - e))))
    g.fill()
    g.globalAlpha = 1
    g.beginPath()
    g.moveTo(box.x, sy(0))
    let last = 0
    for (const i of at.reverse()) {
      g.lineTo(sx(floor(v[i], lo)), sy(last))
      g.lineTo(sx(floor(v[i], lo)), sy((i + 1) / n))
      last = (i + 1) / n
    }
    g.lineTo(box.x + box.w, sy(1))
    g.stroke()
    return
  }
  g.beginPath()
  const top = Math.min(0.9999, 1 - 1 / (2 * Math.max(n, 10)))
  for (let k = 0; k <= 400; k++) {
    const p = 1 - 10 ** (Math.log10(1 - top) * k / 400)
    g[k ? 'lineTo' : 'moveTo'](sx(p), sy(floor(quantile(v, p), lo)))
  }
  g.stroke()
}

function histogram(list, lo, hi) {
  const m = 48, k = m / Math.log(hi / lo), of = new Map()
  let max = 1
  for (const s of list) {
    const h = new Uint32Array(m)
    for (const v of s.values) if (v > 0) h[Math.min(m - 1, Math.max(0, Math.floor(Math.log(v / lo) * k)))]++
    of.set(s, h)
    max = Math.max(max, ...h)
  }
  return { of, max, m, edge: (i) => lo * Math.exp(i / k), at: (s, x) => count(of.get(s)[Math.min(m - 1, Math.max(0, Math.floor(Math.log(x / lo) * k)))]) }
}

function bars(g, h, bins, sx, sy, several) {
  g.globalAlpha = several ? 0.45 : 0.85
  h.forEach((n, i) => {
    const a = sx(bins.edge(i)), b = sx(bins.edge(i + 1))
    if (n) g.fillRect(a + 0.5, sy(n), Math.max(1, b - a - 1), sy(0) - sy(n))
  })
  g.globalAlpha = 1
}
