// Verdicts on limits, computed in the page from the columns of requests, so that a
// slider answers at once. The rules are those of the kernel goodput: a failed,
// aborted or empty request has missed; what cannot be judged is unknown and leaves
// bounds; one token has no TPOT and cannot miss it; an open request that has not
// missed anything yet is in no figure.

const [inapplicable, met, unknown, missed] = [0, 1, 2, 3]

// ofLength are the metrics per token, which a request of one token does not have
// and an open one may yet change.
const ofLength = new Set(['tpot', 'tpot_after_first_chunk', 'tpot_from_total'])

// judge judges the rows of one run: columns status, output_tokens, stream and one
// per limit. It gives counts that add up, as a report's goodput does, and what the
// good requests gave: tokens, and how many of them have a known number.
export function judge(rows, slo, exclude = false) {
  const status = rows.status, n = status.codes.length
  const codes = Object.fromEntries(status.values.map((s, i) => [s, i]))
  const out = { good: 0, missed: 0, unknown: 0, waiting: 0, byStatus: {}, tokens: 0, counted: 0, conditions: slo.map((l) => ({ ...l, met: 0, missed: 0, unknown: 0, inapplicable: 0 })) }
  const columns = slo.map((l) => rows[l.metric]), said = new Uint8Array(slo.length)
  const tokens = rows.output_tokens
  for (let i = 0; i < n; i++) {
    const s = status.codes[i]
    if (s === codes.failed || s === codes.aborted || s === codes.empty) {
      if (exclude && s === codes.aborted) continue
      out.missed++
      out.byStatus[status.values[s]] = (out.byStatus[status.values[s]] || 0) + 1
      continue
    }
    const open = s === codes.open || s === codes.head_missing
    let worst = inapplicable
    for (let k = 0; k < slo.length; k++) {
      let v = verdict(columns[k], slo[k], i, tokens)
      if (open && (v !== missed || ofLength.has(slo[k].metric))) v = unknown
      said[k] = v
      if (v > worst) worst = v
    }
    if (open && worst !== missed) {
      out.waiting++
      continue
    }
    if (worst === missed) out.missed++
    else if (worst === unknown) out.unknown++
    else {
      out.good++
      if (tokens && tokens[i] === tokens[i]) {
        out.tokens += tokens[i]
        out.counted++
      }
    }
    for (let k = 0; k < slo.length; k++) {
      const c = out.conditions[k], v = said[k]
      if (v === met) c.met++
      else if (v === missed) c.missed++
      else if (v === unknown) c.unknown++
      else c.inapplicable++
    }
  }
  out.denominator = out.good + out.missed + out.unknown
  out.low = out.denominator ? out.good / out.denominator : null
  out.high = out.denominator ? (out.good + out.unknown) / out.denominator : null
  return out
}

function verdict(column, limit, i, tokens) {
  const v = column ? column[i] : NaN
  if (v === v) return v <= limit.max ? met : missed
  if (tokens && ofLength.has(limit.metric) && tokens[i] === 1) return inapplicable
  return unknown
}

// surface is the share of requests within both of two limits, for a grid of
// limits: out[j * nx + i] for xs[i] and ys[j], which ascend. Requests without
// either value, and all that are not ok, are misses of the share: it is its lower
// bound.
export function surface(x, y, ok, xs, ys) {
  const nx = xs.length, ny = ys.length, out = new Float64Array(nx * ny)
  const place = (list, v) => {
    let lo = 0, hi = list.length
    while (lo < hi) {
      const mid = (lo + hi) >> 1
      if (list[mid] < v) lo = mid + 1
      else hi = mid
    }
    return lo
  }
  let n = 0
  for (let i = 0; i < x.length; i++) {
    n++
    if (!ok(i) || x[i] !== x[i] || y[i] !== y[i]) continue
    const a = place(xs, x[i]), b = place(ys, y[i])
    if (a < nx && b < ny) out[b * nx + a]++
  }
  for (let j = 0; j < ny; j++) {
    for (let i = 0; i < nx; i++) {
      out[j * nx + i] += (i ? out[j * nx + i - 1] : 0) + (j ? out[(j - 1) * nx + i] : 0) - (i && j ? out[(j - 1) * nx + i - 1] : 0)
    }
  }
  if (n) for (let k = 0; k < out.length; k++) out[k] /= n
  return out
}
