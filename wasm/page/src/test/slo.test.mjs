import test from 'node:test'
import assert from 'node:assert/strict'
import { judge, surface } from '../slo.js'

const statuses = ['ok', 'failed', 'aborted', 'empty', 'open', 'head_missing']
const ms = 1e6

// rows makes columns of [status, ttft, tpot, tokens]; NaN is null.
function rows(list) {
  const f = (k) => Float64Array.from(list, (r) => r[k])
  return { status: { values: statuses, codes: Int32Array.from(list, (r) => statuses.indexOf(r[0])) }, ttft: f(1), tpot: f(2), output_tokens: f(3) }
}
const slo = [{ metric: 'ttft', max: 500 * ms }, { metric: 'tpot', max: 50 * ms }]

// The same requests and expectations as the kernel's TestVerdicts.
test('verdicts', () => {
  const ok = ['ok', 100 * ms, 10 * ms, 11], r = rows([
    ok, ok, ['ok', 100 * ms, NaN, 1], ['ok', 600 * ms, 10 * ms, 11], ['ok', 600 * ms, 440 * ms, 11],
    ['ok', NaN, NaN, 20], ['open', 3000 * ms, NaN, NaN], ['open', NaN, NaN, NaN], ['failed', NaN, NaN, NaN], ['aborted', NaN, NaN, NaN], ['aborted', NaN, NaN, NaN], ['empty', NaN, NaN, 0],
  ])
  const g = judge(r, slo)
  assert.deepEqual([g.denominator, g.good, g.unknown, g.missed, g.waiting], [11, 3, 1, 7, 1])
  assert.deepEqual(g.conditions.map((c) => [c.met, c.missed, c.inapplicable, c.unknown]), [[3, 3, 0, 1], [3, 1, 1, 2]])
  assert.deepEqual([g.low, g.high], [3 / 11, 4 / 11])
  assert.deepEqual(g.byStatus, { failed: 1, aborted: 2, empty: 1 })
  const e = judge(r, slo, true)
  assert.deepEqual([e.denominator, e.good, e.unknown, e.missed], [9, 3, 1, 5])
})

// D2 of the definitions: 5 good, 1 with one token, 2 slow, 2 failed are 6 of 10.
test('TestD2', () => {
  const good = ['ok', 300 * ms, 20 * ms, 9], r = rows([good, good, good, good, good, ['ok', 300 * ms, NaN, 1], ['ok', 2000 * ms, 20 * ms, 9], ['ok', 300 * ms, 90 * ms, 9], ['failed', NaN, NaN, NaN], ['failed', NaN, NaN, NaN]])
  const g = judge(r, [{ metric: 'ttft', max: 1000 * ms }, { metric: 'tpot', max: 50 * ms }])
  assert.deepEqual([g.good, g.denominator, g.low, g.high], [6, 10, 0.6, 0.6])
})

test('the surface counts what is within both limits', () => {
  const x = Float64Array.from([1, 2, 3, NaN, 1]), y = Float64Array.from([1, 3, 2, 1, 9]), xs = [1, 2, 3], ys = [1, 2, 3], s = surface(x, y, () => true, xs, ys)
  for (let j = 0; j < 3; j++) for (let i = 0; i < 3; i++) {
    let n = 0
    for (let k = 0; k < 5; k++) if (x[k] <= xs[i] && y[k] <= ys[j]) n++
    assert.equal(s[j * 3 + i], n / 5)
  }
})
