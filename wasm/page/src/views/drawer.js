// The drawer of one request: its tokens over time, what it consists of, its record.
import { html, use, useMemo, useRef, useEffect } from '../ui.js'
import * as store from '../store.js'
import { text, count } from '../format.js'
import { PlotArea, limitLine } from '../charts/plotarea.js'
import { Figure } from '../charts/figure.js'
import { useView } from './view.js'
import { Num, metricName } from '../widgets.js'
import { inFlight } from '../stats.js'
import { visible } from '../visible.js'
import { map, order } from '../keys.js'

export const open = (row) => store.set({ row })

const run = (key) => map.find((m) => m.key === key).run()

export function Drawer({ row }) {
  const v = useView({ kind: 'request', row }), rows = use(store.here), r = use(store.run), ref = useRef(null)
  const i = rows ? rows.row.indexOf(row) : -1
  useEffect(() => ref.current?.focus(), [row])
  const id = i >= 0 ? rows.request_id.values[rows.request_id.codes[i]] : null
  const list = order.rows.length ? order.rows : rows ? Array.from(rows.row) : [], at = list.indexOf(row)
  const load = useMemo(() => rows ? inFlight(rows.arrival, rows.end) : null, [rows])
  return html`<aside class="drawer" aria-label="Request" tabindex="-1" ref=${ref} onKeyDown=${(e) => { if (e.key === 'Escape') { e.stopPropagation(); open(null) } }}>
    <header><h2 class="cut" title=${id ?? ''}><bdi>${id ?? 'request ' + row}</bdi></h2>
      <button class="small" onClick=${() => run(',')} disabled=${at <= 0} aria-label="Previous request (,)">‹</button><button class="small" onClick=${() => run('.')} disabled=${at < 0 || at >= list.length - 1} aria-label="Next request (.)">›</button>
      <button class="quiet" onClick=${() => open(null)} aria-label="Close the request">✕</button></header>
    ${i < 0 && rows && html`<p class="warning">The selection leaves this request out.</p>`}
    ${i >= 0 && html`<dl class="fields"><dt>status</dt><dd>${rows.status.values[rows.status.codes[i]]}${rows.error_class.codes[i] >= 0 ? ' · ' + rows.error_class.values[rows.error_class.codes[i]] : ''}</dd>
      ${['ttft', 'tpot', 'e2e'].map((m) => html`<dt>${metricName(m)}</dt><dd><${Num} v=${rows[m][i]} unit=${m === 'tpot' ? 'ns/token' : 'ns'} />${rankIn(rows[m], i)}</dd>`)}
      <dt>prompt · output</dt><dd><${Num} v=${rows.prompt_tokens[i]} unit="tokens" /> · <${Num} v=${rows.output_tokens[i]} unit="tokens" /></dd>
      <dt>in flight at arrival</dt><dd>${load[i] === load[i] ? count(load[i]) : '—'}</dd></dl>
      <div class="row"><button class="small" onClick=${() => run('f')}>Fit the time</button><button class="small" onClick=${() => store.set({ view: 'timeline' })}>On the timeline</button></div>`}
    ${v?.error ? html`<p class="muted">${v.error.message}</p>` : v && v.fields ? html`<${Tokens} v=${v} rows=${rows} i=${i} run=${r} /><${Record} v=${v} />` : html`<p class="muted">Reading …</p>`}
  </aside>`
}

const rankIn = (column, i) => {
  if (column[i] !== column[i]) return ''
  let n = 0, below = 0
  for (const v of column) if (v === v) { n++; if (v <= column[i]) below++ }
  return html` <small>· p${Math.round(100 * below / n)} of ${count(n)}</small>`
}

function Tokens({ v, rows, i, run }) {
  const { t, gap, tokens } = v.columns || {}
  if (!t || t.length < 2) return html`<p class="muted">Times of single tokens are not recorded for this request.</p>`
  const m = run.metrics.chunk_gap, limit = m?.quantiles?.['0.99'], start = i >= 0 && rows.arrival[i] === rows.arrival[i] ? rows.arrival[i] : t[0]
  const known = gap.filter((g) => g > 0), lo = Math.min(...known, m?.quantiles?.['0.5'] ?? Infinity) * 0.7, hi = Math.max(...known, limit || 0) * 1.3
  const x = { lo: 0, hi: (t[t.length - 1] - start) * 1.02 || 1, unit: 'ns', title: 'since send or arrival' }
  const cumulative = []
  let sum = 0
  for (let k = 0; k < t.length; k++) cumulative.push(sum += tokens[k] === tokens[k] ? tokens[k] : 1)
  const pace = run.metrics.tpot?.quantiles?.['0.5'], stalls = known.filter((g) => limit && g >= limit).length
  const bars = (g, { c, sx, sy, box }) => {
    for (let k = 1; k < t.length; k++) {
      if (!(gap[k] > 0)) continue
      g.fillStyle = limit && gap[k] >= limit ? c.stall : c.decode
      const a = sx(t[k - 1] - start), b = sx(t[k] - start)
      g.fillRect(a, sy(gap[k]), Math.max(1, b - a - 0.5), box.y + box.h - sy(gap[k]))
    }
    g.fillStyle = c.first
    g.globalAlpha = 0.18
    g.fillRect(sx(0), box.y, sx(t[0] - start) - sx(0), box.h)
    g.globalAlpha = 1
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
  const line = (g, { c, sx, sy }) => {
    if (pace) {
      g.strokeStyle = c.muted
      g.setLineDash([4, 3])
      g.beginPath()
      g.moveTo(sx(t[0] - start), sy(cumulative[0]))
      g.lineTo(sx(t[0] - start + pace * (sum - cumulative[0])), sy(sum))
      g.stroke()
      g.setLineDash([])
    }
    g.strokeStyle = c.decode
    g.lineWidth = 2
    g.beginPath()
    t.forEach((at, k) => {
      if (k) g.lineTo(sx(at - start), sy(cumulative[k - 1]))
      g[k ? 'lineTo' : 'moveTo'](sx(at - start), sy(cumulative[k]))
    })
    g.stroke()
  }
  const nearest = (px) => {
    let k = 0
    while (k < t.length - 1 && t[k] - start < px) k++
    return k
  }
  // during counts what began to be served in a gap: prompts that came in between.
  const during = (k) => {
    let n = 0, length = 0, load = 0
    for (let j = 0; j < (rows?.n ?? 0); j++) {
      if (rows.arrival[j] <= t[k] && rows.end[j] >= t[k - 1]) load++
      if (j !== i && rows.first[j] > t[k - 1] && rows.first[j] <= t[k]) {
        n++
        length += rows.prompt_tokens[j] > 0 ? rows.prompt_tokens[j] : 0
      }
    }
    return [load ? count(load) + ' in flight' : '', n ? `${count(n)} other first token${n > 1 ? 's' : ''}${length ? (n > 1 ? ', prompts of ' : ', a prompt of ') + text('tokens', length) + (n > 1 ? ' together' : '') : ''}` : 'no other first token'].filter(Boolean).join('; ')
  }
  const long = limit ? Array.from(gap.keys()).filter((k) => k && gap[k] >= limit).sort((a, b) => gap[b] - gap[a]).slice(0, 3) : []
  const say = (k) => `${text('ns', t[k] - start)}: chunk ${k + 1} of ${t.length}${gap[k] === gap[k] ? ', gap ' + text('ns', gap[k]) : ''}, ${count(cumulative[k])} tokens so far`
  const data = Array.from(t, (at, k) => ({ x: at - start, y: gap[k] > 0 ? gap[k] : undefined, text: say(k) }))
  const table = () => ({ head: ['chunk', 'time (ms)', 'gap (ms)', 'tokens'], rows: Array.from(t, (at, k) => [k + 1, ((at - start) / 1e6).toFixed(3), gap[k] === gap[k] ? (gap[k] / 1e6).toFixed(3) : '—', tokens[k] === tokens[k] ? tokens[k] : '—']) })
  return html`<${Figure} title="Gaps" sentence=${`${count(known.length)} gaps, longest ${text('ns', Math.max(...known))}; ${stalls} at or above the run's p99${limit ? ' of ' + text('ns', limit) : ''}. The shaded part is TTFT.`} table=${table}>
      <${PlotArea} height=${190} x=${x} y=${{ lo, hi, log: true, unit: 'ns', title: 'gap' }} draw=${bars} read=${(px) => say(nearest(px))} data=${data} label="Gaps between the chunks of this request" />${long.length > 0 && html`<ul class="facts">${long.map((k) => html`<li>${text('ns', gap[k])} at ${text('ns', t[k] - start)}: ${during(k)}</li>`)}</ul>`}</${Figure}>
    <${Figure} title="Tokens so far" sentence=${pace ? `Dashed: the run's median pace of ${text('ns/token', pace)}.` : 'Cumulative output tokens.'} table=${() => ({ head: ['time (ms)', 'tokens'], rows: Array.from(t, (at, k) => [((at - start) / 1e6).toFixed(3), cumulative[k]]) })}>
      <${PlotArea} height=${170} x=${x} y=${{ lo: 0, hi: sum * 1.05 || 1, unit: 'tokens', title: 'tokens' }} draw=${line} read=${(px) => say(nearest(px))} data=${data.map((d, k) => ({ ...d, y: cumulative[k] }))} label="Tokens of this request over time" /></${Figure}>`
}

function Record({ v }) {
  const of = (name) => v.fields.find((f) => f.name === name)?.value
  const json = () => JSON.stringify(Object.fromEntries(v.fields.map((f) => [f.name, f.value])), null, 2)
  const shown = (f) => f.stamp && typeof f.value === 'number' ? '+' + text('ns', f.value) : typeof f.value === 'number' && f.unit ? text(f.unit, f.value) : visible(String(f.value))
  return html`<details open><summary><b>Record</b> <span class="muted"><bdi>${of('file')}</bdi>${of('line') > 0 ? ':' + of('line') : ''}${of('offset') >= 0 ? ', byte ' + count(of('offset')) : ''}</span></summary>
    <dl class="fields">${v.fields.map((f) => html`<dt>${f.name}</dt><dd>${shown(f)}</dd>`)}</dl>
    <div class="row"><button class="small" onClick=${() => navigator.clipboard?.writeText(json()).then(() => store.notice('Copied as JSON'))}>Copy as JSON</button></div></details>`
}
