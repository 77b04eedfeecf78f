import test from 'node:test'
import assert from 'node:assert/strict'
import { pick } from '../pick.js'

const all = {
  row: Float64Array.of(2, 3, 5, 9), ttft: Float64Array.of(20, NaN, 50, 90),
  model: { codes: Int32Array.of(2, 0, -1, 2), values: ['a', 'b', 'c'] },
}

test('rows are picked, with the texts that they have', () => {
  assert.deepEqual(pick(all, Float64Array.of(2, 5, 9)), {
    row: Float64Array.of(2, 5, 9), ttft: Float64Array.of(20, 50, 90), model: { codes: Int32Array.of(0, -1, 0), values: ['c'] },
  })
  assert.deepEqual(pick(all, Float64Array.of(3)), { row: Float64Array.of(3), ttft: Float64Array.of(NaN), model: { codes: Int32Array.of(0), values: ['a'] } })
  assert.deepEqual(pick(all, all.row).ttft, all.ttft)
  assert.deepEqual(pick(all, new Float64Array(0)), { row: new Float64Array(0), ttft: new Float64Array(0), model: { codes: new Int32Array(0), values: [] } })
})

test('a request that is not there is no other one', () => {
  for (const row of [[4], [2, 4], [10], [5, 3]]) assert.equal(pick(all, Float64Array.from(row)), null)
})
