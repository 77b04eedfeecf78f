import test from 'node:test'
import assert from 'node:assert/strict'
import { steps, text, common, number, duration, parseDuration, ticks, logTicks } from '../format.js'

// VECTORS holds what package unit prints, if the test is run from Go.
const vectors = process.env.VECTORS ? JSON.parse(process.env.VECTORS) : null

test('the steps are those of package unit', { skip: !vectors }, () => {
  assert.deepEqual(Object.fromEntries(Object.entries(steps).map(([u, l]) => [u, l.map(([symbol, factor, from]) => ({ symbol, factor, from }))])), vectors.steps)
})

test('values read as in the terminal', { skip: !vectors }, () => {
  assert.ok(vectors.values.length > 500)
  for (const [unit, v, want] of vectors.values) assert.equal(text(unit, v), want, unit + ' ' + v)
  for (const [unit, list, want] of vectors.rows) {
    const s = common(unit, ...list)
    assert.deepEqual([s.symbol, ...list.map((v) => number(s, v))], want, unit + ' ' + list)
  }
})

test('durations are exact', () => {
  for (const [ns, want] of [[0, '0s'], [1, '1ns'], [1500, '1.5us'], [5e8, '500ms'], [31.5e9, '31.5s'], [90e9, '90s'], [123456789, '123.456789ms']]) {
    assert.equal(duration(ns), want)
    assert.equal(parseDuration(want), ns)
  }
  assert.equal(parseDuration('1m30s'), 90e9)
  assert.equal(parseDuration('250', 'ms'), 250e6)
  for (const bad of ['', '250', 'x', '5 parsecs', '1s1s', '-1s', '1ms1s', '1e3s']) assert.equal(parseDuration(bad), null, bad)
})

test('ticks are round and inside', () => {
  assert.deepEqual(ticks(0, 10, 5), [0, 2, 4, 6, 8, 10])
  assert.deepEqual(ticks(0, 600e9, 5, 'ns'), [0, 120e9, 240e9, 360e9, 480e9, 600e9])
  assert.deepEqual(logTicks(1, 100), [1, 2, 5, 10, 20, 50, 100])
})
