// Load: rates and concurrency over time, the engine's own series, and its steps.
import { html, use, useState, useMemo } from '../ui.js'
import * as store from '../store.js'
import { text, count, common } from '../format.js'
import { Figure } from '../charts/figure.js'
import { Lines } from '../charts/lines.js'
import { Choice, Null, Value, Num } from '../widgets.js'
import { useView } from './view.js'
import { zoom } from '../zoom.js'
import { Engines, StepTimes } from './engines.js'
import { span } from '../stats.js'

const buckets = [[60, 'Coarse'], [200, 'Medium'], [600, 'Fine']]

export function Load() {
  const run = use(store.run), rows = use(store.here), sel = use(store.selection), [n, setN] = useState(60)
  return html`${run.requests.total > 0 && rows?.n > 0 && (run.clock === 'request' ? html`<${Untimed} />` : html`<${Series} run=${run} rows=${rows} sel=${sel} n=${n} setN=${setN} />`)}
    ${run.concurrency.little && html`<${Little} l=${run.concurrency.little} />`}
    ${run.throughput.engines?.length > 0 && html`<${Logged} list=${run.throughput.engines} />`}
    ${run.throughput.replicas?.length > 0 && html`<${Replicas} list=${run.throughput.replicas} />`}
    ${run.steps.length > 0 ? html`<${Engines} run=${run} /><${StepTimes} run=${run} />` : html`<section class="panel"><h3>Engine series</h3><p class="sentence">This input holds no steps or statistics of an engine: running, waiting, KV cache. Add the server's log to see them.</p></section>`}`
}

// Untimed stands for the charts of requests that have no time in common: their zeros
// would say that nothing came.
const Untimed = () => html`<section class="panel"><h3>Requests over time</h3><p class="sentence"><${Null} code="clock" />: the source does not say when requests were sent.</p></section>`

function Series({ run, rows, sel, n, setN }) {
  const all = useMemo(() => span(rows), [rows]), [from, to] = sel || all, v = useView({ kind: 'series', buckets: n, from, to, tokens: run.metrics.chunk_gap?.n > 0 })
  const s = useMemo(() => {
    if (!v?.columns) return null
    const c = v.columns, w = v.bucket || (c.t.length > 1 ? c.t[1] - c.t[0] : to - from), per = (col) => col && Float64Array.from(col, (x) => x / (w / 1e9))
    return { t: c.t, w, arrivals: per(c.arrivals), ends: per(c.ends), failures: per(c.failures), output: per(c.output_tokens), prompt: per(c.prompt_tokens), running: c.running_mean, max: c.running_max, waiting: c.waiting_mean }
  }, [v])
  if (v?.error) return html`<section class="panel"><p class="muted">${v.error.message}</p></section>`
  if (!s) return html`<section class="panel"><p class="muted">Reading …</p></section>`
  if (v.unplaced >= rows.n) return html`<${Untimed} />`
  const left = [v.unplaced > 0 && `${count(v.unplaced)} without a time on the first clock are in no chart`, v.open > 0 && `${count(v.open)} without an end are not among those in flight`].filter(Boolean)
  const some = (c) => c && c.some((x) => x > 0), wide = `buckets of ${text('ns', s.w)}`
  const chart = (title, sentence, series, unit) => html`<${Figure} title=${title} sentence=${sentence} table=${() => ({ head: ['time (s)', ...series.map((x) => x.label)], rows: Array.from(s.t, (t, i) => [(t / 1e9).toFixed(3), ...series.map((x) => x.values[i] === x.values[i] ? Number(x.values[i].toPrecision(4)) : '—')]) })} legend=${series.map((x) => ({ label: x.label + (unit ? ' (' + common(unit, 1).symbol + ')' : ''), color: x.color, kind: x.dash ? 'dash' : 'line' }))}>
    <${Lines} t=${s.t} series=${series} unit=${unit} height=${150} sync="load" from=${from} to=${to} end=${s.t[s.t.length - 1] + s.w} onRange=${zoom} label=${title} /></${Figure}>`
  const whole = (v) => v && v.value !== null ? `; ${text(v.unit, v.value)} over the whole selection` : ''
  const peak = (c) => c.reduce((a, b) => b > a ? b : a, 0)
  return html`<div class="row"><${Choice} label="Buckets" value=${n} onChange=${setN} options=${buckets} /><span class="muted">${wide}; drag over a chart to select a time${left.length > 0 && '. Of the requests ' + left.join(', ')}</span></div>
    <div class="two">
    ${chart('Requests per second', `Sends or arrivals and ends, ${wide}${whole(run.throughput.values.request_rate)}.`, [{ label: 'arrivals', values: s.arrivals, color: 's0' }, { label: 'ends', values: s.ends, color: 's2' }, ...(some(s.failures) ? [{ label: 'failures', values: s.failures, color: 'failed' }] : [])], 'requests/s')}
    ${chart('In flight', `Mean and greatest number within each bucket; at most ${text('', peak(s.max))}.`, [{ label: 'greatest', values: s.max, color: 's5', dash: [4, 3] }, { label: 'mean', values: s.running, color: 's0', fill: true }, ...(some(s.waiting) ? [{ label: 'waiting', values: s.waiting, color: 'queue' }] : [])], 'requests')}
    ${some(s.output) ? chart('Output tokens per second', `Tokens by the time they came, ${wide}${whole(run.throughput.values.tps)}.`, [{ label: 'output', values: s.output, color: 'decode', fill: true }], 'tokens/s') : html`<section class="panel"><h3>Output tokens per second</h3><p class="sentence"><${Null} code=${run.throughput.values.tps?.reason || 'not_recorded'} /></p></section>`}
    ${some(s.prompt) && chart('Prompt tokens per second', `Prompt tokens by the send or arrival of their request, ${wide}.`, [{ label: 'prompt', values: s.prompt, color: 'prefill', fill: true }], 'tokens/s')}</div>`
}

function Little({ l }) {
  const off = l.product.value && l.in_flight.value ? Math.abs(l.difference.value) / l.in_flight.value : null
  return html`<section class="panel"><h3>Little's law</h3><p class="sentence">Mean in flight L = rate λ × mean residence W, where all requests begin and end in the interval.</p>
    <p>λ · W = <${Value} v=${l.rate} /> × <${Value} v=${l.residence_ns} /> = <${Value} v=${l.product} /> against L = <${Value} v=${l.in_flight} />${off === null ? '' : html` <span class="muted">(${off < 0.02 ? 'they agree' : 'they differ by ' + text('ratio', off) + ': requests were cut off at the edges, or lack an end'})</span>`}</p></section>`
}

function Logged({ list }) {
  return html`<section class="panel"><h3>Load as engines log it</h3><div class="scroll" tabindex="0" role="region" aria-label="Load as engines log it"><table class="table"><thead><tr><th>engine</th><th>gauge</th><th class="num">lines</th><th class="num">mean over time</th><th class="num">max</th><th class="num">covered</th><th class="num">output</th><th class="num">decode capacity</th></tr></thead>
    <tbody>${list.map((e) => html`<tr><td>${e.replica || '(not recorded)'}</td><td>${e.gauge.replace(/_/g, ' ')}</td><td class="num">${count(e.lines)}</td><td class="num"><${Value} v=${e.batch_logged} /></td><td class="num"><${Value} v=${e.max} /></td><td class="num"><${Value} v=${e.coverage} /></td><td class="num"><${Value} v=${e.generation_tps} /></td><td class="num"><${Value} v=${e.decode_capacity} /></td></tr>`)}</tbody></table></div></section>`
}

function Replicas({ list }) {
  return html`<section class="panel"><h3>Replicas by their requests</h3><div class="scroll" tabindex="0" role="region" aria-label="Replicas"><table class="table"><thead><tr><th>replica</th><th class="num">tokens</th><th class="num">output</th><th class="num">batch B</th><th class="num">TPOT</th><th class="num">B / TPOT</th></tr></thead>
    <tbody>${list.map((e) => html`<tr><td>${e.replica}</td><td class="num"><${Num} v=${e.tokens} unit="tokens" /></td><td class="num"><${Value} v=${e.tps} /></td><td class="num"><${Value} v=${e.batch_decode} /></td><td class="num"><${Value} v=${e.tpot_weighted} /></td><td class="num"><${Value} v=${e.tps_replica_model} /></td></tr>`)}</tbody></table></div></section>`
}
