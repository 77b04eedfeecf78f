// Compare: two runs side by side, what makes them unlike first, then each metric with
// its difference, p and n.
import { html, use, useMemo } from '../ui.js'
import * as store from '../store.js'
import { text, count, common, short } from '../format.js'
import { quantile, rankSum, measured } from '../stats.js'
import { Select, metricInfo, metricName, Choice } from '../widgets.js'
import { Figure } from '../charts/figure.js'
import { Curves } from '../charts/ecdf.js'
import { PlotArea } from '../charts/plotarea.js'
import { useValues } from './latency.js'
import { browse } from '../drop.js'
import { curve } from '../curves.js'
import { Lines } from '../charts/lines.js'
import { Frontier } from './frontier.js'
import { mismatches } from '../mismatch.js'
import { cell } from '../markdown.js'
import { choices } from '../many.js'
import { reason } from '../reasons.js'

export function pair(s, runs) {
  const b = Math.min(s.run, runs.length - 1), a = s.base !== null && s.base < runs.length && s.base !== b ? s.base : b === 0 ? Math.min(1, runs.length - 1) : 0
  return [a, b]
}

export function Compare() {
  const r = use(store.report), s = use(store.state), all = use(store.rows)
  if (r.runs.length < 2) return html`<section class="panel"><h2>One run is open</h2><p>Open more files and each becomes a run to compare this one with.</p><p><button class="primary" onClick=${() => { store.panel.value = 'add' }}>Add files</button></p></section>`
  const [a, b] = pair(s, r.runs), A = r.runs[a], B = r.runs[b]
  const warnings = mismatches(A, B, all[a], all[b])
  const rows = useMemo(() => table(A, B, all[a], all[b]), [A, B, all[a], all[b]])
  const lacks = useMemo(() => lacking(A, B), [A, B])
  const copy = () => navigator.clipboard?.writeText(markdown(A, B, rows, warnings)).then(() => store.notice('Copied as Markdown'))
  const names = ['ttft', 'tpot', 'chunk_gap', 'e2e'].filter((n) => A.metrics[n]?.n && B.metrics[n]?.n), name = names.includes(s.metric) ? s.metric : names[0]
  return html`<section class="panel tall"><div class="figure-head"><h2>Compare</h2><${Select} label="A, the base" value=${a} options=${choices(r.runs, a)} onChange=${(v) => store.set({ base: Number(v) })} /><${Select} label="B" value=${b} options=${choices(r.runs, b)} onChange=${(v) => store.set({ run: Number(v), base: Number(v) === a ? b : a })} />
      <button class="small" onClick=${() => store.set({ run: a, base: b })}>Swap</button><span class="grow"></span><button class="small" onClick=${copy}>Copy as Markdown</button></div>
    ${warnings.length > 0 && html`<ul class="findings warnings">${warnings.map((w) => html`<li class="warn">${w}</li>`)}</ul>`}
    ${rows.length > 0 && html`<div class="scroll" tabindex="0" role="region" aria-label="Metrics of both runs"><table class="table pair"><thead><tr><th>metric</th><th class="num">A</th><th class="num">B</th><th class="num">B − A</th><th class="num">p</th><th class="num">n</th></tr></thead>
      <tbody>${rows.map((x) => html`<tr key=${x.name}><td>${x.title}</td><td class="num">${x.a}</td><td class="num">${x.b}</td><td class=${'num delta ' + x.mark}>${x.delta}</td><td class="num">${x.p}</td><td class="num">${x.n}</td></tr>`)}</tbody></table></div>`}
    ${lacks.length > 0 && html`<p class="facts">Not compared, for want of a value: ${lacks.join('; ')}.</p>`}
    <p class="facts">Latencies: medians, and Mann-Whitney's two-sided p over requests; ~ where p ≥ 0.05 or there are fewer than 8 values a side. Gaps are not tested: those of one request depend on each other. Rates have one value per run: no test can tell their difference from chance.</p></section>
    ${name && html`<${Shift} name=${name} names=${names} a=${a} b=${b} A=${A} B=${B} s=${s} />`}
    <${Flights} A=${A} B=${B} />${r.runs.length > 2 && name && html`<${All} runs=${r.runs} all=${all} name=${name} mode=${s.curve} />`}<${Frontier} runs=${r.runs} />`
}

// All overlays one metric of every run that is at hand, of which there are at most
// eight.
function All({ runs, all, name, mode }) {
  const series = useMemo(() => runs.map((r, i) => ({ label: r.label, color: 's' + i % 8, dash: i > 3 ? [6, 3] : undefined, values: all[i]?.[name] instanceof Float64Array ? measured(all[i], name) : [] })).filter((s) => s.values.length).slice(0, 8), [runs, all, name])
  if (series.length < 3) return null
  const unit = runs[0].metrics[name].unit, ranks = [0.5, 0.9, 0.99]
  return html`<${Figure} title=${metricName(name) + ' of all runs'} sentence=${`${count(series.length)} of ${count(runs.length)} runs: ${series.map((s) => `${s.label} p50 ${text(unit, quantile(s.values, 0.5))}`).join(', ')}.`} legend=${series.map((s) => ({ label: s.label, color: s.color, kind: s.dash ? 'dash' : 'line' }))} table=${() => ({ head: ['run', ...ranks.map((p) => 'p' + p * 100), 'n'], rows: series.map((s) => [s.label, ...ranks.map((p) => text(unit, quantile(s.values, p))), count(s.values.length)]) })}>
    <${Curves} series=${series} unit=${unit} name=${metricName(name)} mode=${mode === 'histogram' ? 'ecdf' : mode} /></${Figure}>`
}

const perRequest = ['ttft', 'tpot', 'chunk_gap', 'e2e', 'prompt_tokens', 'output_tokens'], perRun = ['request_rate', 'tps', 'tps_end_to_end', 'concurrency_mean', 'batch_decode']

// lacking says which figures a run does not have, and why.
function lacking(A, B) {
  const none = (r, name) => perRun.includes(name) ? (r.throughput.values[name]?.value ?? null) === null && (r.throughput.values[name]?.reason || 'not_recorded') : !r.metrics[name]?.n && (r.metrics[name]?.reason || 'not_recorded')
  const of = {}
  for (const name of [...perRequest, ...perRun]) {
    const why = [['A', none(A, name)], ['B', none(B, name)]].filter(([, code]) => code).map(([label, code]) => label + ': ' + reason(code)).join(', ')
    if (why) (of[why] ||= []).push(metricName(name))
  }
  return Object.entries(of).map(([why, names]) => names.join(', ') + ' (' + why + ')')
}

function table(A, B, ra, rb) {
  const out = []
  for (const name of perRequest) {
    const x = A.metrics[name], y = B.metrics[name]
    if (!x?.n || !y?.n) continue
    const va = x.quantiles['0.5'], vb = y.quantiles['0.5']
    if (va === undefined || vb === undefined) continue
    const p = ra?.[name] instanceof Float64Array && rb?.[name] instanceof Float64Array ? rankSum(measured(ra, name), measured(rb, name)) : null
    out.push(row(name, metricName(name) + ' p50', x.unit, va, vb, p, `${count(x.n)} · ${count(y.n)}`, name !== 'chunk_gap'))
    const [qa, qb] = [x.quantiles['0.99'], y.quantiles['0.99']]
    if (qa !== undefined && qb !== undefined) out.push(row(name + '99', metricName(name) + ' p99', x.unit, qa, qb, null, `${count(x.n)} · ${count(y.n)}`, false))
  }
  for (const name of perRun) {
    const x = A.throughput.values[name], y = B.throughput.values[name]
    if (x?.value === null || y?.value === null || !x || !y) continue
    out.push(row(name, metricName(name), x.unit || '', x.value, y.value, null, '1 · 1', false))
  }
  return out
}

function row(name, title, unit, a, b, p, n, tested) {
  const s = common(unit, a, b), better = metricInfo(name.replace(/99$/, '')).better, d = a ? (b - a) / a : null
  const sure = tested && p !== null && p < 0.05
  const delta = d === null ? '—' : tested && !sure ? '~' : d && Math.abs(d) < 1e-4 ? '≈ 0 %' : (d > 0 ? '+' : d < 0 ? '−' : '') + text('ratio', Math.abs(d))
  const mark = !sure || better === 'neither' || d === 0 ? '' : (d < 0) === (better === 'lower') ? 'better' : 'worse'
  const sym = s.symbol ? ' ' + s.symbol : ''
  return { name, title, a: short(s, a) + sym, b: short(s, b) + sym, delta, mark, p: p === null ? '—' : p < 0.001 ? '<0.001' : p.toFixed(3), n }
}

function markdown(A, B, rows, warnings) {
  return [`| metric | ${cell(A.label)} | ${cell(B.label)} | B − A | p | n |`, '| --- | ---: | ---: | ---: | ---: | ---: |', ...rows.map((r) => `| ${[r.title, r.a, r.b, r.delta, r.p, r.n].map(cell).join(' | ')} |`), '', ...warnings.map((w) => '- ' + cell(w))].join('\n')
}

// Shift overlays both distributions and draws B − A at each percentile.
function Shift({ name, names, a, b, A, B, s }) {
  const va = useValues(name, a), vb = useValues(name, b), unit = A.metrics[name].unit
  if (!va || !vb) return html`<section class="panel"><p class="muted">Reading …</p></section>`
  const series = [{ label: 'A ' + A.label, color: 's0', values: va }, { label: 'B ' + B.label, color: 's1', values: vb, dash: [7, 3] }]
  const ps = Array.from({ length: 97 }, (_, i) => (i + 2) / 100), d = ps.map((p) => quantile(vb, p) - quantile(va, p)), lo = Math.min(0, ...d), hi = Math.max(0, ...d)
  const draw = (g, { c, sx, sy, box }) => {
    ps.forEach((p, i) => {
      g.fillStyle = d[i] > 0 ? c.s1 : c.s0
      const y0 = sy(0), y1 = sy(d[i])
      g.fillRect(sx(p - 0.004), Math.min(y0, y1), Math.max(1, sx(p + 0.004) - sx(p - 0.004)), Math.abs(y1 - y0))
    })
    g.strokeStyle = c.muted
    g.beginPath()
    g.moveTo(box.x, sy(0))
    g.lineTo(box.x + box.w, sy(0))
    g.stroke()
  }
  const tell = (p) => `p${Math.round(p * 100)}: B − A = ${text(unit, quantile(vb, p) - quantile(va, p))}`
  return html`<div class="two"><${Figure} title=${metricName(name) + ' of both'} sentence=${`A: median ${text(unit, quantile(va, 0.5))}, n ${count(A.metrics[name].n)}. B: median ${text(unit, quantile(vb, 0.5))}, n ${count(B.metrics[name].n)}. Shaded: 95 % bands.`} legend=${series.map((x) => ({ label: x.label, color: x.color, kind: x.dash ? 'dash' : 'line' }))} table=${() => ({ head: ['percentile', 'A', 'B'], rows: [0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.99].map((p) => ['p' + p * 100, text(unit, quantile(va, p)), text(unit, quantile(vb, p))]) })}
      controls=${html`<${Select} label="Metric" value=${name} options=${names.map((n) => [n, metricName(n)])} onChange=${(v) => store.set({ metric: v })} />`}><${Curves} series=${series} unit=${unit} name=${metricName(name)} mode=${s.curve === 'histogram' ? 'ecdf' : s.curve} /></${Figure}>
    <${Figure} title="Shift by percentile" sentence=${`How much longer B is than A at each percentile of ${metricName(name)}; below zero B is shorter.`} table=${() => ({ head: ['percentile', 'B − A'], rows: ps.filter((_, i) => i % 8 === 0).map((p) => ['p' + Math.round(p * 100), text(unit, quantile(vb, p) - quantile(va, p))]) })}>
      <${PlotArea} height=${300} label="Shift by percentile" x=${{ lo: 0, hi: 1, unit: 'ratio', title: 'percentile', ticks: [0, 0.25, 0.5, 0.75, 0.9, 1].map((p) => [p, 'p' + p * 100]) }} y=${{ lo: lo * 1.08, hi: hi * 1.08 || 1, unit: unit, title: 'B − A' }} draw=${draw} read=${(p) => p > 0.01 && p < 0.99 ? tell(p) : null} data=${ps.filter((_, i) => i % 8 === 0).map((p) => ({ x: p, y: quantile(vb, p) - quantile(va, p), text: tell(p) }))} left=${66} /></${Figure}></div>`
}

function Flights({ A, B }) {
  const list = [[A, 's0', 'A'], [B, 's1', 'B']].map(([r, color, n]) => [n + ' ' + r.label, color, curve(r.concurrency)]).filter(([, , c]) => c)
  if (list.length < 2) return null
  const end = Math.max(...list.map(([, , c]) => c.end)), n = 400, t = Float64Array.from({ length: n + 1 }, (_, i) => end * i / n)
  const on = (c) => { let k = 0; return t.map((x) => { while (k + 1 < c.t.length && c.t[k + 1] <= x) k++; return x > c.end ? NaN : c.v[k] }) }
  const series = list.map(([label, color, c], i) => ({ label, color, values: on(c), dash: i ? [6, 3] : undefined }))
  return html`<${Figure} title="Load of both" sentence="Requests in flight since the first request of each run." legend=${series.map((s) => ({ label: s.label, color: s.color, kind: s.dash ? 'dash' : 'line' }))} table=${() => ({ head: ['time (s)', 'A', 'B'], rows: Array.from(t, (x, i) => [(x / 1e9).toFixed(2), ...series.map((s) => s.values[i] === s.values[i] ? s.values[i] : '—')]) })}><${Lines} t=${t} series=${series} unit="requests" height=${150} label="Requests in flight of both runs" /></${Figure}>`
}
