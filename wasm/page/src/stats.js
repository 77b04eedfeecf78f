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

// inFlight is the number of requests between start and end at the start of each.
export function inFlight(start, end) {
  const s = [], out = new Float64Array(start.length).fill(NaN)
  for (let i = 0; i < start.length; i++) if (start[i] === start[i] && end[i] === end[i]) s.push(i)
  const begins = s.slice().sort((a, b) => start[a] - start[b]), ends = s.slice().sort((a, b) => end[a] - end[b])
  let k = 0
  begins.forEach((i, at) => {
    while (k < ends.length && end[ends[k]] <= start[i]) k++ // departures come first
    out[i] = at + 1 - k
  })
  return out
}
