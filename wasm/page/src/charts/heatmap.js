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
  // The cells are drawn once for each height and theme, a pixel for each bin of time;
  // frames stretch that over their range.
  const sheet = useMemo(() => ({}), [shade])
  const cells = (c, sy, box) => {
    const H = Math.ceil(box.h)
    if (sheet.of === c && sheet.height === H) return sheet.canvas
    const img = new ImageData(nx, H), pixels = new Uint32Array(img.data.buffer), colors = new Map()
    const inY = (v) => Math.min(H, Math.max(0, Math.round(sy(v) - box.y)))
    for (let j = 0; j < ny; j++) {
      const bottom = inY(y[j]), top = Math.min(inY(y[j + 1]), bottom - 1)
      for (let i = 0; i < nx; i++) {
        const v = n[i * ny + j]
        if (!v) continue
        if (!colors.has(v)) colors.set(v, pixel(ramp(c, shade.of(v))))
        for (let py = Math.max(0, top); py < bottom; py++) pixels[py * nx + i] = colors.get(v)
      }
    }
    const canvas = new OffscreenCanvas(nx, H)
    canvas.getContext('2d').putImageData(img, 0, 0)
    Object.assign(sheet, { of: c, height: H, canvas })
    return canvas
  }
  const draw = (g, { c, sx, sy, box }) => {
    g.imageSmoothingEnabled = false
    g.drawImage(cells(c, sy, box), sx(x[0]), box.y, sx(x[nx]) - sx(x[0]), Math.ceil(box.h))
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
