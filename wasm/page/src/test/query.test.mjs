import test from 'node:test'
import assert from 'node:assert/strict'
import { defaults } from '../state.js'
import { query, ungrouped, also, value, command } from '../query.js'

test('a state asks in the spelling of the flags', () => {
  assert.deepEqual(query(defaults()), {})
  assert.deepEqual(query({ ...defaults(), filter: ' status = ok ', times: [[0, 9e9], [12e9, 31.5e9]], slo: [{ metric: 'ttft', max: 5e8 }, { metric: 'tpot', max: 5e7 }] }), { filter: 'status = ok', from: '+12s', to: '+31.5s', slo: 'ttft=500ms,tpot=50ms' })
})

test('groups and windows are of the report, not of its requests', () => {
  const q = query({ ...defaults(), filter: 'ttft > 1s', groups: ['model', 'status'], window: 5e9 })
  assert.deepEqual(q, { filter: 'ttft > 1s', by: 'model,status', window: '5s' })
  assert.deepEqual(ungrouped(q), { filter: 'ttft > 1s' })
  assert.equal(command('analyze', q, ['x']), "servescope analyze --filter 'ttft > 1s' --by model,status --window 5s x")
})

test('filters are narrowed, not changed', () => {
  assert.equal(also('', 'a = b'), 'a = b')
  assert.equal(also('x = y', 'a = b'), 'x = y and a = b')
  assert.equal(also('x = y or z = 1', 'a = b'), '(x = y or z = 1) and a = b')
})

test('values are quoted where they must be', () => {
  assert.equal(value('gpt-4.1'), 'gpt-4.1')
  assert.equal(value('a b'), "'a b'")
  assert.equal(value("it's"), '"it\'s"')
  assert.equal(value(`'"`), null)
})

test('the command line can be pasted', () => {
  assert.equal(command('analyze', { filter: "model = 'a b'", slo: 'ttft=500ms' }, ["o'b.log", 'x.json']), `servescope analyze --filter 'model = '\\''a b'\\''' --slo ttft=500ms 'o'\\''b.log' x.json`)
})
