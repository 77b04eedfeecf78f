// Overview: the figures of a run as cards, and what stands out.
import { html, use, useMemo, useState } from '../ui.js'
import * as store from '../store.js'
import { text, common, short, count, rankName, plural, between } from '../format.js'
import { Value, Null, Info, MetricInfo, Spark, metricName, metricInfo, arrow, Num, formula } from '../widgets.js'
import { measured, sampled } from '../stats.js'
import { excluded, reason, plainly } from '../reasons.js'
import { findings } from '../findings.js'
import { Goodput } from '../limits.js'
import { shareText } from '../markdown.js'
import { curve } from '../curves.js'
import { also } from '../query.js'
import { matching, most } from '../many.js'
import { Table } from '../charts/figure.js'
import { Breakdown } from './breakdown.js'
import { Engines, StepTimes } from './engines.js'
import { Parts } from './parts.js'

const clocks = { wall: 'by a wall clock', monotonic: 'by a monotonic clock', run: 'since the start of the run', request: 'each request from its own start' }
const clock = (name) => name && (clocks[name.split('/')[0]] || 'clock ' + name)

const go = (change) => store.set(change)

// narrow shows what a finding is of: its filter and its time within those that are set.
function narrow({ filter, times, ...to }) {
  const s = store.state.value
  if (filter && !s.filter.includes(filter)) to.filter = also(s.filter, filter)
  const last = s.times[s.times.length - 1] || [0, Infinity], t = times && [Math.max(times[0][0], last[0]), Math.min(times[0][1], last[1])]
  if (t && t[0] < t[1] && (t[0] !== last[0] || t[1] !== last[1])) to.times = [...s.times, t]
  go(to)
}

function Card({ title, unit, info, dir, onClick, children }) {
  return html`<section class="card"><header><h3>${onClick ? html`<button onClick=${onClick}>${title}</button>` : title}</h3>${unit && html`<small>${unit}</small>`}${info}${dir && html`<span class="dir">${dir}</span>`}</header>${children}</section>`
}

// Latencies is a card of a distribution: p50, p90, p99 with their intervals.
function Distribution({ name, m, rows }) {
  const s = useMemo(() => {
    // Without a column the quantiles of the report will do.
    if (!rows?.[name]) return m?.n ? [[m.min, 0], ...Object.keys(m.quantiles).sort((a, b) => a - b).map((r) => [m.quantiles[r], Number(r)]), [m.max, 1]].filter(([x]) => x > 0).map(([x, y]) => [Math.log(x), y]) : []
    const v = measured(rows, name)
    return sampled(v.length, 60).map((i) => [Math.log(Math.max(v[i], 1)), (i + 1) / v.length])
  }, [rows, name, m])
  const info = metricInfo(name)
  if (!m || !m.n) return html`<${Card} title=${metricName(name)} info=${html`<${MetricInfo} name=${name} m=${m} />`}><p class="big"><${Null} code=${m?.reason} /></p></${Card}>`
  const ranks = Object.keys(m.quantiles).sort((a, b) => a - b), three = ['0.5', '0.9', '0.99'].filter((r) => ranks.includes(r)), list = three.length ? three : ranks.slice(0, 3)
  const scale = common(m.unit, ...list.map((r) => m.quantiles[r]))
  return html`<${Card} title=${metricName(name)} unit=${scale.symbol} dir=${arrow[info.better]} onClick=${() => go({ view: 'latency', metric: name })} info=${html`<${MetricInfo} name=${name} m=${m} />`}>
    <dl class="quants">${list.map((r) => html`<div key=${r}><dt>p${Number((Number(r) * 100).toPrecision(6))}</dt><dd>${short(scale, m.quantiles[r])}</dd><dd class="ci" title="95 % confidence interval">${interval(m, r, scale)}</dd></div>`)}</dl>
    ${s.length > 1 && html`<${Spark} points=${s} label=${'Distribution of ' + metricName(name) + ', log scale'} />`}
    <p class="facts">${Object.keys(m.intervals || {}).length ? '95 % intervals · ' : ''}mean ${text(m.unit, m.mean)} · n ${count(m.n)}${m.requests ? ' of ' + count(m.requests) + ' req' : ''} · ${m.exact ? 'exact' : 'histogram ±0.4 %'}${m.side ? ' · ' + m.side + ' stamps' : ''}${Object.keys(m.excluded || {}).length ? html` · left out: ${excluded(m.excluded)}` : ''}</p>
  </${Card}>`
}

const interval = (m, r, scale) => {
  const ci = m.intervals?.[r]
  if (!ci) return ''
  return between(ci, (v) => short(scale, v))
}

const statuses = [['ok', 'ok'], ['failed', 'failed'], ['aborted', 'aborted'], ['empty', 'empty'], ['open', 'open'], ['head_missing', 'begun before the log']]

function Counts({ q }) {
  if (q.total === null) return html`<${Card} title="Requests"><p class="big"><${Null} code=${q.reason} /></p>${q.claimed && html`<p class="facts">the producer counts ${q.claimed.ok.value ?? '—'} ok, ${q.claimed.failed.value ?? '—'} failed</p>`}</${Card}>`
  const some = statuses.filter(([k]) => q[k] > 0)
  return html`<${Card} title="Requests" onClick=${() => go({ view: 'requests' })}>
    <p class="big">${count(q.total)} <small>req</small></p>
    <div class="statusbar" role="img" aria-label=${some.map(([k, t]) => q[k] + ' ' + t).join(', ')}>${some.map(([k]) => html`<i style=${{ '--swatch': 'var(--' + (k === 'head_missing' ? 'open' : k) + ')', flexGrow: q[k] }}></i>`)}</div>
    <p class="facts">${[...some.map(([k, t]) => count(q[k]) + ' ' + t), q.filtered > 0 && count(q.filtered) + (store.status.value.partial ? ' of the whole run' : '') + ' left out by the query'].filter(Boolean).join(' · ')}</p></${Card}>`
}

function Rate({ name, title, v, more, view }) {
  return html`<${Card} title=${title} dir=${arrow[metricInfo(name).better]} onClick=${view && (() => go({ view }))} info=${html`<${MetricInfo} name=${name} />`}><p class="big"><${Value} v=${v} /></p><p class="facts">${more}</p></${Card}>`
}

export function Overview() {
  const run = use(store.run), rows = use(store.here), g = use(store.live), s = use(store.state), r = use(store.report)
  const v = run.throughput.values, c = run.concurrency, line = useMemo(() => curve(c), [c])
  const list = useMemo(() => findings(run, r, rows), [run, r, rows])
  const val = (x) => x?.value ?? null
  const more = (label, x) => val(x) === null ? null : label + ' ' + text(x.unit || '', x.value)
  const p90 = (n) => run.metrics[n]?.n && run.metrics[n].quantiles['0.9'] ? { metric: n, max: Math.round(run.metrics[n].quantiles['0.9']) } : null
  const steps = run.steps.length > 0 && !run.requests.total
  const extra = ['ttft_engine', 'accept_length', 'cached_share', 'ttfot', 'client_wait', 'ntpot', 'tps_request'].filter((n) => run.metrics[n]?.n > 0)
  return html`<${Runs} r=${r} />
  <div class="cards">
    <${Counts} q=${run.requests} />
    ${steps && html`<${Steps} run=${run} />${(run.throughput.engines || []).slice(0, 8).map((e) => html`<${Logged} e=${e} />`)}${['ttft', 'tpot', 'chunk_gap', 'e2e', 'engine_step'].filter((n) => run.metrics[n]?.n > 0).map((n) => html`<${Distribution} key=${n} name=${n} m=${run.metrics[n]} rows=${rows} />`)}`}
    ${!steps && html`<${Card} title="Time" info=${html`<${Info} label="time"><b>Time that rates are over</b><span>From the first send or arrival to the last token or end of the selected requests, or the selected range.</span></${Info}>`}><p class="big"><${Value} v=${run.throughput.window_ns} /></p><p class="facts">${[val(run.duration_ns) !== null && 'as the producer measured it ' + text('ns', run.duration_ns.value), clock(run.clock)].filter(Boolean).join(' · ')}</p></${Card}>
    <${Rate} name="request_rate" title="Request rate" v=${v.request_rate} view="load" more=${[more('ok', v.request_rate_ok), more('between completions', v.request_rate_completions)].filter(Boolean).join(' · ')} />
    <${Rate} name="tps" title="Output tokens" v=${v.tps} view="load" more=${[more('peak second', v.tps_peak), more('prompt', v.tps_prompt), more('prompt and output', v.tps_end_to_end)].filter(Boolean).join(' · ')} />
    ${['ttft', 'tpot', 'chunk_gap', 'e2e'].map((n) => html`<${Distribution} key=${n} name=${n} m=${run.metrics[n]} rows=${rows} />`)}
    <${Card} title="In flight" onClick=${() => go({ view: 'load' })} info=${html`<${MetricInfo} name="concurrency_mean" />`}><p class="big"><${Value} v=${c.mean} /> ${val(c.mean) !== null && html`<small>mean</small>`}</p>${line && html`<${Spark} points=${sampled(line.t.length, 200).map((i) => [line.t[i], line.v[i]])} steps label="Requests in flight over time" />`}<p class="facts">${[more('peak', c.max), more('effective batch B', v.batch_decode), val(c.steady_from) !== null && 'steady for ' + text('ns', c.steady_to.value - c.steady_from.value)].filter(Boolean).join(' · ')}</p></${Card}>
    <${Card} title="Goodput"><${Goodput} g=${g} run=${run} slo=${s.slo} />${!g && [p90('ttft'), p90('tpot')].some(Boolean) && html`<div class="row"><button class="small" onClick=${() => go({ slo: [p90('ttft'), p90('tpot')].filter(Boolean) })}>Begin at the p90 of TTFT and TPOT</button></div>`}${run.goodput && html`<p class="facts">report: ${shareText(run.goodput)} of ${count(run.goodput.denominator)} req</p>`}</${Card}>
    `}
    ${list.length > 0 && html`<section class="panel stands-out"><h2>What stands out</h2><ul class="findings">${list.map((f) => html`<li class=${f.warn ? 'warn' : ''} key=${f.text}><span>${f.text}</span>${f.to && html`<button class="small" onClick=${() => narrow(f.to)}>${f.label || 'Show'}</button>`}</li>`)}</ul></section>`}
  </div>
  ${steps && html`<${Parts} list=${run.decompositions} /><${Engines} run=${run} /><${StepTimes} run=${run} />`}
  ${extra.length > 0 && html`<${Further} run=${run} names=${extra} />`}
  <${Breakdown} run=${run} />
  ${run.reported.length > 0 && html`<${Claims} run=${run} />`}
  ${run.notes.length > 0 && html`<section class="panel"><h2>Notes</h2><ul class="findings">${run.notes.map((n) => html`<li>${plainly(n)}</li>`)}</ul></section>`}`
}

// Further lists the distributions that have no card.
function Further({ run, names }) {
  const ranks = ['0.5', '0.9', '0.99'], list = names.map((n) => [n, run.metrics[n], common(run.metrics[n].unit, run.metrics[n].mean, ...ranks.map((r) => run.metrics[n].quantiles[r] ?? 0))])
  return html`<section class="panel"><h2>Further metrics</h2><div class="scroll" tabindex="0" role="region" aria-label="Further metrics"><table class="table"><thead><tr><th scope="col">metric</th><th scope="col">unit</th>${ranks.map((r) => html`<th scope="col" class="num">${rankName(Number(r))}</th>`)}<th scope="col" class="num">mean</th><th scope="col" class="num">n</th><th scope="col">definition</th></tr></thead>
    <tbody>${list.map(([n, m, s]) => html`<tr key=${n}><td><button class="linkish" onClick=${() => go({ view: 'latency', metric: n })}>${metricName(n)}</button></td><td>${s.symbol}</td>${ranks.map((r) => html`<td class="num">${m.quantiles[r] === undefined ? '—' : short(s, m.quantiles[r])}</td>`)}<td class="num">${short(s, m.mean)}</td><td class="num">${count(m.n)}</td><td class="muted"><code>${formula(n)}</code></td></tr>`)}</tbody></table></div></section>`
}

function Steps({ run }) {
  const n = run.steps.reduce((a, s) => a + s.n, 0)
  return html`<${Card} title="Engine steps" onClick=${() => go({ view: 'load' })}><p class="big">${count(n)} <small>steps or logged windows</small></p><p class="facts">${plural(new Set(run.steps.map((s) => s.replica)).size, 'engine')} · ${[...new Set(run.steps.map((s) => s.kind))].filter(Boolean).join(', ')}</p></${Card}>`
}


// Logged is what one engine says of its load.
function Logged({ e }) {
  return html`<${Card} title=${e.replica ? 'Engine ' + e.replica : 'Engine'} onClick=${() => go({ view: 'load' })}><p class="big"><${Value} v=${e.batch_logged} /> <small>${e.gauge.replace(/_/g, ' ')}, mean over time</small></p><p class="facts">${[e.max?.value !== null && 'at most ' + text('', e.max.value), e.generation_tps?.value !== null && 'output ' + text('tokens/s', e.generation_tps.value), e.coverage?.value !== null && text('ratio', e.coverage.value) + ' of the time covered'].filter(Boolean).join(' · ')}</p></${Card}>`
}

// Runs lists the runs where there are several: the first of those that are looked for
// where there are very many.
function Runs({ r }) {
  const [words, setWords] = useState(''), { list, n } = useMemo(() => matching(r.runs, words), [r, words])
  if (r.runs.length < 2) return null
  const cell = (m, q) => m?.n && q in m.quantiles ? text(m.unit, m.quantiles[q]) : '—'
  return html`<section class="panel"><div class="figure-head"><h2>${r.runs.length} runs</h2><span class="grow"></span>${r.runs.length > most && html`<input type="search" aria-label="Find runs" placeholder="label, model or setting=value" value=${words} onInput=${(e) => setWords(e.target.value)} />`}<button class="small" onClick=${() => go({ view: 'compare' })}>Compare</button></div>
    ${r.runs.length > most && html`<p class="sentence" role="status">${n > list.length ? `The first ${count(list.length)} of ${count(n)} runs${words ? ' that match' : ''}, in the order of the files; ${count(n - list.length)} are not drawn. Find others by their label, model or settings; Export has all.` : `${count(n)} of ${count(r.runs.length)} runs match.`}</p>`}
    <div class="scroll" tabindex="0" role="region" aria-label="Runs"><table class="table"><thead><tr><th>run</th><th>side</th><th class="num">n</th><th class="num">ok</th><th class="num">TTFT p50</th><th class="num">p99</th><th class="num">TPOT p50</th><th class="num">p99</th><th class="num">output</th></tr></thead>
    <tbody>${list.map(([i, x]) => html`<tr key=${x.label}><td><button class="linkish" aria-current=${i === store.runIndex.value} onClick=${() => go({ run: i, row: null })}>${x.label}</button></td><td>${x.side}</td><td class="num">${x.requests.total ?? '—'}</td><td class="num">${x.requests.ok ?? '—'}</td><td class="num">${cell(x.metrics.ttft, '0.5')}</td><td class="num">${cell(x.metrics.ttft, '0.99')}</td><td class="num">${cell(x.metrics.tpot, '0.5')}</td><td class="num">${cell(x.metrics.tpot, '0.99')}</td><td class="num"><${Value} v=${x.throughput.values.tps} /></td></tr>`)}</tbody></table></div></section>`
}

// Claims shows what the producer computed itself beside our figures.
function Claims({ run }) {
  const by = {}
  for (const x of run.reported) by[x.verdict] = (by[x.verdict] || 0) + 1
  const rows = run.reported.map((x) => [x.key, text(x.unit, x.value), x.own?.value === null || x.own?.value === undefined ? '—' : text(x.unit, x.own.value), x.ours.value === null ? '— ' + reason(x.ours.reason) : text(x.unit, x.ours.value), x.verdict || '', x.note || ''])
  return html`<section class="panel"><details open=${(by.differs || 0) > 0}><summary><b>The producer's own figures</b> <span class="muted">${plural(run.reported.length, 'figure')}: ${Object.entries(by).map(([k, n]) => n + ' ' + k).join(', ')}${run.audit?.definition ? ' under ' + run.audit.definition : ''}</span></summary>
    <${Table} caption="The producer's own figures" head=${['figure', 'as reported', 'recomputed its way', 'under ' + (store.report.value.definition.name), 'verdict', 'note']} rows=${rows} /></details></section>`
}
