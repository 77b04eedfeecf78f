// Where the time of TTFT and TPOT went: the report's tables, whose means and residual
// add up to the mean total, for all members and for the slowest.
import { html, memo, use, useMemo } from '../ui.js'
import * as store from '../store.js'
import { text, count, percent } from '../format.js'
import { quantile, known, mean } from '../stats.js'
import { Stack, partsLegend } from '../charts/bars.js'
import { Figure, Table } from '../charts/figure.js'
import { reason, plainly } from '../reasons.js'
import { metricName } from '../names.js'
import { Value } from '../widgets.js'

const label = (leaves) => leaves.map((l) => l.replace(/_ns$/, '').replace(/_/g, ' ')).join(' + ')

function rowOf(t, name, note, total, entries, residual) {
  const parts = t.entries.map((e, i) => ({ leaves: e.leaves, label: label(e.leaves), value: entries[i]?.value ?? 0 }))
  parts.push({ leaves: ['residual'], label: 'residual', value: residual?.value ?? 0 })
  return { name, note, total: total.value, unit: total.unit, parts }
}

// rows of one table: its mean and its tails.
function tableRows(d, t) {
  const members = d.members || 'requests', name = t.cohort || 'all'
  const out = [rowOf(t, d.tables.length > 1 && !t.cohort ? 'group of ' + count(t.n) : name, `mean of ${count(t.n)} ${members}`, t.total, t.entries.map((e) => e.mean), t.residual.mean)]
  for (const x of t.tails) out.push(rowOf(t, '≥ p' + percent(x.rank), `mean of the ${count(x.n)} slowest, ${text(t.total.unit || '', x.from.value)} and above`, x.total, x.entries, x.residual))
  return out.filter((r) => r.total !== null && r.total !== undefined)
}

// partsOf is the row of means of a quantity of a cell: at most one.
export function partsOf(cell, of, name) {
  const t = cell.decompositions.find((d) => d.of === of && d.tables.length)?.tables[0]
  return t && t.entries.length > 1 && t.total.value !== null ? [rowOf(t, name, `mean of ${count(t.n)} requests`, t.total, t.entries.map((e) => e.mean), t.residual.mean)] : []
}

function title(d) {
  const by = { request: ', by decode span', rank: ' by rank', kind: ' by kind of step', batch: ' by batch size' }
  return (d.of === 'step' ? 'Step time' : metricName(d.of)) + ' by part' + (by[d.by] || '')
}

export const Parts = memo(({ list: given }) => {
  const list = given.filter((d) => d.tables.length && d.total.value !== null)
  // A table without entries, or with one of all that the total consists of, says
  // nothing of stages.
  const shown = list.filter((d) => d.tables.some((t) => t.entries.length > 1 || (t.entries.length === 1 && t.residual.may_contain.length > 0)))
  if (!list.length) return null
  const mute = list.filter((d) => !shown.includes(d))
  return html`<div class="two">${shown.map((d, i) => html`<${One} key=${d.of + d.by + d.side + i} d=${d} />`)}</div>
    ${mute.map((d, i) => html`<section class="panel" key=${i}><h3>${title(d)}</h3><p class="sentence">The source does not tell the parts: all of ${text(d.total.unit || '', d.total.value)} (mean of ${count(d.n)} ${d.members || 'requests'}) stays together.${d.notes.length ? ' ' + d.notes.map(plainly).join('; ') : ''}</p></section>`)}`
})

function One({ d }) {
  const tables = d.tables.slice(0, 12), rows = tables.flatMap((t) => tableRows(d, t))
  const missing = new Map()
  for (const t of tables) for (const l of t.leaves) if (l.state === 'null' && l.reason !== 'outside_total') missing.set(l.name, { name: label([l.name]), reason: l.reason })
  const negative = tables.some((t) => t.residual.negative || t.entries.some((e) => e.negative))
  const sentence = `${d.label ? d.label[0].toUpperCase() + d.label.slice(1) + '. ' : ''}Means of ${count(d.n)} ${d.members || 'requests'} at the ${d.side}; the parts and the residual add up to the total exactly${Object.keys(d.excluded).length ? '. Left out: ' + Object.entries(d.excluded).map(([k, n]) => n + ' (' + reason(k) + ')').join(', ') : ''}.${negative ? ' Some parts are negative in some members; the table says which.' : ''}`
  const table = () => ({ head: ['cohort', 'part', 'mean', 'share', 'negative in'], first: 1, rows: tables.flatMap((t) => [...t.entries.map((e) => [t.cohort || 'all', label(e.leaves), valueText(e.mean), valueText(e.share), e.negative ? e.negative + ' ' + (e.reason ? reason(e.reason) : '') : '']), [t.cohort || 'all', 'residual', valueText(t.residual.mean), valueText(t.residual.share), t.residual.negative || ''], [t.cohort || 'all', 'total', valueText(t.total), '100 %', '']]) })
  const memos = [...(d.memos || []), ...(tables.length === 1 ? tables[0].memos : [])].filter((m) => m.mean.value)
  const bounds = tables.length === 1 ? tables[0].terms.filter((t) => t.mean.value === null && t.high?.value > 0) : []
  return html`<${Figure} title=${title(d)} sentence=${sentence} table=${table}>
    ${partsLegend(rows, [...missing.values()])}
    <${Stack} rows=${rows} />
    <div class="parts facts">${memos.length > 0 && html`<p>Beside the sum: ${memos.map((m) => `${m.name.replace(/_ns$/, '').replace(/_/g, ' ')} ${m.bound ? (m.bound === 'upper' ? '≤ ' : '≥ ') : ''}${text(m.mean.unit || '', m.mean.value)}`).join(', ')}</p>`}
      ${bounds.length > 0 && html`<p>Bounds: ${bounds.map((t) => `${t.name.replace(/^t_/, '').replace(/_/g, ' ')} ${text('ns', t.low.value)} to ${text('ns', t.high.value)}`).join(', ')}</p>`}
      ${[...d.notes, ...tables.flatMap((t) => t.notes)].slice(0, 6).map((n) => html`<p>${plainly(n)}</p>`)}</div></${Figure}>`
}

const valueText = (v) => !v || v.value === null || v.value === undefined ? '— ' + reason(v?.reason) : text(v.unit || '', v.value)

// Cohorts stacks the means of TTFT and of the time after it for cohorts of E2E, which
// says what the slow requests are slow in.
export const Cohorts = memo(({ rows }) => {
  const list = useMemo(() => {
    const sorted = known(rows.e2e)
    if (sorted.length < 10) return []
    const edges = [0, 0.5, 0.9, 0.99, 1], out = []
    for (let k = 0; k + 1 < edges.length; k++) {
      const lo = quantile(sorted, edges[k]), hi = quantile(sorted, edges[k + 1]), at = []
      for (let i = 0; i < rows.n; i++) if (rows.e2e[i] >= lo && (rows.e2e[i] < hi || k === edges.length - 2) && rows.ttft[i] === rows.ttft[i]) at.push(i)
      if (!at.length) continue
      const m = (f) => at.reduce((a, i) => a + f(i), 0) / at.length
      const ttft = m((i) => rows.ttft[i]), decode = m((i) => rows.last[i] - rows.first[i]), total = m((i) => rows.e2e[i])
      const parts = [{ leaves: ['first_token'], label: 'TTFT', value: ttft }]
      if (decode === decode) parts.push({ leaves: ['decode'], label: 'first to last token', value: decode })
      parts.push({ leaves: ['residual'], label: 'rest', value: total - ttft - (decode === decode ? decode : 0) })
      out.push({ name: `p${edges[k] * 100} to p${edges[k + 1] * 100}`, note: `mean of ${count(at.length)} requests`, total, unit: 'ns', parts })
    }
    return out
  }, [rows])
  if (!list.length) return null
  return html`<${Figure} title="E2E by cohort" sentence="Requests by percentile of E2E; means of the same requests add up. Percentiles would not." table=${() => ({ head: ['cohort', 'part', 'mean'], first: 1, rows: list.flatMap((r) => [...r.parts.map((p) => [r.name, p.label, text('ns', p.value)]), [r.name, 'E2E', text('ns', r.total)]]) })}>
    ${partsLegend(list)}<${Stack} rows=${list} /></${Figure}>`
})
