// The engine's own steps: series by replica, and the parts of profiled steps.
import { html, use, useState, useMemo } from '../ui.js'
import * as store from '../store.js'
import { text, count, plural } from '../format.js'
import { Figure } from '../charts/figure.js'
import { Lines } from '../charts/lines.js'
import { PlotArea } from '../charts/plotarea.js'
import { useView } from './view.js'
import { Choice } from '../widgets.js'
import { zoom } from '../zoom.js'
import { leafColor } from '../theme.js'

const gauges = [['running', 'Running', '', 'sequences of a step, or requests of a window'], ['waiting', 'Waiting', '', 'requests in the scheduler’s queue'], ['kv_usage', 'KV cache in use', 'ratio', 'share of the KV cache'], ['generation_tps', 'Generation', 'tokens/s', 'generated tokens per second'], ['prompt_tps', 'Prompt', 'tokens/s', 'prompt tokens per second'], ['accept_length', 'Accepted length', 'tokens', 'tokens per verification']]
const classes = ['compute', 'sampling', 'communication', 'host_transfer', 'launch_wait', 'scheduling', 'host_exec', 'host_gap']

// grid puts the rows of each replica on one axis of time: the mean of a bucket, null
// where a replica says nothing in it.
function grid(v, column, n = 400) {
  const t = v.columns.t, lo = t.reduce((a, b) => b < a ? b : a, Infinity), hi = t.reduce((a, b) => b > a ? b : a, -Infinity), w = (hi - lo) / n || 1
  const by = new Map(), rep = v.columns.replica, values = v.columns[column]
  if (!values) return null
  for (let i = 0; i < v.n; i++) {
    if (values[i] !== values[i]) continue
    const code = rep?.codes ? rep.codes[i] : -1
    if (!by.has(code)) by.set(code, { sum: new Float64Array(n + 1), n: new Float64Array(n + 1), rows: 0 })
    const b = by.get(code), k = Math.min(n, Math.floor((t[i] - lo) / w))
    b.sum[k] += values[i]
    b.n[k]++
    b.rows++
  }
  const list = [...by].map(([code, b]) => ({ name: code < 0 ? 'engine' : rep.values[code] === '' ? 'engine' : 'engine ' + rep.values[code], rows: b.rows, values: hold(Float64Array.from(b.sum, (s, k) => b.n[k] ? s / b.n[k] : NaN), b.rows) })).sort((a, b) => a.name.localeCompare(b.name, 'en', { numeric: true }))
  if (!(hi > lo)) return { once: list, t: hi } // nothing is over time
  return { t: Float64Array.from({ length: n + 1 }, (_, k) => lo + k * w), list, w }
}

// hold fills holes of up to three usual distances between lines with what was said
// last, as a gauge holds until the next line.
function hold(v, rows) {
  let last = NaN, age = 0
  const most = 3 * v.length / Math.max(1, rows)
  return v.map((x) => {
    if (x === x) {
      last = x
      age = 0
      return x
    }
    return ++age <= most ? last : NaN
  })
}

export function Engines({ run }) {
  const v = useView({ kind: 'steps', columns: gauges.map((g) => g[0]) })
  const list = useMemo(() => v?.columns ? gauges.map((g) => [g, grid(v, g[0])]).filter(([, d]) => d && (d.once || d.list).some((s) => s.values.some((x) => x === x && x !== 0))) : [], [v])
  if (v?.error) return html`<section class="panel"><p class="muted">${v.error.message}</p></section>`
  if (!v) return html`<section class="panel"><p class="muted">Reading …</p></section>`
  return html`<div class="two">${list.map(([[name, title, unit, doc], d]) => {
    if (d.once) return html`<section class="panel" key=${name}><h3>${title}</h3><p class="sentence">${d.once.map((s) => `${s.name}: ${text(unit, s.values.find((x) => x === x))}`).join('; ')} (${doc}), at the one time that is logged.</p></section>`
    const shown = d.list.slice(0, 8), series = shown.map((s, i) => ({ label: s.name, values: s.values, color: 's' + i, unit, dash: i > 3 ? [5, 3] : undefined }))
    const all = d.list.reduce((n, s) => n + s.rows, 0)
    return html`<${Figure} key=${name} title=${title} sentence=${`As logged: ${doc}; ${plural(all, 'line')} of ${plural(d.list.length, 'engine')}, means over ${text('ns', d.w)}.${d.list.length > 8 ? ' The first 8 are shown.' : ''}`} legend=${series.length > 1 ? series.map((s) => ({ label: s.label, color: s.color, kind: s.dash ? 'dash' : 'line' })) : null}
      table=${() => ({ head: ['time (s)', ...series.map((s) => s.label)], rows: Array.from(d.t, (t, k) => [(t / 1e9).toFixed(3), ...series.map((s) => s.values[k] === s.values[k] ? Number(s.values[k].toPrecision(4)) : '—')]).filter((r) => r.slice(1).some((x) => x !== '—')) })}>
      <${Lines} t=${d.t} series=${series} unit=${unit} height=${150} sync="engine" onRange=${zoom} label=${title} /></${Figure}>`
  })}</div>`
}

// unmeasured says why no step has a length to draw.
function unmeasured(steps) {
  const n = steps.reduce((a, x) => a + x.n, 0), what = `${plural(n, steps.some((x) => x.quantity === 'interval') ? 'step' : 'line')} of the engine ${n === 1 ? 'is' : 'are'} recorded`
  const alone = steps.every((x) => x.n <= 1 && x.quantity === 'interval')
  return what + (alone ? ', no two that follow each other: a step is as long as the time since the one before it, which is not in the trace. Record two steps or more to see their lengths and parts.' : ', none with the length of a step.')
}

// StepTimes draws steps as bars of their parts: what a profiler's trace says of each.
// timed puts each where it was, as wide as it lasted; else they stand in a row.
export function StepTimes({ run, timed, from, to }) {
  const v = useView({ kind: 'steps', columns: ['duration', 'rank', ...classes] }), [rank, setRank] = useState(0)
  const d = useMemo(() => {
    const dur = v?.columns?.duration
    if (!dur || !dur.some((x) => x > 0)) return null
    const rep = v.columns.replica, name = (i) => [rep?.codes && rep.codes[i] >= 0 && rep.values[rep.codes[i]], v.columns.rank[i] === v.columns.rank[i] && 'rank ' + v.columns.rank[i]].filter(Boolean).join(' ') || 'engine', by = new Map()
    for (let i = 0; i < v.n; i++) if (dur[i] > 0) (by.get(name(i)) || by.set(name(i), []).get(name(i))).push(i)
    const names = [...by.keys()].sort((a, b) => a.localeCompare(b, 'en', { numeric: true })), at = by.get(names[Math.min(rank, names.length - 1)])
    const parts = classes.filter((c) => v.columns[c]?.some((x) => x > 0))
    return { at, parts, names }
  }, [v, rank])
  if (!d) return v?.columns && html`<section class="panel"><h3>${timed ? 'Steps over time' : 'Steps'}</h3><p class="sentence">${unmeasured(run.steps)}</p></section>`
  const { at, parts } = d, t = v.columns.t, dur = v.columns.duration, total = at.map((i) => dur[i]), max = Math.max(...total)
  const first = at.reduce((a, i) => Math.min(a, t[i] - dur[i]), Infinity), last = at.reduce((a, i) => Math.max(a, t[i]), 0)
  const draw = (g, { c, sx, sy, box }) => {
    const row = Math.max(1, box.w / at.length - (at.length < box.w / 4 ? 2 : 0))
    at.forEach((i, k) => {
      let y = 0
      const x = timed ? sx(t[i] - dur[i]) : box.x + k * box.w / at.length, w = timed ? Math.max(1, sx(t[i]) - x - 0.5) : row
      for (const p of parts.length ? parts : [null]) {
        const h = p ? v.columns[p][i] : dur[i]
        if (!(h > 0)) continue
        g.fillStyle = c[p ? leafColor(p) : 's0']
        g.fillRect(x, sy(y + h), w, sy(y) - sy(y + h))
        y += h
      }
      if (parts.length && dur[i] > y) {
        g.fillStyle = c.residual
        g.fillRect(x, sy(dur[i]), w, sy(y) - sy(dur[i]))
      }
    })
  }
  const kind = (i) => v.columns.kind?.codes && v.columns.kind.codes[i] >= 0 ? v.columns.kind.values[v.columns.kind.codes[i]] : 'step'
  const tell = (k) => {
    const i = at[Math.min(at.length - 1, Math.max(0, k))]
    return [`${kind(i)} step ${k + 1} of ${at.length}: ${text('ns', dur[i])}`, ...parts.filter((p) => v.columns[p][i] > 0).map((p) => `${p.replace(/_/g, ' ')} ${text('ns', v.columns[p][i])} (${text('ratio', v.columns[p][i] / dur[i])})`)].join('\n')
  }
  const there = (x) => {
    const k = at.findIndex((i) => t[i] - dur[i] <= x && x <= t[i])
    return k < 0 ? null : tell(k)
  }
  const means = run.steps.some((x) => x.quantity === 'mean')
  const sum = (p) => at.reduce((a, i) => a + (v.columns[p][i] > 0 ? v.columns[p][i] : 0), 0), all = total.reduce((a, b) => a + b, 0)
  return html`<${Figure} title=${timed ? 'Steps over time' : 'Steps'} sentence=${`${count(at.length)} ${means ? 'logged windows with a length, which is the mean of their steps' : 'steps with a length'}: mean ${text('ns', all / at.length)}, longest ${text('ns', max)}.${parts.length ? ' Parts: ' + parts.map((p) => `${p.replace(/_/g, ' ')} ${text('ratio', sum(p) / all)}`).join(', ') + '.' : ' Their parts are not recorded.'}`}
    legend=${parts.length ? [...parts.map((p) => ({ label: p.replace(/_/g, ' '), color: leafColor(p) })), { label: 'residual', color: 'residual' }] : null}
    table=${() => ({ head: ['step', 'time (s)', 'length (ms)', ...parts.map((p) => p.replace(/_/g, ' ') + ' (ms)')], rows: at.map((i, k) => [k + 1, (t[i] / 1e9).toFixed(4), (dur[i] / 1e6).toFixed(3), ...parts.map((p) => v.columns[p][i] === v.columns[p][i] ? (v.columns[p][i] / 1e6).toFixed(3) : '—')]) })}
    controls=${d.names.length > 1 && html`<${Choice} label="Engine" value=${rank} onChange=${setRank} options=${d.names.slice(0, 8).map((n, i) => [i, n])} />`}>
    <${PlotArea} height=${280} label="Steps by part" x=${timed ? { lo: from ?? first, hi: to ?? (last > first ? last : first + 1), unit: 'ns', title: 'time of the engine’s clock' } : { lo: 0, hi: at.length, unit: '', title: 'step', format: (v) => Number.isInteger(v) ? String(v) : '' }} y=${{ lo: 0, hi: max * 1.05, unit: 'ns', title: 'length' }} draw=${draw} read=${(x) => timed ? there(x) : tell(Math.floor(x))} brush=${timed ? 'x' : null} onBrush=${zoom} data=${at.slice(0, 5000).map((i, k) => ({ x: timed ? t[i] - dur[i] / 2 : k + 0.5, y: dur[i], text: tell(k).replace(/\n/g, ', ') }))} /></${Figure}>`
}
