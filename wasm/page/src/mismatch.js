// What makes two runs unlike, so that their difference may be of the load and not of
// the server.
import { text, count } from './format.js'
import { known, rankSum, quantile } from './stats.js'

export function mismatches(A, B, ra, rb) {
  const out = [], both = (f) => [f(A), f(B)], differ = (what, a, b) => a && b && a !== b && out.push(`${what}: A ${a}, B ${b}`)
  if (A.side !== B.side) out.push(`Measured at different sides: A at the ${A.side}, B at the ${B.side}. A latency at a client holds the network.`)
  differ('Different models', ...both((r) => r.model || r.models?.join(', ')))
  differ('Different engines', ...both((r) => r.engine))
  for (const [name, what, unit] of [['prompt_tokens', 'prompt lengths', 'tokens'], ['output_tokens', 'output lengths', 'tokens']]) {
    if (!ra?.[name] || !rb?.[name]) continue
    const x = known(ra[name]), y = known(rb[name])
    if (!x.length || !y.length) continue
    const p = rankSum(x, y), [mx, my] = [quantile(x, 0.5), quantile(y, 0.5)]
    if (p !== null && p < 0.01) out.push(`Different ${what}: medians ${text(unit, mx)} and ${text(unit, my)} (p ${p < 0.001 ? '<0.001' : p.toFixed(3)}, n ${count(x.length)} and ${count(y.length)})`)
  }
  const far = (a, b, by) => a > 0 && b > 0 && Math.max(a, b) / Math.min(a, b) > by
  const c = both((r) => r.concurrency.mean?.value)
  if (far(...c, 1.25)) out.push(`Different concurrency: mean ${text('', c[0])} and ${text('', c[1])} requests in flight`)
  const d = both((r) => r.throughput.window_ns?.value)
  if (far(...d, 2)) out.push(`Different durations: ${text('ns', d[0])} and ${text('ns', d[1])}`)
  const f = both((r) => r.requests.total ? (r.requests.failed + r.requests.aborted) / r.requests.total : null)
  if (f[0] !== null && f[1] !== null && Math.abs(f[0] - f[1]) > 0.01) out.push(`Different shares of failed and aborted requests: ${text('ratio', f[0])} and ${text('ratio', f[1])}`)
  return out
}
