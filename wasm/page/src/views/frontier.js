// Several runs as points: throughput against what one user gets, with the frontier of
// those that no other run beats in both.
import { html } from '../ui.js'
import { PlotArea } from '../charts/plotarea.js'
import { Figure } from '../charts/figure.js'
import { text } from '../format.js'
import { frontier } from '../frontier.js'

export function Frontier({ runs }) {
  const points = runs.map((r) => ({ label: r.label, x: 1e9 / (r.metrics.tpot?.quantiles?.['0.5'] ?? NaN), y: r.throughput.values.tps?.value ?? NaN })).filter((p) => p.x > 0 && p.y > 0)
  if (points.length < 3) return null
  const line = frontier(points), hx = Math.max(...points.map((p) => p.x)) * 1.15, hy = Math.max(...points.map((p) => p.y)) * 1.15
  const tell = (p) => `${p.label}: ${text('tokens/s', p.y)}, ${text('tokens/s', p.x)} per user`
  const draw = (g, { c, sx, sy, box }) => {
    g.strokeStyle = c.s0
    g.lineWidth = 2
    g.beginPath()
    line.forEach((p, i) => g[i ? 'lineTo' : 'moveTo'](sx(p.x), sy(p.y)))
    g.stroke()
    g.font = '11px ' + c.font
    for (const p of points) {
      g.fillStyle = line.includes(p) ? c.s0 : c.muted
      g.beginPath()
      g.arc(sx(p.x), sy(p.y), 5, 0, 7)
      g.fill()
      if (points.length > 30 && !line.includes(p)) continue // names would cover each other
      g.fillStyle = c.ink
      g.textAlign = sx(p.x) > box.x + box.w - 120 ? 'right' : 'left'
      g.fillText(p.label.slice(0, 28), sx(p.x) + (g.textAlign === 'right' ? -9 : 9), sy(p.y) - 6)
    }
  }
  const near = (x, y, { sx, sy, px, py }) => points.map((p) => [Math.hypot(sx(p.x) - px, sy(p.y) - py), p]).sort((a, b) => a[0] - b[0]).filter(([d]) => d < 20).map(([, p]) => ({ text: tell(p), at: [p.x, p.y] }))[0] || null
  return html`<${Figure} title="Throughput against interactivity" sentence=${`Output tokens per second of each run against what one user gets (1 ÷ median TPOT); ${line.length} of ${points.length} runs are on the frontier, where no other run is better in both.`}
    table=${() => ({ head: ['run', 'output tokens/s', 'tokens/s per user', 'on the frontier'], rows: points.map((p) => [p.label, text('tokens/s', p.y), text('tokens/s', p.x), line.includes(p) ? 'yes' : 'no']) })}>
    <${PlotArea} height=${320} label="Throughput against interactivity" x=${{ lo: 0, hi: hx, unit: 'tokens/s', title: 'per user' }} y=${{ lo: 0, hi: hy, unit: 'tokens/s', title: 'output' }} draw=${draw} read=${near} data=${points.map((p) => ({ x: p.x, y: p.y, text: tell(p) }))} left=${66} /></${Figure}>`
}
