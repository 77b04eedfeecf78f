import test from 'node:test'
import assert from 'node:assert/strict'
import { lanes, between, segments, queue, waiting, prefill, decode, failed, aborted } from '../charts/lanes.js'

// Five requests, not in order; the fourth has no start, the last no end.
const rows = {
  n: 5, arrival: Float64Array.of(30, 10, 20, NaN, 40), end: Float64Array.of(60, 35, 25, 50, NaN),
  first: Float64Array.of(40, 20, NaN, NaN, 45), last: Float64Array.of(55, 30, NaN, NaN, 48),
  admitted: Float64Array.of(34, NaN, NaN, NaN, NaN), prefill_start: new Float64Array(5).fill(NaN),
  status: { codes: Int32Array.of(0, 0, 1, 0, 2), values: ['ok', 'failed', 'aborted'] },
}

test('requests lie by their start, each with its parts', () => {
  const l = lanes(rows, 'start')
  assert.deepEqual([l.n, l.at, [...l.start]], [4, [1, 2, 0, 4], [10, 20, 30, 40]])
  const parts = (k) => Array.from({ length: l.first[k + 1] - l.first[k] }, (_, s) => [l.from[l.first[k] + s], l.to[l.first[k] + s], l.phase[l.first[k] + s]])
  assert.deepEqual(parts(0), [[10, 20, waiting], [20, 30, decode]])
  assert.deepEqual(parts(1), [[20, 25, waiting]])
  assert.deepEqual(parts(2), [[30, 34, queue], [34, 40, prefill], [40, 55, decode]])
  assert.deepEqual(parts(2), segments(rows, 0))
  assert.deepEqual([...l.fate], [0, failed, 0, aborted])
})

test('a range of time takes those that start in it, to its end', () => {
  const l = lanes(rows, 'start')
  assert.deepEqual(between(l, null), { lo: 0, hi: 4, base: 0, n: 4 })
  assert.deepEqual(between(l, [20, 40]), { lo: 1, hi: 3, base: 1, n: 2 })
  assert.deepEqual(between(l, [11, 19]), { lo: 1, hi: 1, base: 1, n: 0 })
})

test('packed requests take the first lane that is free', () => {
  const l = lanes(rows, 'packed')
  assert.deepEqual([...l.lane], [0, 1, 1, 0]) // the second ends at 25, the first at 35
  assert.deepEqual(between(l, [20, 40]), { lo: 1, hi: 3, base: 0, n: 2 })
})
