// What stands out: rules over a report and the columns of its requests. Each finding
// is a sentence with its numbers, and where to look.
import { text, count } from './format.js'
import { known, quantile, inFlight } from './stats.js'
import { excluded } from './reasons.js'
import { metricName } from './names.js'

export function findings(run, report, rows) {
  const out = [], q = run.requests
  if (q.total > 0 && q.failed + q.aborted > 0) {
    out.push({ warn: true, text: `${count(q.failed + q.aborted)} of ${count(q.total)} requests failed or were aborted`, to: { view: 'requests', filter: 'status in (failed, aborted)' } })
  }
  tail(run, rows, out)
  stages(run, out)
  const audit = run.reported.filter((x) => x.verdict === 'differs')
  if (audit.length) out.push({ warn: true, text: `${audit.length} of ${run.reported.length} figures of the producer differ from what its definition gives, first ${audit[0].key}` })
  else if (run.reported.some((x) => x.verdict === 'equal')) out.push({ text: `${run.reported.filter((x) => x.verdict === 'equal').length} of ${run.reported.length} figures of the producer were recomputed and are equal` })
  const lacks = Object.entries(run.metrics.ttft?.excluded || {}).filter(([k]) => ['not_recorded', 'not_streamed', 'clock', 'order'].includes(k))
  if (q.total && lacks.length) out.push({ text: `TTFT leaves out ${excluded(Object.fromEntries(lacks))}`, to: { view: 'diagnostics' } })
  const lost = report.diags.filter((d) => d.severity === 'dataloss' || d.severity === 'error')
  if (lost.length) out.push({ warn: true, text: `${count(lost.reduce((n, d) => n + d.count, 0))} records or lines could not be used`, to: { view: 'diagnostics' } })
  return out.slice(0, 5)
}

// tail says how far the slowest requests lie out, and when they came.
function tail(run, rows, out) {
  const m = run.metrics.ttft
  if (!m?.n || m.n < 20 || !m.quantiles['0.5'] || !m.quantiles['0.99']) return
  const ratio = m.quantiles['0.99'] / m.quantiles['0.5']
  if (ratio < 2) return
  let where = '', to = { view: 'latency', metric: 'ttft' }
  if (rows?.n && rows.ttft) {
    const least = m.quantiles['0.9'] ?? quantile(known(rows.ttft), 0.9), at = []
    for (let i = 0; i < rows.n; i++) if (rows.ttft[i] >= least && rows.arrival[i] === rows.arrival[i]) at.push(i)
    if (at.length >= 3 && run.clock !== 'request') {
      const times = Float64Array.from(at, (i) => rows.arrival[i]).sort(), k = Math.ceil(times.length * 0.8)
      let best = [times[0], times[times.length - 1]]
      for (let i = 0; i + k <= times.length; i++) if (times[i + k - 1] - times[i] < best[1] - best[0]) best = [times[i], times[i + k - 1]]
      const load = inFlight(rows.arrival, rows.end), sorted = known(load)
      const there = Float64Array.from(at, (i) => load[i]).filter((v) => v === v).sort()
      where = `; ${k} of the ${at.length} slowest arrived between ${text('ns', best[0])} and ${text('ns', best[1])}` + (there.length ? `, with ${quantile(there, 0.5).toFixed(0)} in flight (median of all: ${quantile(sorted, 0.5).toFixed(0)})` : '')
      to = { view: 'timeline', times: [[Math.floor(Math.max(0, best[0])), Math.ceil(best[1]) + 1]] }
    }
  }
  out.push({ warn: ratio >= 4, text: `p99 of TTFT is ${ratio.toFixed(1)}× its median (${text(m.unit, m.quantiles['0.99'])} against ${text(m.unit, m.quantiles['0.5'])})${where}`, to })
}

// stages names the stage that grows most between all requests and the slowest.
function stages(run, out) {
  const d = run.decompositions.find((x) => x.of === 'ttft' && x.tables.length && x.tables[0].tails.length)
  if (!d) return
  const t = d.tables[0], x = t.tails[t.tails.length - 1]
  let best = null
  t.entries.forEach((e, i) => {
    const more = (x.entries[i]?.value ?? NaN) - (e.mean.value ?? NaN)
    if (more > 0 && (!best || more > best.more)) best = { more, name: e.leaves.join(' + '), mean: e.mean.value, tail: x.entries[i].value }
  })
  const whole = x.total.value - t.total.value
  if (best && whole > 0.05 * t.total.value) out.push({ text: `In the slowest ${count(x.n)} requests TTFT is ${text('ns', whole)} longer than on average; ${best.name} accounts for ${text('ratio', Math.min(1, best.more / whole))} of it (${text('ns', best.mean)} → ${text('ns', best.tail)})`, to: { view: 'latency', metric: 'ttft' } })
}
