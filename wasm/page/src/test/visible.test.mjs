import test from 'node:test'
import assert from 'node:assert/strict'
import { visible, clean } from '../visible.js'

test('what hides or reorders is shown', () => {
  assert.equal(visible('a\u0000b\u202egnp\n\u200bx'), 'a\\u0000b\\u202egnp\\u000a\\u200bx')
  assert.equal(visible('größe <b> 東京 😀'), 'größe <b> 東京 😀')
  assert.deepEqual(clean({ a: ['\u202e', 1, null, { b: '\t' }] }), { a: ['\\u202e', 1, null, { b: '\\u0009' }] })
})
