// Requests as lanes over time. Where a lane is thinner than a pixel, each pixel shows
// the worst that any request does in it (stalled, then waiting, prefilling, decoding), so
// that no wait vanishes by being small.
import { html, useMemo } from '../ui.js'
import { PlotArea } from './plotarea.js'
import { pixel, rgb } from '../theme.js'
import { text } from '../format.js'

const [none, decode, prefill, waiting, queue, stall] = [0, 1, 2, 3, 4, 5]
export const phases = [[queue, 'queue', 'queue'], [waiting, 'wait to first token, not told apart', 'first'], [prefill, 'prefill', 'prefill'], [decode, 'decode', 'decode'], [stall, 'gap beyond the run’s p99', 'stall']]
const colorOf = Object.fromEntries(phases.map(([p, , c]) => [p, c]))

// segments of request i: [from, to, phase].
export function segments(r, i) {
  const s = r.arrival[i], first = r.first[i], last = r.last[i] === r.last[i] ? r.last[i] : r.end[i], out = []
  const begin = r.admitted[i] === r.admitted[i] ? r.admitted[i] : r.prefill_start[i]
  if (!(s === s)) return out
  if (begin === begin && begin >= s) {
    if (begin > s) out.push([s, begin, queue])
    if (first === first) out.push([begin, first, prefill])
  } else if (first === first) out.push([s, first, waiting])
  else if (r.end[i] > s) out.push([s, r.end[i], waiting])
  if (first === first && last > first) out.push([first, last, decode])
  return out
}

// laid are the segments of all rows side by side, found once: those of row i are at
// first[i] up to first[i + 1].
const laid = new WeakMap()
function layout(r) {
  let l = laid.get(r)
  if (!l) {
    l = { from: new Float64Array(3 * r.n), to: new Float64Array(3 * r.n), phase: new Uint8Array(3 * r.n), first: new Int32Array(r.n + 1) }
    let k = 0
    for (let i = 0; i < r.n; i++) {
      for (const [a, b, p] of segments(r, i)) {
        l.from[k] = a
        l.to[k] = b
        l.phase[k++] = p
      }
      l.first[i + 1] = k
    }
    laid.set(r, l)
  }
  return l
}

// lanes orders requests by start; packed puts each into the first lane that is free.
export function lanes(r, order) {
  const at = []
  for (let i = 0; i < r.n; i++) if (r.arrival[i] === r.arrival[i]) at.push(i)
  if (at.some((i, k) => k > 0 && r.arrival[i] < r.arrival[at[k - 1]])) at.sort((a, b) => r.arrival[a] - r.arrival[b])
  if (order === 'start') return { at, lane: at.map((_, k) => k), n: at.length }
  const free = [], lane = at.map((i) => {
    let k = free.findIndex((t) => t <= r.arrival[i])
    if (k < 0) k = free.length
    free[k] = r.end[i] === r.end[i] ? r.end[i] : Infinity
    return k
  })
  return { at, lane, n: free.length }
}

export function Gantt({ rows, from, to, order, worst, threshold, selected, own, onBrush, onPick, height = 420 }) {
  const l = useMemo(() => lanes(rows, rows.n > 50000 ? 'start' : order), [rows, order])
  const byRow = useMemo(() => worst && new Map(Array.from(worst.rows, (r, k) => [r, k])), [worst])
  const draw = (g, { c, sx, box }) => {
    const h = box.h / Math.max(1, l.n)
    if (h < 2) return coarse(g, c, sx, box)
    const bar = Math.min(18, Math.max(1, h > 5 ? h - 2 : h - 0.5))
    l.at.forEach((i, k) => {
      const y = box.y + l.lane[k] * h + (h - bar) / 2
      for (const [a, b, p] of segments(rows, i)) {
        if (b < from || a > to) continue
        g.fillStyle = c[colorOf[p]]
        g.fillRect(sx(a), y, Math.max(1, sx(b) - sx(a)), bar)
      }
      const status = rows.status.values[rows.status.codes[i]]
      if (status !== 'ok') {
        g.fillStyle = c[status] || c.failed
        const x = sx(rows.end[i] === rows.end[i] ? rows.end[i] : rows.arrival[i])
        g.fillRect(x - 1.5, y - 1, 3, bar + 2)
      }
      const w = byRow?.get(rows.row[i])
      if (w !== undefined) stalls(g, c, w, y, bar, box, sx)
      if (rows.row[i] === selected) {
        g.strokeStyle = c.ink
        g.lineWidth = 1.5
        g.strokeRect(sx(rows.arrival[i]) - 2, y - 2, Math.max(4, sx(rows.end[i]) - sx(rows.arrival[i])) + 4, bar + 4)
      }
    })
  }
  const stalls = (g, c, w, y, bar, box, sx) => {
    g.fillStyle = c.stall
    const { width, values } = worst
    for (let p = 0; p < width; p++) {
      if (!(values[w * width + p] >= threshold)) continue
      const a = worst.from + (worst.to - worst.from) * p / width, b = worst.from + (worst.to - worst.from) * (p + 1) / width
      g.fillRect(sx(a), y, Math.max(1, sx(b) - sx(a)), bar)
    }
  }
  const coarse = (g, c, sx, box) => {
    const W = Math.ceil(box.w), H = Math.ceil(box.h), worstAt = new Uint8Array(W * H)
    const all = layout(rows), scale = box.w / (to - from)
    l.at.forEach((i, k) => {
      const y = Math.min(H - 1, Math.floor(l.lane[k] * H / l.n)) * W
      for (let s = all.first[i]; s < all.first[i + 1]; s++) {
        if (all.to[s] < from || all.from[s] > to) continue
        const p = all.phase[s], x0 = Math.max(0, Math.floor((all.from[s] - from) * scale)), x1 = Math.min(W - 1, Math.floor((all.to[s] - from) * scale))
        for (let x = x0; x <= x1; x++) if (worstAt[y + x] < p) worstAt[y + x] = p
      }
      const row = byRow?.get(rows.row[i])
      if (row === undefined) return
      for (let x = 0; x < W; x++) if (worst.values[row * worst.width + Math.min(worst.width - 1, Math.floor(x * worst.width / W))] >= threshold) worstAt[y + x] = stall
    })
    const img = new ImageData(W, H), pixels = new Uint32Array(img.data.buffer), colors = [0]
    for (const [p, , n] of phases) colors[p] = pixel(rgb(c[n]))
    for (let k = 0; k < worstAt.length; k++) pixels[k] = colors[worstAt[k]]
    const off = new OffscreenCanvas(W, H)
    off.getContext('2d').putImageData(img, 0, 0)
    g.drawImage(off, box.x, box.y)
  }
  const hit = (x, py, box) => {
    const lane = Math.floor((py - box.y) / box.h * l.n), near = []
    l.at.forEach((i, k) => { if (Math.abs(l.lane[k] - lane) < Math.max(0.5, l.n / box.h) && rows.arrival[i] <= x && (x <= rows.end[i] || !(rows.end[i] === rows.end[i]))) near.push(i) })
    return near.length ? near[0] : order === 'start' && l.n < box.h / 2 ? l.at[lane] ?? -1 : -1
  }
  const describe = (i) => [rows.request_id.values[rows.request_id.codes[i]] ?? 'request ' + rows.row[i], ...segments(rows, i).map(([a, b, p]) => phases.find((x) => x[0] === p)[1] + ' ' + text('ns', b - a)), 'status ' + rows.status.values[rows.status.codes[i]]].join('\n')
  const data = l.at.slice(0, 5000).map((i, k) => ({ x: Math.max(from, rows.arrival[i]), y: l.lane[k], get text() { return describe(i).replace(/\n/g, ', ') }, pick: () => onPick(rows.row[i]) }))
  return html`<${PlotArea} height=${height} x=${{ lo: from, hi: to, unit: 'ns', title: own ? 'time since the start of each request' : 'time since the first request' }} y=${{ lo: l.n, hi: 0, unit: '', title: order === 'packed' ? 'lanes' : own ? 'requests' : 'requests by start', ticks: [] }} draw=${draw} left=${58} data=${data} label="Requests over time" brush=${onBrush ? 'x' : null} onBrush=${onBrush}
    read=${(x, y, { py, box }) => { const i = hit(x, py, box); return i >= 0 ? describe(i) : null }} onPick=${(x, y, { py, box }) => { const i = hit(x, py, box); if (i >= 0) onPick(rows.row[i]) }} />`
}
