// Statistics of columns that are at hand in the page. NaN is null and is left out.

// known returns the values of a column that exist, sorted. keep, if given, says of
// each index whether it counts.
export function known(column, keep) {
  const out = new Float64Array(column.length)
  let n = 0
  for (let i = 0; i < column.length; i++) {
    if (column[i] === column[i] && (!keep || keep(i))) out[n++] = column[i]
  }
  return out.subarray(0, n).sort()
}

// measures returns whether a metric counts request i: lengths are recorded of failed
// requests too, which no metric counts.
export function measures(rows, name) {
  const kept = { prompt_tokens: ['ok', 'empty'], output_tokens: ['ok'] }[name], { codes, values } = rows.status
  return (i) => rows[name][i] === rows[name][i] && (!kept || kept.includes(values[codes[i]]))
}

// measured returns the values that a metric of requests is made of, sorted.
export const measured = (rows, name) => known(rows[name], measures(rows, name))

// quantile is the linear quantile of sorted values, as the report's; NaN of none.
export function quantile(sorted, p) {
  if (!sorted.length) return NaN
  const at = p * (sorted.length - 1), i = Math.floor(at)
  return i + 1 < sorted.length ? sorted[i] + (at - i) * (sorted[i + 1] - sorted[i]) : sorted[i]
}

// atMost counts the sorted values that are at most v.
export function atMost(sorted, v) {
  let lo = 0, hi = sorted.length
  while (lo < hi) {
    const mid = (lo + hi) >> 1
    if (sorted[mid] <= v) lo = mid + 1
    else hi = mid
  }
  return lo
}

export function mean(column) {
  let sum = 0, n = 0
  for (const v of column) {
    if (v === v) {
      sum += v
      n++
    }
  }
  return n ? sum / n : NaN
}

// band is half the width of the 95 % band of Dvoretzky, Kiefer and Wolfowitz around
// an empirical distribution of n values.
export const band = (n) => Math.sqrt(Math.log(2 / 0.05) / (2 * n))

// rankSum is the two-sided p-value of the Mann-Whitney U test of two sorted samples,
// by the normal approximation with ties and continuity; null below 8 values a side,
// where it is not good.
export function rankSum(a, b) {
  const na = a.length, nb = b.length, n = na + nb
  if (na < 8 || nb < 8) return null
  let i = 0, j = 0, ranks = 0, ties = 0, rank = 0
  while (i < na || j < nb) {
    const v = j >= nb || (i < na && a[i] <= b[j]) ? a[i] : b[j]
    let x = 0, y = 0
    while (i < na && a[i] === v) { i++; x++ }
    while (j < nb && b[j] === v) { j++; y++ }
    const t = x + y
    ranks += x * (rank + (t + 1) / 2)
    ties += t * t * t - t
    rank += t
  }
  const u = ranks - (na * (na + 1)) / 2, mu = (na * nb) / 2
  const sigma = Math.sqrt(((na * nb) / 12) * (n + 1 - ties / (n * (n - 1))))
  if (sigma === 0) return 1
  return Math.min(1, 2 * upper(Math.max(0, Math.abs(u - mu) - 0.5) / sigma))
}

// upper is the upper tail of the standard normal distribution, by the rational
// Chebyshev fit of the complementary error function (relative error below 1.2e-7).
function upper(z) {
  const x = z / Math.SQRT2, t = 1 / (1 + 0.5 * x)
  const c = [-1.26551223, 1.00002368, 0.37409196, 0.09678418, -0.18628806, 0.27886807, -1.13520398, 1.48851587, -0.82215223, 0.17087277]
  let s = 0
  for (let k = c.length - 1; k >= 0; k--) s = c[k] + t * s
  return 0.5 * t * Math.exp(-x * x + s)
}

// sampled thins points for drawing: at most n of them, the ends among them.
export function sampled(length, n) {
  const m = Math.min(length, n), out = new Array(m)
  for (let k = 0; k < m; k++) out[k] = m === 1 ? 0 : Math.round((k * (length - 1)) / (m - 1))
  return out
}

// longGap is the length from which a gap is a stall of its run: the p99, or twice the
// median where that is longer; null without gaps.
export function longGap(run) {
  const m = run.metrics.chunk_gap
  return m?.n ? Math.ceil(Math.max(m.quantiles['0.99'] ?? m.max, 2 * (m.quantiles['0.5'] ?? 0), 1)) : null
}

// beyond is by how much each y exceeds what its x gives: the medians of trend, with
// straight lines between them. NaN of fewer than 20 points.
export function beyond(x, y) {
  const list = trend(x, y), out = new Float64Array(x.length).fill(NaN)
  if (list.reduce((n, b) => n + b.n, 0) < 20) return out
  for (let i = 0; i < x.length; i++) {
    let k = 1
    while (k < list.length - 1 && list[k].x < x[i]) k++
    const a = list[Math.min(k, list.length) - 1], b = list[Math.min(k, list.length - 1)]
    const f = b.x > a.x ? Math.min(1, Math.max(0, (x[i] - a.x) / (b.x - a.x))) : 0
    out[i] = y[i] - (a.median + f * (b.median - a.median))
  }
  return out
}

// trend is the median and the 95th percentile of y in bins of x with equally many
// points: [{x, median, p95, n}].
export function trend(x, y, bins = 12) {
  const at = []
  for (let i = 0; i < x.length; i++) if (x[i] === x[i] && y[i] === y[i]) at.push(i)
  at.sort((a, b) => x[a] - x[b])
  const out = [], per = Math.max(8, Math.ceil(at.length / bins))
  for (let k = 0; k + per / 2 <= at.length; k += per) {
    const part = at.slice(k, k + per)
    const ys = Float64Array.from(part, (i) => y[i]).sort()
    out.push({ x: x[part[part.length >> 1]], median: quantile(ys, 0.5), p95: quantile(ys, 0.95), n: part.length })
  }
  return out
}

// span is the time of requests, from the first stamp of their run to the last of theirs.
export function span(rows) {
  let hi = 0
  for (const column of [rows.end, rows.last_token, rows.arrival]) for (let i = 0; i < rows.n; i++) if (column[i] > hi) hi = column[i]
  return [0, hi || 1]
}

// flight counts what is between start and end: count[i] of them from t[i] on.
export function flight(start, end) {
  const known = (i) => start[i] === start[i] && end[i] === end[i]
  const a = start.filter((_, i) => known(i)).sort(), b = end.filter((_, i) => known(i)).sort(), n = a.length
  const t = new Float64Array(2 * n), count = new Float64Array(2 * n)
  for (let i = 0, k = 0, at = 0; at < 2 * n; at++) {
    const starts = i < n && !(a[i] >= b[k]) // departures come first
    t[at] = starts ? a[i++] : b[k++]
    count[at] = i - k
  }
  return { t, count }
}

// part is the part [from, to] of what flight gives, of at most so many points: of
// points that fall together it keeps the highest. left are the ends, sorted, of what
// began earlier and is not counted.
export function part({ t, count }, from, to, most, left = []) {
  const begin = atMost(t, from), end = atMost(t, to), step = Math.max(1, Math.ceil((end - begin) / most)), n = Math.ceil((end - begin) / step)
  const out = { t: new Float64Array(n + 2), v: new Float64Array(n + 2), max: 0 }
  let gone = 0
  const at = (i) => {
    while (gone < left.length && left[gone] <= t[i]) gone++
    return count[i] - (left.length - gone)
  }
  out.t[0] = from
  out.v[0] = begin ? at(begin - 1) : 0
  for (let k = 0; k < n; k++) {
    let high = begin + k * step, v = at(high)
    for (let i = high + 1; i < Math.min(end, begin + (k + 1) * step); i++) {
      const other = at(i)
      if (other > v) [high, v] = [i, other]
    }
    out.t[k + 1] = t[high]
    out.v[k + 1] = v
  }
  out.t[n + 1] = to
  out.v[n + 1] = n ? at(end - 1) : out.v[0]
  for (const v of out.v) out.max = Math.max(out.max, v)
  return out
}

// running are the ends, sorted, of what starts before a time and ends after it.
export function running(start, end, time) {
  const out = []
  for (let i = 0; i < start.length; i++) if (start[i] < time && end[i] > time) out.push(end[i])
  return Float64Array.from(out).sort()
}

// inFlight is the number of requests between start and end at the start of each.
export function inFlight(start, end) {
  const s = [], out = new Float64Array(start.length).fill(NaN)
  for (let i = 0; i < start.length; i++) if (start[i] === start[i] && end[i] === end[i]) s.push(i)
  const ends = Float64Array.from(s, (i) => end[i]).sort(), begins = s
  if (s.some((i, k) => k > 0 && start[i] < start[s[k - 1]])) begins.sort((a, b) => start[a] - start[b])
  let k = 0
  begins.forEach((i, at) => {
    while (k < ends.length && ends[k] <= start[i]) k++ // departures come first
    out[i] = at + 1 - k
  })
  return out
}
