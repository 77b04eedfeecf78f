// Counts of gaps over time and length. Linear colours show the bulk, ranked colours
// the rare cells.
import { html, useMemo } from '../ui.js'
import { PlotArea } from './plotarea.js'
import { text, count } from '../format.js'
import { ramp, pixel } from '../theme.js'

// Heat draws {x, y (edges), count (column after column)}.
export function Heat({ map, ranked, unit, title, from, to, onBrush, onPick, height = 260 }) {
  const { x, y, count: n } = map, nx = x.length - 1, ny = y.length - 1
  const shade = useMemo(() => {
    const some = Array.from(n.filter((v) => v > 0)).sort((a, b) => a - b), max = some[some.length - 1] || 1
    const distinct = [...new Set(some)]
    const rank = new Map(distinct.map((v, i) => [v, distinct.length > 1 ? i / (distinct.length - 1) : 1]))
    return { max, of: (v) => ranked ? 0.35 + 0.65 * (1 - rank.get(v)) : 0.15 + 0.85 * v / max }
  }, [n, ranked])
  const draw = (g, { c, sx, sy, box }) => {
    const W = Math.ceil(box.w), H = Math.ceil(box.h), img = new ImageData(W, H), pixels = new Uint32Array(img.data.buffer), colors = new Map()
    const inX = (v) => Math.min(W, Math.max(0, Math.round(sx(v) - box.x))), inY = (v) => Math.min(H, Math.max(0, Math.round(sy(v) - box.y)))
    const tops = Array.from(y, inY)
    for (let i = 0; i < nx; i++) {
      const a = inX(x[i]), b = Math.max(inX(x[i + 1]), Math.min(W, a + 1))
      if (x[i + 1] < from || x[i] > to) continue
      for (let j = 0; j < ny; j++) {
        const v = n[i * ny + j]
        if (!v) continue
        if (!colors.has(v)) colors.set(v, pixel(ramp(c, shade.of(v))))
        for (let py = tops[j + 1]; py < Math.max(tops[j], tops[j + 1] + 1) && py < H; py++) pixels.fill(colors.get(v), py * W + a, py * W + b)
      }
    }
    const off = new OffscreenCanvas(W, H)
    off.getContext('2d').putImageData(img, 0, 0)
    g.drawImage(off, box.x, box.y)
  }
  const cell = (vx, vy) => {
    const i = Math.floor((vx - x[0]) / (x[nx] - x[0]) * nx)
    let j = 0
    while (j < ny - 1 && y[j + 1] <= vy) j++
    return i >= 0 && i < nx ? [i, j] : null
  }
  const read = (vx, vy) => {
    const at = cell(vx, vy)
    return at && `${text('ns', x[at[0]])} to ${text('ns', x[at[0] + 1])}\n${title} ${text(unit, y[at[1]])} to ${text(unit, y[at[1] + 1])}\n${count(n[at[0] * ny + at[1]])} gaps`
  }
  const data = useMemo(() => Array.from({ length: nx }, (_, i) => {
    let sum = 0, top = -1
    for (let j = 0; j < ny; j++) if (n[i * ny + j]) { sum += n[i * ny + j]; top = j }
    return { x: (x[i] + x[i + 1]) / 2, y: top < 0 ? undefined : y[top + 1], text: `${text('ns', x[i])}: ${count(sum)} gaps${top < 0 ? '' : ', longest below ' + text(unit, y[top + 1])}` }
  }), [n])
  return html`<${PlotArea} height=${height} x=${{ lo: from, hi: to, unit: 'ns', title: 'time since the first request' }} y=${{ lo: y[0], hi: y[ny], log: true, unit, title }} draw=${draw} read=${read} data=${data} label=${title + ' over time'} brush="x" onBrush=${onBrush} onPick=${(vx, vy) => { const at = cell(vx, vy); if (at && n[at[0] * ny + at[1]]) onPick?.(x[at[0]], x[at[0] + 1], y[at[1]]) }} />`
}
