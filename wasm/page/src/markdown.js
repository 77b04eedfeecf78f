// A report as Markdown, for an issue or a post-mortem.
import { common, short, text, count } from './format.js'
import { metricName } from './names.js'
import { reason, excluded, plainly } from './reasons.js'

// cell keeps what a log holds from being markup.
export const cell = (s) => String(s).replace(/[\\|&<>*_`[\]]/g, '\\$&').replace(/\s+/g, ' ')

const shown = ['ttft', 'tpot', 'chunk_gap', 'e2e', 'prompt_tokens', 'output_tokens']
const rates = ['request_rate', 'tps', 'tps_prompt', 'concurrency_mean']

// shareText is the goodput of a report: a share, its bounds, or why there is none.
export function shareText(g) {
  if (g.share.value !== null) return text('ratio', g.share.value)
  if (g.share_low.value === null) return '— (' + reason(g.share.reason) + ')'
  return text('ratio', g.share_low.value) + ' to ' + text('ratio', g.share_high.value)
}

export function markdown(report, command) {
  const out = [], partial = report.diags.find((d) => d.code === 'partial')
  if (partial) out.push('**Partial:** ' + cell(partial.msg) + '.', '')
  for (const r of report.runs) {
    out.push('## ' + cell(r.label), '', cell([r.format, r.side + ' side', r.model || (r.models || []).join(', ')].filter(Boolean).join(' · ')), '')
    const q = r.requests
    out.push(q.total === null ? 'requests: none (' + reason(q.reason) + ')' : `requests: ${count(q.total)}, ok ${count(q.ok)}, failed ${count(q.failed)}, aborted ${count(q.aborted)}${q.filtered ? ', left out ' + count(q.filtered) : ''}`, '')
    out.push('| metric | unit | n | mean | p50 | p90 | p99 | left out |', '| --- | --- | ---: | ---: | ---: | ---: | ---: | --- |')
    for (const name of shown) {
      const m = r.metrics[name]
      if (!m) continue
      if (!m.n) out.push(`| ${metricName(name)} | | 0 | — | — | — | — | ${cell(reason(m.reason))} |`)
      else {
        const p = ['0.5', '0.9', '0.99'].map((k) => m.quantiles[k]), s = common(m.unit, m.mean, ...p.filter((v) => v !== undefined))
        out.push(`| ${metricName(name)} | ${s.symbol} | ${m.n} | ${[m.mean, ...p].map((v) => v === undefined ? '—' : short(s, v)).join(' | ')} | ${cell(excluded(m.excluded))} |`)
      }
    }
    out.push('')
    for (const name of rates) {
      const v = r.throughput.values[name]
      if (v) out.push(`- ${metricName(name)}: ${v.value === null ? '— (' + reason(v.reason) + ')' : text(v.unit || '', v.value)}`)
    }
    const g = r.goodput
    if (g) out.push(`- goodput under ${cell(g.slo.join(', '))}: ${shareText(g)} of ${count(g.denominator)} requests`)
    for (const n of r.notes) out.push('- ' + cell(plainly(n)))
    out.push('')
  }
  out.push(`Definition set ${report.definition.name}: ${cell(report.definition.title)}.`, '', '```', command.replace(/`/g, "'"), '```', '')
  return out.join('\n')
}
