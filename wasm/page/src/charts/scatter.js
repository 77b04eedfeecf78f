// Points of requests, x against y, with the median and the 95th percentile of y by
// bins of x. Beyond a number of points cells are counted instead, so that none hides
// another. A box selects.
import { html, useMemo } from '../ui.js'
import { PlotArea } from './plotarea.js'
import { text, count } from '../format.js'
import { trend } from '../stats.js'
import { ramp } from '../theme.js'

const most = 20000

function extent(column, keep) {
  let lo = Infinity, hi = -Infinity
  for (let i = 0; i < column.length; i++) {
    const v = column[i]
    if (v === v && keep(i)) {
      if (v < lo) lo = v
      if (v > hi) hi = v
    }
  }
  return [lo, hi]
}

// Scatter draws {x, y: {values, unit, title, log}}; color(i) is the name of a colour, or
// tint(i) a share of the ramp. onBox(x0, x1, y0, y1) and onPick(i).
export function Scatter({ x, y, color, tint, describe, onBox, onPick, height = 340, label, limit }) {
  const drawn = (i) => x.values[i] === x.values[i] && y.values[i] === y.values[i] && (!x.log || x.values[i] > 0) && (!y.log || y.values[i] > 0)
  const [xr, yr, lines, n] = useMemo(() => {
    let n = 0
    for (let i = 0; i < x.values.length; i++) if (drawn(i)) n++
    return [extent(x.values, drawn), extent(y.values, drawn), trend(x.values, y.values), n]
  }, [x.values, y.values])
  if (!n) return html`<p class="muted">No request has both ${x.title} and ${y.title}.</p>`
  const pad = (r, log) => log ? [r[0] * 0.85, Math.max(r[1] * 1.15, r[0] * 1.3)] : [0, r[1] > 0 ? r[1] * 1.05 : 1]
  const [xlo, xhi] = pad(xr, x.log), [ylo, yhi] = pad(yr, y.log)
  const ax = { lo: xlo, hi: xhi, log: x.log, unit: x.unit, title: x.title }, ay = { lo: ylo, hi: yhi, log: y.log, unit: y.unit, title: y.title }
  const draw = (g, { c, sx, sy, box }) => {
    if (n > most) cells(g, c, sx, sy, box)
    else {
      g.globalAlpha = n > 3000 ? 0.35 : 0.75
      const r = n > 3000 ? 1.6 : n > 300 ? 2.4 : 3.5
      for (let i = 0; i < x.values.length; i++) {
        if (!drawn(i)) continue
        g.fillStyle = tint ? (tint(i) === null ? c.residual : 'rgb(' + ramp({ ramp: c.ramp.slice(1) }, tint(i)).join() + ')') : c[color(i)]
        g.beginPath()
        g.arc(sx(x.values[i]), sy(y.values[i]), r, 0, 7)
        g.fill()
      }
      g.globalAlpha = 1
    }
    for (const [key, dash, w] of [['median', [], 2], ['p95', [6, 3], 1.5]]) {
      g.strokeStyle = c.ink
      g.lineWidth = w
      g.setLineDash(dash)
      g.beginPath()
      lines.forEach((t, i) => g[i ? 'lineTo' : 'moveTo'](sx(t.x), sy(t[key])))
      g.stroke()
    }
    g.setLineDash([])
    if (limit) {
      g.strokeStyle = c.limit
      g.setLineDash([5, 3])
      g.beginPath()
      g.moveTo(box.x, sy(limit))
      g.lineTo(box.x + box.w, sy(limit))
      g.stroke()
      g.setLineDash([])
    }
  }
  const cells = (g, c, sx, sy, box) => {
    const w = 4, nx = Math.ceil(box.w / w), ny = Math.ceil(box.h / w), h = new Uint32Array(nx * ny)
    let max = 1
    for (let i = 0; i < x.values.length; i++) {
      if (!drawn(i)) continue
      const a = Math.floor((sx(x.values[i]) - box.x) / w), b = Math.floor((sy(y.values[i]) - box.y) / w)
      if (a >= 0 && b >= 0 && a < nx && b < ny) max = Math.max(max, ++h[b * nx + a])
    }
    for (let k = 0; k < h.length; k++) {
      if (!h[k]) continue
      g.fillStyle = 'rgb(' + ramp(c, 0.2 + 0.8 * Math.log(h[k] + 1) / Math.log(max + 1)).join() + ')'
      g.fillRect(box.x + (k % nx) * w, box.y + Math.floor(k / nx) * w, w, w)
    }
  }
  const nearest = (px, py, sx, sy) => {
    let best = -1, d = 144
    for (let i = 0; i < x.values.length; i++) {
      if (!drawn(i)) continue
      const e = (sx(x.values[i]) - px) ** 2 + (sy(y.values[i]) - py) ** 2
      if (e < d) {
        d = e
        best = i
      }
    }
    return best
  }
  const read = (vx, vy, { sx, sy, px, py }) => {
    const i = nearest(px, py, sx, sy)
    return i < 0 ? null : { text: describe(i), at: [x.values[i], y.values[i]] }
  }
  const data = lines.map((t) => ({ x: t.x, y: t.median, text: `near ${text(x.unit, t.x)}: median ${text(y.unit, t.median)}, p95 ${text(y.unit, t.p95)}, n ${count(t.n)}` }))
  return html`<${PlotArea} height=${height} x=${ax} y=${ay} draw=${draw} read=${read} data=${data} label=${label} brush="xy" onBrush=${onBox} onPick=${onPick && ((vx, vy, { sx, sy, px, py }) => { const i = nearest(px, py, sx, sy); if (i >= 0) onPick(i) })} />`
}
