import test from 'node:test'
import assert from 'node:assert/strict'
import { known, measured, measures, quantile, atMost, rankSum, inFlight, flight, part, running, beyond, longGap, trend, sampled, mean } from '../stats.js'
import { score } from '../score.js'

test('nulls are left out', () => assert.deepEqual([...known(Float64Array.from([3, NaN, 1]))], [1, 3]))

test('lengths of failed requests are in no metric', () => {
  const rows = { status: { values: ['ok', 'failed', 'empty'], codes: [0, 1, 2, 0] }, prompt_tokens: Float64Array.from([30, 7, 20, 10]), output_tokens: Float64Array.from([3, 2, 0, 1]), e2e: Float64Array.from([5, NaN, 4, 6]) }
  assert.deepEqual([...measured(rows, 'prompt_tokens')], [10, 20, 30])
  assert.deepEqual([...measured(rows, 'output_tokens')], [1, 3])
  assert.deepEqual([...measured(rows, 'e2e')], [4, 5, 6])
  assert.deepEqual([0, 1, 2, 3].filter(measures(rows, 'output_tokens')), [0, 3])
  assert.deepEqual([0, 1, 2, 3].filter(measures(rows, 'e2e')), [0, 2, 3])
})

// D4 of the definitions: 10…90, 1000 by linear interpolation.
test('TestD4', () => {
  const v = Float64Array.from([10, 20, 30, 40, 50, 60, 70, 80, 90, 1000])
  assert.deepEqual([0.5, 0.9, 0.99].map((p) => Number(quantile(v, p).toPrecision(10))), [55, 181, 918.1])
  assert.equal(atMost(v, 90), 9)
  assert.equal(atMost(v, 9), 0)
})

test('the rank sum', () => {
  const a = Float64Array.from([1, 2, 3, 4, 5, 6, 7, 8]), b = Float64Array.from([9, 10, 11, 12, 13, 14, 15, 16])
  // U = 0 of 64: z = (32 - 0.5) / sqrt(8·8·17/12) = 3.30816, two-sided p = 0.000939
  assert.ok(Math.abs(rankSum(a, b) - 0.000939) < 2e-6)
  assert.equal(rankSum(a, a), 1)
  assert.equal(rankSum(a, b), rankSum(b, a))
  assert.equal(rankSum(a.subarray(1), b), null)
  const same = new Float64Array(9).fill(5)
  assert.equal(rankSum(same, same), 1)
})

// D3 of the definitions: departures first, so touching intervals do not overlap.
test('TestD3', () => {
  assert.deepEqual([...inFlight(Float64Array.from([0, 0.5]), Float64Array.from([0.5, 1]))], [1, 1])
  assert.deepEqual([...inFlight(Float64Array.from([0, 1, NaN]), Float64Array.from([3, 2, 9]))], [1, 2, NaN])
})

test('the trend counts every point once', () => {
  const x = Float64Array.from({ length: 200 }, (_, i) => i), t = trend(x, x)
  assert.equal(t.reduce((n, b) => n + b.n, 0), 200)
  assert.ok(t.every((b) => b.p95 >= b.median))
  assert.deepEqual(trend(Float64Array.from([NaN]), Float64Array.from([1])), [])
})

test('samples keep the ends', () => {
  assert.deepEqual(sampled(5, 3), [0, 2, 4])
  assert.deepEqual(sampled(2, 9), [0, 1])
  assert.ok(Number.isNaN(mean([NaN])))
})

test('the palette finds letters in order', () => {
  assert.ok(score('ttft', 'Metric TTFT') > 0)
  assert.equal(score('xq', 'Metric TTFT'), null)
  assert.ok(score('view lo', 'View load') > score('view lo', 'View overview'))
})

test('the frontier keeps what no other beats in both', async () => {
  const { frontier } = await import('../frontier.js')
  const p = (x, y) => ({ x, y }), points = [p(1, 9), p(2, 5), p(3, 7), p(4, 1), p(4, 2)]
  assert.deepEqual(frontier(points), [p(1, 9), p(3, 7), p(4, 2)])
})

test('requests in flight, of a part of the time', () => {
  let seed = 7
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  const start = Float64Array.from({ length: 300 }, () => random(900)), end = start.map((s) => s + random(60))
  start[5] = NaN
  end[9] = NaN
  const at = (t) => start.reduce((n, s, i) => n + (s <= t && t < end[i]), 0) // brute force
  const all = flight(start, end)
  assert.equal(all.t.length, 2 * 298)
  for (const [from, to] of [[0, 1000], [100, 300], [-10, -5], [990, 2000]]) {
    const p = part(all, from, to, 10000)
    assert.equal(p.v[0], at(from))
    assert.equal(p.v.at(-1), at(to))
    for (let i = 1; i + 1 < p.t.length; i++) {
      assert.ok(p.t[i] > from && p.t[i] <= to)
      if (p.t[i + 1] > p.t[i]) assert.equal(p.v[i], at(p.t[i]), 'at ' + p.t[i])
    }
    // Without those that started before the part.
    const later = (t) => start.reduce((n, s, i) => n + (s >= from && s <= t && t < end[i]), 0)
    const q = part(all, from, to, 10000, running(start, end, from))
    assert.equal(q.v[0], later(from))
    for (let i = 1; i + 1 < q.t.length; i++) if (q.t[i + 1] > q.t[i]) assert.equal(q.v[i], later(q.t[i]), 'later at ' + q.t[i])
    assert.equal(q.v.at(-1), later(to))
    const few = part(all, from, to, 20)
    assert.ok(few.t.length <= 22)
    assert.equal(few.max, p.max)
  }
})

test('what lies beyond the median of like prompts', () => {
  // TTFT is 2 for each token of the prompt, but for one request, 500 later.
  const x = Float64Array.from({ length: 96 }, (_, i) => 10 * (i + 1)), y = x.map((v) => 2 * v)
  y[40] += 500
  const out = beyond(x, y)
  assert.equal(out.indexOf(Math.max(...out)), 40)
  assert.ok(Math.abs(out[40] - 500) <= 20, 'by ' + out[40]) // a step of the grid
  for (let i = 4; i < 92; i++) if (i !== 40) assert.ok(Math.abs(out[i]) <= 20, i + ': ' + out[i])
  assert.ok(beyond(x.slice(0, 10), y.slice(0, 10)).every((v) => v !== v))
})

test('a stall is a gap of the p99 or of twice the median', () => {
  const run = (quantiles, n = 9) => ({ metrics: { chunk_gap: { n, quantiles, max: 70 } } })
  assert.equal(longGap(run({ 0.5: 10, 0.99: 50 })), 50)
  assert.equal(longGap(run({ 0.5: 30, 0.99: 50 })), 60)
  assert.equal(longGap(run({ 0.5: 10 })), 70)
  assert.equal(longGap(run({}, 0)), null)
})
