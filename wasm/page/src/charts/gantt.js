// Requests as lanes over time. Where a lane is thinner than a pixel, each pixel shows
// the worst that any request does in it (stalled, then waiting, prefilling, decoding), so
// that no wait vanishes by being small.
import { html, useMemo } from '../ui.js'
import { PlotArea } from './plotarea.js'
import { pixel, rgb } from '../theme.js'
import { text } from '../format.js'
import { decode, prefill, waiting, queue, stall, aborted, failed, segments, lanes, between } from './lanes.js'

export const phases = [[queue, 'queue', 'queue'], [waiting, 'wait to first token, not told apart', 'first'], [prefill, 'prefill', 'prefill'], [decode, 'decode', 'decode'], [stall, 'gap beyond the run’s p99', 'stall']]
const colorOf = { ...Object.fromEntries(phases.map(([p, , c]) => [p, c])), [aborted]: 'aborted', [failed]: 'failed' }

// sheet is what the coarse picture is put together on: it is kept, for making one takes
// longer than filling it.
const sheet = { canvas: null, worst: null, image: null }
function blank(W, H) {
  if (sheet.image?.width !== W || sheet.image.height !== H) {
    sheet.canvas = new OffscreenCanvas(W, H)
    sheet.image = new ImageData(W, H)
    sheet.worst = new Uint8Array(W * H)
  } else sheet.worst.fill(0)
  return sheet
}

// along finds the lanes of gaps, {row, end, gap}, of that length or longer.
function along(l, rows, gaps, least) {
  if (!gaps) return null
  const { row, end, gap } = gaps, of = new Int32Array(rows.row.reduce((a, b) => Math.max(a, b), 0) + 1).fill(-1), at = new Int32Array(row.length)
  l.at.forEach((i, k) => { of[rows.row[i]] = k })
  let n = 0
  const from = new Float64Array(row.length), to = new Float64Array(row.length)
  for (let j = 0; j < row.length; j++) {
    const k = of[row[j]] ?? -1
    if (k < 0 || !(gap[j] >= least)) continue
    at[n] = k
    from[n] = end[j] - gap[j]
    to[n++] = end[j]
  }
  return { n, at, from, to }
}

// Gantt draws those of rows that arrive within a range of time, or all of them. Of gaps
// those of threshold or longer are stalls; each ends with a tick where there is room.
export function Gantt({ rows, from, to, within, order, gaps, ticks, threshold, selected, own, onBrush, onPick, height = 420 }) {
  const l = useMemo(() => lanes(rows, rows.n > 50000 ? 'start' : order), [rows, order])
  const { lo, hi, base, n } = between(l, within)
  const long = useMemo(() => along(l, rows, gaps, threshold), [l, rows, gaps, threshold]), every = useMemo(() => along(l, rows, ticks, 1), [l, rows, ticks])
  const laneOf = (k) => (l.lane ? l.lane[k] : k) - base
  const draw = (g, { c, sx, box }) => {
    const h = box.h / Math.max(1, n), bar = Math.min(18, Math.max(1, h > 5 ? h - 2 : h - 0.5))
    if (h < 2 || hi - lo > 3000) coarse(g, c, box)
    else fine(g, c, sx, box, h, bar)
    const k = selected === null ? -1 : l.at.findIndex((i, k) => k >= lo && k < hi && rows.row[i] === selected)
    if (k < 0) return
    g.strokeStyle = c.ink
    g.lineWidth = 1.5
    g.strokeRect(sx(l.start[k]) - 2, box.y + laneOf(k) * h + (h - bar) / 2 - 2, Math.max(4, sx(l.end[k]) - sx(l.start[k])) + 4, bar + 4)
  }
  const fine = (g, c, sx, box, h, bar) => {
    for (let k = lo; k < hi; k++) {
      const y = box.y + laneOf(k) * h + (h - bar) / 2
      for (let s = l.first[k]; s < l.first[k + 1]; s++) {
        if (l.to[s] < from || l.from[s] > to) continue
        g.fillStyle = c[colorOf[l.phase[s]]]
        g.fillRect(sx(l.from[s]), y, Math.max(1, sx(l.to[s]) - sx(l.from[s])), bar)
      }
      if (l.fate[k]) {
        g.fillStyle = c[colorOf[l.fate[k]]]
        g.fillRect(sx(l.end[k]) - 1.5, y - 1, 3, bar + 2)
      }
    }
    const each = (list, f) => {
      for (let j = 0; j < list?.n; j++) if (list.at[j] >= lo && list.at[j] < hi && list.to[j] >= from && list.from[j] <= to) f(sx(list.from[j]), sx(list.to[j]), box.y + laneOf(list.at[j]) * h + (h - bar) / 2)
    }
    g.fillStyle = c.stall
    each(long, (a, b, y) => g.fillRect(a, y, Math.max(1, b - a), bar))
    g.fillStyle = c.panel
    if (bar >= 4) each(every, (a, b, y) => b - a >= 4 && g.fillRect(Math.round(b), y, 1, bar))
  }
  const coarse = (g, c, box) => {
    const W = Math.ceil(box.w), H = Math.ceil(box.h), { canvas, image, worst: most } = blank(W, H), scale = box.w / (to - from)
    const mark = (y, a, b, p) => {
      const x0 = Math.max(0, Math.floor((a - from) * scale)), x1 = Math.min(W - 1, Math.floor((b - from) * scale))
      for (let x = x0; x <= x1; x++) if (most[y + x] < p) most[y + x] = p
    }
    for (let k = lo; k < hi; k++) {
      const y = Math.min(H - 1, Math.floor(laneOf(k) * H / n)) * W
      for (let s = l.first[k]; s < l.first[k + 1]; s++) mark(y, l.from[s], l.to[s], l.phase[s])
      if (l.fate[k]) mark(y, l.end[k], l.end[k] + 1 / scale, l.fate[k])
    }
    for (let j = 0; j < long?.n; j++) if (long.at[j] >= lo && long.at[j] < hi) mark(Math.min(H - 1, Math.floor(laneOf(long.at[j]) * H / n)) * W, long.from[j], long.to[j], stall)
    const pixels = new Uint32Array(image.data.buffer), colors = new Uint32Array(8)
    for (const [p, name] of Object.entries(colorOf)) colors[p] = pixel(rgb(c[name]))
    for (let k = 0; k < pixels.length; k++) pixels[k] = colors[most[k]]
    // Few lanes are higher than a pixel: the rows below the first of each are like it,
    // but for one between lanes that leave room for it.
    if (n < H) for (let k = 0; k < n; k++) {
      const y = Math.floor(k * H / n), next = Math.floor((k + 1) * H / n)
      for (let j = y + 1; j < next - (next - y > 3 ? 1 : 0); j++) pixels.copyWithin(j * W, y * W, (y + 1) * W)
    }
    canvas.getContext('2d').putImageData(image, 0, 0)
    g.drawImage(canvas, box.x, box.y)
  }
  // Of the requests that lie on a pixel, the first one that is there at the time.
  const hit = (x, py, box) => {
    const lane = (py - box.y) / box.h * n
    for (let k = lo; k < hi; k++) {
      const off = lane - laneOf(k)
      if (off >= -n / box.h && off < Math.max(1, n / box.h) && l.start[k] <= x && (x <= l.end[k] || l.end[k] === l.start[k])) return l.at[k]
    }
    return !l.lane && n < box.h / 2 ? l.at[lo + Math.floor(lane)] ?? -1 : -1
  }
  const describe = (i) => [rows.request_id.values[rows.request_id.codes[i]] ?? 'request ' + rows.row[i], ...segments(rows, i).map(([a, b, p]) => phases.find((x) => x[0] === p)[1] + ' ' + text('ns', b - a)), 'status ' + rows.status.values[rows.status.codes[i]]].join('\n')
  const data = { length: hi - lo, at: (k) => ({ x: Math.max(from, l.start[lo + k]), y: laneOf(lo + k), text: describe(l.at[lo + k]).replace(/\n/g, ', '), pick: () => onPick(rows.row[l.at[lo + k]]) }) }
  return html`<${PlotArea} height=${height} x=${{ lo: from, hi: to, unit: 'ns', title: own ? 'time since the start of each request' : 'time since the first request' }} y=${{ lo: n, hi: 0, unit: '', title: l.lane ? 'lanes' : own ? 'requests' : 'requests by start', ticks: [] }} draw=${draw} left=${58} data=${data} label="Requests over time" brush=${onBrush ? 'x' : null} onBrush=${onBrush}
    read=${(x, y, { py, box }) => { const i = hit(x, py, box); return i >= 0 ? describe(i) : null }} onPick=${(x, y, { py, box }) => { const i = hit(x, py, box); if (i >= 0) onPick(rows.row[i]) }} />`
}
