// Goodput over both limits: how the share of good requests changes as TTFT's and
// TPOT's limits move. Drag its point, or move with the sliders.
import { html, memo, useMemo } from '../ui.js'
import { PlotArea } from '../charts/plotarea.js'
import { Figure } from '../charts/figure.js'
import { text } from '../format.js'
import { surface } from '../slo.js'
import { known } from '../stats.js'
import { ramp } from '../theme.js'
import * as store from '../store.js'
import { limitOf } from '../limits.js'

const grid = 36

export const Surface = memo(({ rows, slo }) => {
  const data = useMemo(() => {
    const tt = known(rows.ttft), tp = known(rows.tpot)
    if (tt.length < 5 || tp.length < 5) return null
    const axis = (v) => {
      const lo = Math.max(v[0], 1) * 0.9, hi = Math.max(v[v.length - 1] * 1.1, lo * 1.5)
      return Float64Array.from({ length: grid }, (_, i) => lo * (hi / lo) ** ((i + 1) / grid))
    }
    const xs = axis(tt), ys = axis(tp), ok = rows.status.values.indexOf('ok')
    return { xs, ys, xlo: Math.max(tt[0], 1) * 0.9, ylo: Math.max(tp[0], 1) * 0.9, share: surface(rows.ttft, rows.tpot, (i) => rows.status.codes[i] === ok, xs, ys) }
  }, [rows])
  if (!data) return null
  const { xs, ys, share } = data, a = limitOf(slo, 'ttft'), b = limitOf(slo, 'tpot')
  const edge = (list, lo, i) => i < 0 ? lo : list[i]
  const draw = (g, { c, sx, sy }) => {
    for (let j = 0; j < grid; j++) for (let i = 0; i < grid; i++) {
      g.fillStyle = 'rgb(' + ramp(c, share[j * grid + i]).join() + ')'
      const x0 = sx(edge(xs, data.xlo, i - 1)), y1 = sy(edge(ys, data.ylo, j - 1))
      g.fillRect(x0, sy(ys[j]), sx(xs[i]) - x0 + 0.6, y1 - sy(ys[j]) + 0.6)
    }
    if (a && b) {
      g.strokeStyle = c.limit
      g.lineWidth = 2
      g.beginPath()
      g.arc(sx(a), sy(b), 6, 0, 7)
      g.stroke()
    }
  }
  const at = (x, y) => {
    const i = xs.findIndex((v) => v >= x), j = ys.findIndex((v) => v >= y)
    return share[(j < 0 ? grid - 1 : j) * grid + (i < 0 ? grid - 1 : i)]
  }
  const pick = (x, y) => store.set({ slo: [{ metric: 'ttft', max: Math.round(Number(x.toPrecision(3))) }, { metric: 'tpot', max: Math.round(Number(y.toPrecision(3))) }, ...slo.filter((l) => !['ttft', 'tpot'].includes(l.metric))] })
  const cells = [0.25, 0.5, 0.75, 1].flatMap((p) => [0.25, 0.5, 0.75, 1].map((q) => [xs[Math.round(p * grid) - 1], ys[Math.round(q * grid) - 1]]))
  return html`<${Figure} title="Goodput by TTFT and TPOT limit" sentence="Share of all requests that are ok and within both limits. Requests without a value count as missed here. Click or drag to set both limits."
    legend=${[{ kind: 'ramp', from: '0 %', to: '100 % of requests' }]} table=${() => ({ head: ['TTFT ≤', 'TPOT ≤', 'share'], rows: cells.map(([x, y]) => [text('ns', x), text('ns/token', y), text('ratio', at(x, y))]) })}>
    <${PlotArea} height=${340} label="Goodput by TTFT and TPOT limit" x=${{ lo: data.xlo, hi: xs[grid - 1], log: true, unit: 'ns', title: 'TTFT limit' }} y=${{ lo: data.ylo, hi: ys[grid - 1], log: true, unit: 'ns/token', title: 'TPOT limit' }} draw=${draw} read=${(x, y) => `TTFT ≤ ${text('ns', x)}\nTPOT ≤ ${text('ns/token', y)}\n${text('ratio', at(x, y))} of requests`}
      data=${cells.map(([x, y]) => ({ x, y, pick: () => pick(x, y), text: `TTFT ≤ ${text('ns', x)}, TPOT ≤ ${text('ns/token', y)}: ${text('ratio', at(x, y))}` }))} onDrag=${pick} left=${72} /></${Figure}>`
})
