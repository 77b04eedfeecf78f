import test from 'node:test'
import assert from 'node:assert/strict'
import { steps } from '../charts/steps.js'
import { start } from '../curves.js'

const drawn = (t, v, end) => {
  const out = []
  steps(t, v, end, (...x) => out.push(x))
  return out
}

test('a value holds until the next time, known or not', () => {
  assert.deepEqual(drawn([0, 10, 20, 30, 40], [1, 2, NaN, 4, null]), [[0, 10, 1, false], [10, 20, 2, true], [30, 40, 4, false]])
})

test('the last value holds until the end', () => {
  assert.deepEqual(drawn([0, 10], [1, 2], 15), [[0, 10, 1, false], [10, 15, 2, true]])
  assert.deepEqual(drawn([0, 10], [1, 2]), [[0, 10, 1, false], [10, 10, 2, true]])
})

test('a range of time does not move the start of a run', () => {
  const run = { throughput: { from: { value: 120e9 } }, concurrency: {} }
  assert.equal(start(run, { clocks: [{ origin: '100000000000' }] }, [20e9, 60e9]), 100e9)
  assert.equal(start(run, { clocks: [] }, [20e9, 60e9]), 100e9)
  assert.equal(start(run, null, null), 120e9)
})
