// Curves over time out of a report.

const at = (v) => BigInt(Math.round(v))

// origin is the first stamp of a run's rates as a number; differences of such stamps
// are exact to a quarter of a microsecond.
export const origin = (run) => run.throughput.from?.value ?? run.concurrency.curve?.[0]?.t ?? 0

// start is the stamp that times of a selection count from: that of the whole run, which
// a filter or a range of time does not move.
export const start = (run, rows, range) => rows?.clocks?.length ? Number(rows.clocks[0].origin) : origin(run) - (range?.[0] ?? 0)

// curve turns the concurrency of a cell into columns of time since its first point.
export function curve(concurrency, from) {
  const list = concurrency.curve
  if (!list || list.length < 2) return null
  const base = from ?? list[0].t, t = new Float64Array(list.length), v = new Float64Array(list.length)
  list.forEach((p, i) => {
    t[i] = Number(at(p.t) - at(base))
    v[i] = p.v
  })
  return { t, v, end: t[t.length - 1] }
}
