// What a report is broken down by: its groups as a table and as bars of stages, and
// its windows of time as small charts on one axis.
import { html, use, useMemo } from '../ui.js'
import * as store from '../store.js'
import { text, count, common, short, rankName, timeSteps } from '../format.js'
import { metricName, Select } from '../widgets.js'
import { reason } from '../reasons.js'
import { start } from '../curves.js'
import { zoom } from '../zoom.js'
import { Figure } from '../charts/figure.js'
import { Lines } from '../charts/lines.js'
import { Stack, partsLegend } from '../charts/bars.js'
import { partsOf } from './parts.js'

const dimension = (d) => d.replace(/_/g, ' ')

// Controls are --by and --window.
export function Controls({ s, run, dimensions }) {
  const [a, b] = s.groups, span = store.selection.value ? store.selection.value[1] - store.selection.value[0] : run.throughput.window_ns?.value
  const lengths = span ? timeSteps.filter((w) => span / w >= 2 && span / w <= 120) : []
  if (s.window && !lengths.includes(s.window)) lengths.push(s.window)
  const options = (not) => [['', not ? '—' : 'nothing'], ...dimensions.filter((d) => d !== not).map((d) => [d, dimension(d)])]
  return html`<${Select} label="Group by" value=${a || ''} options=${options()} onChange=${(v) => store.set({ groups: v ? [v, ...(b && b !== v ? [b] : [])] : [] })} />
    ${a && html`<${Select} label="and" value=${b || ''} options=${options(a)} onChange=${(v) => store.set({ groups: v ? [a, v] : [a] })} />`}
    ${lengths.length > 0 && html`<${Select} label="Windows" value=${s.window || 0} options=${[[0, 'none'], ...lengths.map((w) => [w, text('ns', w)])]} onChange=${(v) => store.set({ window: Number(v) })} />`}`
}

const named = (g, by) => by.map((d) => g.by[d] === undefined || g.by[d] === '' ? '(not recorded)' : g.by[d])

const most = 200 // rows of a table, which the export continues

const columns = (rank) => [
  ['TTFT p50', (c) => quant(c, 'ttft', 0.5)], ['TTFT ' + rankName(rank), (c) => quant(c, 'ttft', rank)],
  ['TPOT p50', (c) => quant(c, 'tpot', 0.5)], ['TPOT ' + rankName(rank), (c) => quant(c, 'tpot', rank)],
  ['E2E p50', (c) => quant(c, 'e2e', 0.5)], ['E2E ' + rankName(rank), (c) => quant(c, 'e2e', rank)],
  ['Output', (c) => c.throughput.values.tps], ['Goodput', (c) => c.goodput?.share],
]

// quant is a quantile of a metric of a cell as a value, or null with its reason.
export const quant = (c, name, rank) => {
  const m = c.metrics[name], v = m?.n ? m.quantiles[rank] : undefined
  return { value: v ?? null, unit: m?.unit, reason: m?.reason || 'no_requests' }
}

// Cells is a table of cells, each column in one unit.
function Cells({ heads, cells, rank, label }) {
  const cols = columns(rank).map(([title, f]) => {
    const list = cells.map((c) => f(c.cell)), some = list.filter((v) => v && v.value !== null && v.value !== undefined)
    return { title, list, some: some.length, scale: some.length ? common(some[0].unit || '', ...some.map((v) => v.value)) : null }
  }).filter((c) => c.some)
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${label}><table class="table"><thead><tr>${heads.map((h) => html`<th scope="col">${h}</th>`)}<th scope="col" class="num">req</th><th scope="col" class="num">ok</th>${cols.map((c) => html`<th scope="col" class="num">${c.title}${c.scale.symbol ? ' (' + c.scale.symbol + ')' : ''}</th>`)}</tr></thead>
    <tbody>${cells.slice(0, most).map((c, i) => html`<tr key=${i}>${c.names.map((n, k) => html`<td class="cut">${c.filter && k === 0 ? html`<button class="linkish" title="Select these requests" onClick=${c.filter}><bdi>${n}</bdi></button>` : html`<bdi>${n}</bdi>`}</td>`)}<td class="num">${count(c.cell.requests.total ?? '—')}</td><td class="num">${count(c.cell.requests.ok ?? '—')}</td>${cols.map((col) => { const v = col.list[i]; return html`<td class="num">${v && v.value !== null && v.value !== undefined ? short(col.scale, v.value) : html`<span class="null" title=${reason(v?.reason)}>—</span>`}</td>` })}</tr>`)}</tbody></table>
    ${cells.length > most && html`<p class="muted">${count(cells.length - most)} more are in the exported report</p>`}</div>`
}

export function Breakdown({ run }) {
  const s = use(store.state), r = use(store.report)
  const by = r.query?.by || []
  return html`${run.groups.length > 0 && html`<${Groups} run=${run} by=${by} rank=${s.rank} />`}${(run.windows.length > 0 || run.groups.some((g) => g.windows.length)) && html`<${Windows} run=${run} by=${by} rank=${s.rank} slo=${run.goodput} />`}`
}

// Changes are the largest changes between windows, taken apart.
function Changes({ list, base }) {
  if (!list?.length) return null
  const signed = (v) => (v.value > 0 ? '+' : v.value < 0 ? '−' : '') + text(v.unit || 'ns', Math.abs(v.value))
  return html`<div class="facts"><p>The largest changes of a mean from one window to the next, by part:</p><ul>${list.slice(0, 6).map((c) => html`<li>${metricName(c.of)} at the ${c.side}, ${text('ns', Math.max(0, c.from - base))} → ${text('ns', Math.max(0, c.to - base))}: ${text('ns', c.total.before.value)} → ${text('ns', c.total.after.value)} (${signed(c.total.change)}): ${[...c.entries, { ...c.residual, leaves: ['residual'] }].filter((e) => e.change.value).sort((a, b) => Math.abs(b.change.value) - Math.abs(a.change.value)).map((e) => e.leaves.join(' + ').replace(/_/g, ' ') + ' ' + signed(e.change)).join(', ')}</li>`)}</ul></div>`
}

function Groups({ run, by, rank }) {
  const cells = run.groups.map((g) => ({ names: named(g, by), cell: g }))
  const parts = run.groups.slice(0, 12).flatMap((g) => partsOf(g, 'ttft', named(g, by).join(' · ')))
  return html`<section class="panel"><div class="figure-head"><h2>By ${by.map(dimension).join(' and ')}</h2><span class="muted">${count(cells.length)} groups</span></div><${Cells} heads=${by.map(dimension)} cells=${cells} rank=${rank} label=${'By ' + by.join(' and ')} /></section>
    ${parts.length > 1 && html`<${Figure} title=${'TTFT by part and ' + by.map(dimension).join(', ')} sentence="Means of each group on one scale; the parts add up to the mean."
      table=${() => ({ head: ['group', 'part', 'mean'], first: 1, rows: parts.flatMap((p) => [...p.parts.map((x) => [p.name, x.label, text(p.unit, x.value)]), [p.name, 'total', text(p.unit, p.total)]]) })}>${partsLegend(parts)}<${Stack} rows=${parts} /></${Figure}>`}`
}

function Windows({ run, by, rank }) {
  const sel = use(store.selection), base = start(run, use(store.here), sel), d = useMemo(() => {
    const sets = run.groups.length && run.groups.some((g) => g.windows.length) ? run.groups.slice(0, 7).map((g) => ({ label: named(g, by).join(' · '), windows: g.windows })) : [{ label: '', windows: run.windows }]
    const all = [...new Set(sets.flatMap((x) => x.windows.map((w) => w.from)))].sort((a, b) => a - b), end = Math.max(...sets.flatMap((x) => x.windows.map((w) => w.to)))
    const t = Float64Array.from([...all, end], (x) => Math.max(sel?.[0] ?? 0, x - base))
    const values = (ws, f) => {
      const at = new Map(ws.map((w) => [w.from, w])), v = all.map((x) => { const w = at.get(x), y = w ? f(w) : null; return y === null || y === undefined ? NaN : y })
      return Float64Array.from([...v, v[v.length - 1]])
    }
    return { sets, all, t, values }
  }, [run, base, sel])
  if (d.all.length < 2) return null
  const several = d.sets.length > 1 || d.sets[0].label, tail = rankName(rank)
  const series = (f, g) => several ? d.sets.map((x, i) => ({ label: x.label, color: 's' + i, dash: i > 3 ? [5, 3] : undefined, values: d.values(x.windows, f) })) : [g && { label: 'p50', color: 's0', dash: [5, 3], values: d.values(d.sets[0].windows, g) }, { label: g ? tail : '', color: 's0', fill: !g, values: d.values(d.sets[0].windows, f) }].filter(Boolean)
  const of = (name, q) => (w) => quant(w, name, q).value
  const panels = [
    ...['ttft', 'tpot', 'chunk_gap', 'e2e'].map((n) => [metricName(n) + (several ? ' ' + tail : ''), run.metrics[n]?.unit || '', of(n, rank), several ? null : of(n, 0.5)]),
    ['Requests', 'requests/s', (w) => w.throughput.values.request_rate?.value], ['Output', 'tokens/s', (w) => w.throughput.values.tps?.value], ['In flight', 'requests', (w) => w.concurrency.mean?.value],
    run.goodput && ['Goodput', 'ratio', (w) => w.goodput?.share?.value],
  ].filter(Boolean).map(([title, unit, f, g]) => ({ title, unit, series: series(f, g) })).filter((p) => p.series.some((x) => x.values.some((v) => v === v)))
  const length = text('ns', store.report.value.query.window_ns ?? d.all[1] - d.all[0]), rows = d.all.map((from, i) => ({ from, i }))
  const table = () => ({ head: ['from', ...panels.flatMap((p) => p.series.map((x) => [p.title, x.label].filter(Boolean).join(' ')))], rows: rows.map(({ i }) => [text('ns', d.t[i]), ...panels.flatMap((p) => p.series.map((x) => x.values[i] === x.values[i] ? text(p.unit, x.values[i]) : '—'))]) })
  return html`<${Figure} title=${'Windows of ' + length} sentence=${`Each window counts the requests sent or received in it; drag to select a time.${several ? ` Tails are ${tail}; [ and ] change it.` : ''}${run.groups.length > 7 ? ' The first 7 groups are drawn.' : ''}`} table=${table} legend=${several ? d.sets.map((x, i) => ({ label: x.label, color: 's' + i, kind: i > 3 ? 'dash' : 'line' })) : [{ label: tail, color: 's0', kind: 'line' }, { label: 'median', color: 's0', kind: 'dash' }]}>
    <div class="small-multiples">${panels.map((p) => html`<div key=${p.title}><h4>${p.title}</h4><${Lines} t=${d.t} series=${p.series} unit=${p.unit} height=${120} from=${sel?.[0]} to=${sel?.[1]} sync="windows" onRange=${zoom} label=${p.title + ' by window'} /></div>`)}</div><${Changes} list=${run.changes} base=${base} /></${Figure}>`
}
