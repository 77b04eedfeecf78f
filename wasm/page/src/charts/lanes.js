// Requests laid out as lanes over time.

// Where several things fall on a pixel, the greatest of these is shown.
export const decode = 1, prefill = 2, waiting = 3, queue = 4, stall = 5, aborted = 6, failed = 7

// segments of request i: [from, to, phase].
export function segments(r, i) {
  const s = r.arrival[i], first = r.first[i], last = r.last[i] === r.last[i] ? r.last[i] : r.end[i], out = []
  const begin = r.admitted[i] === r.admitted[i] ? r.admitted[i] : r.prefill_start[i]
  if (!(s === s)) return out
  if (begin === begin && begin >= s) {
    if (begin > s) out.push([s, begin, queue])
    if (first === first) out.push([begin, first, prefill])
  } else if (first === first) out.push([s, first, waiting])
  else if (r.end[i] > s) out.push([s, r.end[i], waiting])
  if (first === first && last > first) out.push([first, last, decode])
  return out
}

// lanes lays requests out, once: those that have a start by when they start, at[k] is the
// k-th, and its segments are first[k] to first[k + 1]. By start each has its own lane,
// packed the first that is free.
export function lanes(r, order) {
  const at = []
  for (let i = 0; i < r.n; i++) if (r.arrival[i] === r.arrival[i]) at.push(i)
  if (at.some((i, k) => k > 0 && r.arrival[i] < r.arrival[at[k - 1]])) at.sort((a, b) => r.arrival[a] - r.arrival[b])
  const n = at.length, out = { at, n, start: Float64Array.from(at, (i) => r.arrival[i]), lane: order === 'start' ? null : packed(r, at), from: new Float64Array(3 * n), to: new Float64Array(3 * n), phase: new Uint8Array(3 * n), first: new Int32Array(n + 1), end: new Float64Array(n), fate: new Uint8Array(n) }
  const fate = r.status.values.map((s) => s === 'ok' ? 0 : s === 'aborted' ? aborted : failed)
  let s = 0
  at.forEach((i, k) => {
    for (const [a, b, p] of segments(r, i)) {
      out.from[s] = a
      out.to[s] = b
      out.phase[s++] = p
    }
    out.first[k + 1] = s
    out.end[k] = r.end[i] === r.end[i] ? r.end[i] : r.arrival[i]
    out.fate[k] = fate[r.status.codes[i]] || 0
  })
  return out
}

function packed(r, at) {
  const free = []
  return Int32Array.from(at, (i) => {
    let k = free.findIndex((t) => t <= r.arrival[i])
    if (k < 0) k = free.length
    free[k] = r.end[i] === r.end[i] ? r.end[i] : Infinity
    return k
  })
}

// between returns what of lanes starts in a range of time: [lo, hi) of its requests, and
// [base, base + n) of its lanes.
export function between(l, range) {
  const after = (t) => {
    let a = 0, b = l.n
    while (a < b) {
      const mid = (a + b) >> 1
      if (l.start[mid] < t) a = mid + 1
      else b = mid
    }
    return a
  }
  const lo = range ? after(range[0]) : 0, hi = range ? after(range[1]) : l.n
  if (!l.lane) return { lo, hi, base: lo, n: hi - lo }
  let n = 0
  for (let k = lo; k < hi; k++) if (l.lane[k] >= n) n = l.lane[k] + 1
  return { lo, hi, base: 0, n }
}
