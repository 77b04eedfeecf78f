// Counts of gaps over time and length. Linear colours show the bulk, ranked colours
// the rare cells.
import { html, useMemo } from '../ui.js'
import { PlotArea } from './plotarea.js'
import { text, count } from '../format.js'
import { ramp, pixel } from '../theme.js'

// useCells returns a function that draws the cells of a map into a range of time. They are
// drawn once for each height and theme, a pixel for each bin of time; frames stretch that.
function useCells(map, ranked) {
  return useMemo(() => {
    if (!map) return () => {}
    const { x, y, count: n } = map, nx = x.length - 1, ny = y.length - 1, sheet = {}
    const some = Array.from(n.filter((v) => v > 0)).sort((a, b) => a - b), max = some[some.length - 1] || 1
    const distinct = [...new Set(some)]
    const rank = new Map(distinct.map((v, i) => [v, distinct.length > 1 ? i / (distinct.length - 1) : 1]))
    const shade = (v) => ranked ? 0.35 + 0.65 * (1 - rank.get(v)) : 0.15 + 0.85 * v / max
    return (g, { c, sx, sy, box }, left = sx(x[0]), right = sx(x[nx])) => {
      const H = Math.ceil(box.h)
      if (sheet.of !== c || sheet.height !== H) Object.assign(sheet, { of: c, height: H, canvas: painted(map, shade, c, sy, box) })
      const k = nx / (sx(x[nx]) - sx(x[0])) // pixels of the sheet in one of the chart
      g.drawImage(sheet.canvas, (left - sx(x[0])) * k, 0, Math.max(0, right - left) * k, H, left, box.y, Math.max(0, right - left), H)
    }
  }, [map, ranked])
}

function painted({ x, y, count: n }, shade, c, sy, box) {
  const H = Math.ceil(box.h), nx = x.length - 1, ny = y.length - 1
  const img = new ImageData(nx, H), pixels = new Uint32Array(img.data.buffer), colors = new Map()
  const inY = (v) => Math.min(H, Math.max(0, Math.round(sy(v) - box.y)))
  for (let j = 0; j < ny; j++) {
    const bottom = inY(y[j]), top = Math.min(inY(y[j + 1]), bottom - 1)
    for (let i = 0; i < nx; i++) {
      const v = n[i * ny + j]
      if (!v) continue
      if (!colors.has(v)) colors.set(v, pixel(ramp(c, shade(v))))
      for (let py = Math.max(0, top); py < bottom; py++) pixels[py * nx + i] = colors.get(v)
    }
  }
  const canvas = new OffscreenCanvas(nx, H)
  canvas.getContext('2d').putImageData(img, 0, 0)
  return canvas
}

// Heat draws {x, y (edges), count (column after column)}, and beside it what another such
// map has there.
export function Heat({ map, under, ranked, unit, title, from, to, onBrush, onPick, height = 260 }) {
  const { x, y, count: n } = map, nx = x.length - 1, ny = y.length - 1
  const cells = useCells(map, ranked), other = useCells(under, ranked)
  const draw = (g, area) => {
    const { sx } = area, a = sx(x[0]), b = sx(x[nx])
    g.imageSmoothingEnabled = false
    cells(g, area)
    if (!under) return
    other(g, area, sx(under.x[0]), Math.min(a, sx(under.x[under.x.length - 1])))
    other(g, area, Math.max(b, sx(under.x[0])), sx(under.x[under.x.length - 1]))
  }
  // cell finds what lies at a point: [time from, time to, length from, length to, gaps].
  const cell = (vx, vy) => {
    for (const { x, y, count: n } of under ? [map, under] : [map]) {
      const nx = x.length - 1, ny = y.length - 1, i = Math.floor((vx - x[0]) / (x[nx] - x[0]) * nx)
      let j = 0
      while (j < ny - 1 && y[j + 1] <= vy) j++
      if (i >= 0 && i < nx) return [x[i], x[i + 1], y[j], y[j + 1], n[i * ny + j]]
    }
    return null
  }
  const read = (vx, vy) => {
    const at = cell(vx, vy)
    return at && `${text('ns', at[0])} to ${text('ns', at[1])}\n${title} ${text(unit, at[2])} to ${text(unit, at[3])}\n${count(at[4])} gaps`
  }
  const data = useMemo(() => Array.from({ length: nx }, (_, i) => {
    let sum = 0, top = -1
    for (let j = 0; j < ny; j++) if (n[i * ny + j]) { sum += n[i * ny + j]; top = j }
    return { x: (x[i] + x[i + 1]) / 2, y: top < 0 ? undefined : y[top + 1], text: `${text('ns', x[i])}: ${count(sum)} gaps${top < 0 ? '' : ', longest below ' + text(unit, y[top + 1])}` }
  }), [n])
  return html`<${PlotArea} height=${height} x=${{ lo: from, hi: to, unit: 'ns', title: 'time since the first request' }} y=${{ lo: y[0], hi: y[ny], log: true, unit, title }} draw=${draw} read=${read} data=${data} label=${title + ' over time'} brush="x" onBrush=${onBrush} onPick=${(vx, vy) => { const at = cell(vx, vy); if (at?.[4]) onPick?.(at[0], at[1], at[2], at[3] - 1) }} />`
}
