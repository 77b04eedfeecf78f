// Latency: one metric's distribution, where its time went, and TTFT against the prompt.
import { html, memo, use, useMemo, useState, useEffect } from '../ui.js'
import * as store from '../store.js'
import { text, count, common, number, short, rankName, between } from '../format.js'
import { known, measured, measures, quantile, inFlight } from '../stats.js'
import { Choice, Select, MetricInfo, metricInfo, metricName, Null } from '../widgets.js'
import { Figure, Legend } from '../charts/figure.js'
import { Curves } from '../charts/ecdf.js'
import { Scatter } from '../charts/scatter.js'
import { Parts, Cohorts } from './parts.js'
import { Surface } from './surface.js'
import { limitOf, setLimit } from '../limits.js'
import { excluded } from '../reasons.js'
import { also } from '../query.js'
import { duration } from '../format.js'

// useValues returns the sorted values of a metric of a run, from the columns that are
// at hand or from the engine; null while they are fetched.
export function useValues(name, index) {
  const all = use(store.rows), rows = all[index], r = use(store.report), [far, setFar] = useState({})
  const near = useMemo(() => rows?.[name] instanceof Float64Array ? measured(rows, name) : null, [rows, name])
  useEffect(() => {
    if (near || !rows) return
    const stop = new AbortController()
    // A saved document holds the columns of requests, and the distribution of gaps alone.
    const saved = store.engine.value.kind === 'saved' && name !== 'chunk_gap'
    store.view(saved ? { kind: 'columns', columns: [name], run: index } : { kind: 'ecdf', metric: name, run: index, points: 2000 }, { signal: stop.signal }).then((v) => setFar({ of: r, name, values: saved ? known(v.columns[name]) : v.columns.value }), (e) => stop.signal.aborted || setFar({ of: r, name, values: new Float64Array(0), error: e }))
    return () => stop.abort()
  }, [near, rows, name, r, index])
  if (near) return near
  return far.of === r && far.name === name ? far.values : null
}

export function Latency() {
  const run = use(store.run), s = use(store.state), rows = use(store.here), i = store.runIndex.value
  const names = Object.keys(run.metrics).filter((n) => run.metrics[n].n > 0 && ['ns', 'ns/token'].includes(run.metrics[n].unit))
  const others = Object.keys(run.metrics).filter((n) => run.metrics[n].n > 0 && !names.includes(n))
  const order = ['ttft', 'tpot', 'chunk_gap', 'e2e']
  const list = [...order.filter((n) => names.includes(n)), ...names.filter((n) => !order.includes(n)), ...others]
  if (!list.length) return html`<section class="panel"><h2>No latency in this selection</h2><p class="muted">${run.requests.total ? html`<${Null} code=${run.metrics.ttft?.reason} />` : 'There are no requests. What an engine log or a trace tells of steps stands below and under Load.'}</p></section><${Parts} list=${run.decompositions} />`
  const name = list.includes(s.metric) ? s.metric : list[0], m = run.metrics[name]
  return html`<${Distribution} run=${run} name=${name} m=${m} list=${list} index=${i} s=${s} />
    <${Parts} list=${run.decompositions} />
    ${rows?.n > 0 && html`<${Cohorts} rows=${rows} /><div class="two"><${Prompt} unit=${run.metrics.ttft?.unit || 'ns'} rows=${rows} color=${s.color} filter=${s.filter} limit=${limitOf(s.slo, 'ttft')} /><${Surface} rows=${rows} slo=${s.slo} /></div>`}`
}

function Distribution({ run, name, m, list, index, s }) {
  const rows = use(store.here), groups = useMemo(() => split(rows, name, s.by), [rows, name, s.by])
  const values = useValues(name, index), info = metricInfo(name), max = limitOf(s.slo, name), limited = ['ttft', 'tpot', 'e2e'].includes(name)
  const ranks = Object.keys(m.quantiles).sort((a, b) => a - b), scale = common(m.unit, ...ranks.map((r) => m.quantiles[r]), m.mean)
  const panels = groups?.length > 1 && s.layout === 'panels', pick = (v) => setLimit(name, v === null ? null : Number(v.toPrecision(3)))
  const p = (r) => m.quantiles[r] === undefined ? null : text(m.unit, m.quantiles[r])
  const sentence = `${info.title[0].toUpperCase() + info.title.slice(1)}: median ${p('0.5') ?? '—'}${p('0.99') ? ', p99 ' + p('0.99') : ''}, mean ${text(m.unit, m.mean)}, n ${count(m.n)}${m.side ? ', stamps of the ' + m.side : ''}. ${m.exact ? 'Exact quantiles' : 'Quantiles of a histogram, ±0.4 %'}${Object.keys(m.excluded || {}).length ? '; left out: ' + excluded(m.excluded) : ''}.${limited ? max ? ' Drag the dashed line to move the limit.' : ' Click the chart to set a limit.' : ''}`
  return html`<${Figure} title=${metricName(name) + (s.curve === 'percentile' ? ' by percentile' : '')} sentence=${sentence} table=${() => ({ head: ['rank', info.unit ? 'value (' + scale.symbol + ')' : 'value', '95 % from', 'to'], rows: [...ranks.map((r) => ['p' + Number((r * 100).toPrecision(6)), short(scale, m.quantiles[r]), ...(m.intervals?.[r] || [null, null]).map((v) => v === null || v === undefined ? '—' : short(scale, v))]), ['mean', short(scale, m.mean), '', ''], ['min', short(scale, m.min), '', ''], ['max', short(scale, m.max), '', '']] })}
    controls=${html`<${MetricInfo} name=${name} m=${m} /><${Select} label="Metric" value=${name} options=${list.map((n) => [n, metricName(n)])} onChange=${(v) => store.set({ metric: v })} /><${Choice} label="Curve" value=${s.curve} onChange=${(v) => store.set({ curve: v })} options=${[['ecdf', 'Distribution'], ['percentile', 'Percentiles'], ['histogram', 'Histogram']]} />
      <${Select} label="Split by" value=${s.by} options=${[['', 'nothing'], ['prompt', 'prompt length'], ['status', 'status'], ['model', 'model']]} onChange=${(v) => store.set({ by: v })} />${groups?.length > 1 && html`<${Choice} label="Layout" value=${s.layout} options=${[['overlay', 'Together'], ['panels', 'One by one']]} onChange=${(v) => store.set({ layout: v })} />`}`} legend=${!panels && groups?.map((g) => ({ label: g.label, color: g.color, kind: g.dash ? 'dash' : 'line' }))}>
    <div class="with-side">${panels ? html`<div class="small-multiples">${groups.map((g) => html`<div key=${g.label}><h4>${g.label}</h4><${Curves} mode=${s.curve} unit=${m.unit} name=${metricName(name)} limit=${max} rank=${s.rank} over=${groups} height=${190} series=${[g]} /></div>`)}</div>` : values === null ? html`<p class="muted">Reading …</p>` : html`<${Curves} mode=${s.curve} unit=${m.unit} name=${metricName(name)} limit=${max} onPick=${limited ? pick : null} rank=${s.rank} series=${groups?.length ? groups : [{ label: metricName(name), color: 's0', values }]} />`}
      <${Readout} m=${m} ranks=${ranks} scale=${scale} rank=${s.rank} /></div></${Figure}>`
}

const quartile = ['first', 'second', 'third', 'last']

// split makes a series of each group of requests: of a status, a model, or a quarter
// of the prompt lengths; at most seven, the largest first.
function split(rows, name, by) {
  if (!by || !(rows?.[name] instanceof Float64Array)) return null
  const group = new Map(), add = (k, v) => (group.get(k) || group.set(k, []).get(k)).push(v), col = rows[name], counts = measures(rows, name), lengths = known(rows.prompt_tokens), edges = [0.25, 0.5, 0.75].map((p) => quantile(lengths, p))
  for (let i = 0; i < rows.n; i++) {
    if (!counts(i)) continue
    if (by === 'prompt') {
      const n = rows.prompt_tokens[i], q = edges.filter((e) => n > e).length
      if (n === n) add(`${quartile[q]} quarter of prompts, ${q ? 'above ' + text('tokens', edges[q - 1]) : 'up to ' + text('tokens', edges[0])}`, col[i])
    } else add(rows[by].codes[i] < 0 ? 'not recorded' : rows[by].values[rows[by].codes[i]], col[i])
  }
  const list = [...group].map(([label, v]) => ({ label: `${label} (n ${count(v.length)})`, values: Float64Array.from(v).sort() }))
  if (by === 'prompt') list.sort((a, b) => quartile.findIndex((q) => a.label.startsWith(q)) - quartile.findIndex((q) => b.label.startsWith(q)))
  else list.sort((a, b) => b.values.length - a.values.length)
  return list.slice(0, 7).map((s, i) => ({ ...s, color: 's' + i, dash: i > 3 ? [6, 3] : undefined }))
}

// Readout is the quantiles as numbers; a click marks one in the chart.
function Readout({ m, ranks, scale, rank }) {
  return html`<table class="table quantiles"><thead><tr><th>rank</th><th class="num">${scale.symbol || 'value'}</th><th class="num">95 % interval</th></tr></thead><tbody>
    ${ranks.map((r) => html`<tr key=${r} class=${Number(r) === rank ? 'current' : ''}><td><button class="linkish" aria-pressed=${Number(r) === rank} onClick=${() => store.set({ rank: Number(r) })}>${rankName(Number(r))}</button></td><td class="num">${number(scale, m.quantiles[r])}</td><td class="num muted">${m.intervals?.[r] ? between(m.intervals[r], (v) => short(scale, v)) || '—' : '—'}</td></tr>`)}
    <tr><td>mean</td><td class="num">${number(scale, m.mean)}</td><td class="num muted">${m.std === null ? '' : 'σ ' + short(scale, m.std)}</td></tr><tr><td>max</td><td class="num">${number(scale, m.max)}</td><td></td></tr></tbody></table>`
}

const tints = { cached_tokens: ['cached tokens', 'tokens'], output_tokens: ['output tokens', 'tokens'], concurrency: ['requests in flight at arrival', ''] }

const Prompt = memo(({ unit, rows, color, filter, limit }) => {
  const load = useMemo(() => inFlight(rows.arrival, rows.end), [rows])
  const column = color === 'concurrency' ? load : rows[color], max = useMemo(() => color === 'status' ? 0 : column.reduce((a, v) => v > a ? v : a, 0), [column, color])
  const some = Object.entries(tints).filter(([k]) => k === 'concurrency' || rows[k].some((v) => v === v))
  const describe = (i) => [rows.request_id.values[rows.request_id.codes[i]] ?? 'request ' + rows.row[i], `TTFT ${text(unit, rows.ttft[i])}`, `prompt ${text('tokens', rows.prompt_tokens[i])}` + (rows.cached_tokens[i] === rows.cached_tokens[i] ? `, cached ${text('tokens', rows.cached_tokens[i])}` : ''), `in flight at arrival ${load[i] === load[i] ? load[i] : 'not recorded'}`].join('\n')
  let n = 0
  for (let i = 0; i < rows.n; i++) if (rows.ttft[i] === rows.ttft[i] && rows.prompt_tokens[i] === rows.prompt_tokens[i]) n++
  const box = (x0, x1, y0, y1) => store.set({ filter: also(filter, `prompt_tokens >= ${Math.ceil(Math.max(0, x0))} and prompt_tokens <= ${Math.floor(x1)} and ttft >= ${duration(Math.max(0, y0))} and ttft <= ${duration(y1)}`) })
  const legend = [...(color === 'status' ? rows.status.values.map((v) => ({ label: v, color: v === 'head_missing' ? 'open' : v, kind: 'dot' })) : [{ label: `${tints[color][0]}: pale 0, dark ${count(max)}`, color: 'ramp3', kind: 'dot' }]), { label: 'median by prompt length', color: 'ink', kind: 'line' }, { label: 'p95', color: 'ink', kind: 'dash' }]
  return html`<${Figure} title="TTFT by prompt length" sentence=${`${count(n)} requests with both; drag a box to select these requests, click one to open it.`} legend=${legend}
    table=${() => ({ head: ['request', 'prompt (tok)', 'TTFT (ms)', 'in flight'], rows: Array.from(rows.row, (r, i) => [rows.request_id.values[rows.request_id.codes[i]] ?? r, rows.prompt_tokens[i], (rows.ttft[i] / 1e6).toFixed(3), load[i]].map((v) => v !== v || v === 'NaN' ? '—' : v)) })}
    controls=${html`<${Select} label="Colour" value=${color} options=${[['status', 'status'], ...some.map(([k, [t]]) => [k, t])]} onChange=${(v) => store.set({ color: v })} />`}>
    <${Scatter} label="TTFT by prompt length" x=${{ values: rows.prompt_tokens, unit: 'tokens', title: 'prompt' }} y=${{ values: rows.ttft, unit, title: 'TTFT', log: true }}
      color=${(i) => rows.status.values[rows.status.codes[i]] || 'open'} tint=${color === 'status' ? null : (i) => column[i] === column[i] ? column[i] / (max || 1) : null} limit=${limit} describe=${describe} onBox=${box} onPick=${(i) => store.set({ view: 'requests', row: rows.row[i] })} /></${Figure}>`
})
