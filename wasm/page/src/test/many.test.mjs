import { test } from 'node:test'
import assert from 'node:assert/strict'
import { choices, labelled, matching, most } from '../many.js'

const runs = Array.from({ length: 1000 }, (_, i) => ({ label: 'sweep.jsonl#' + (i + 1), model: i % 2 ? 'Tiny' : 'big', config: [['rate', String(i % 10)]] }))

test('the first of the runs that match are listed with their indices, and all are counted', () => {
  assert.deepEqual([matching(runs, '').n, matching(runs, '').list.length], [1000, most])
  const { n, list } = matching(runs, ' tiny  rate=3')
  assert.equal(n, 100)
  assert.deepEqual(list.map(([i]) => i), Array.from({ length: 100 }, (_, k) => 10 * k + 3))
  assert.equal(matching(runs, 'tiny rate=4').n, 0)
})

test('choices hold the chosen run, and all runs where they are few', () => {
  for (const i of [0, 1, 499, 999]) {
    const list = choices(runs, i)
    assert.equal(list.length, most)
    assert.ok(list.some(([k, label]) => k === i && label === runs[i].label))
  }
  assert.deepEqual(choices(runs.slice(0, 2), 1), [[0, 'sweep.jsonl#1'], [1, 'sweep.jsonl#2']])
})

test('labels beyond the eighth are counted', () => {
  assert.equal(labelled(['a', 'b']), 'a, b')
  assert.equal(labelled([...'abcdefghij']), 'a, b, c, d, e, f, g, h and 2 more')
})
