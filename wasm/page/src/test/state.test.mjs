import test from 'node:test'
import assert from 'node:assert/strict'
import { encode, decode, defaults, views, ranks } from '../state.js'

// Links of version 1 that are out in the world must keep their meaning.
const links = [
  ['', {}],
  ['#v=1&view=latency&m=tpot&curve=percentile', { view: 'latency', metric: 'tpot', curve: 'percentile' }],
  ['#v=1&t=12s..31.5s&f=status+=+ok&slo=ttft:500ms,tpot:50ms&sel=417', { times: [[12e9, 31.5e9]], filter: 'status = ok', slo: [{ metric: 'ttft', max: 5e8 }, { metric: 'tpot', max: 5e7 }], row: 417 }],
  ['#v=1&p=99.9&groups=model,status&w=10s&by=model&layout=panels', { rank: 0.999, groups: ['model', 'status'], window: 10e9, by: 'model', layout: 'panels' }],
  ['#v=1&t=0s..60s~12s..31.5s&run=1&base=0&theme=dark&h=3fa9c2d1', { times: [[0, 60e9], [12e9, 31.5e9]], run: 1, base: 0, theme: 'dark', file: '3fa9c2d1' }],
]

for (const [link, want] of links) {
  test('link ' + link, () => assert.deepEqual(decode(link), { state: { ...defaults(), ...want }, notices: [] }))
}

test('only what is not the default is written', () => {
  assert.equal(encode(defaults()), '')
  assert.equal(encode({ ...defaults(), view: 'load' }), 'v=1&view=load')
})

test('a state survives its link', () => {
  let seed = 7
  const random = (n) => (seed = (seed * 1103515245 + 12345) % 2147483648) % n
  const texts = ['', 'ttft > 500ms', "model ~ 'a b'", 'request_id = "<b>&=#%+~"', 'größe = \u202e', '100%']
  for (let k = 0; k < 500; k++) {
    const s = { ...defaults(), view: views[random(7)], run: random(5), base: random(2) ? random(5) : null, metric: ['ttft', 'e2e', 'chunk_gap'][random(3)], curve: ['ecdf', 'percentile', 'histogram'][random(3)], filter: texts[random(6)], row: random(2) ? random(1e6) : null, theme: ['auto', 'dark', 'light'][random(3)], rank: ranks[random(5)], window: random(2) * 1234567, groups: [[], ['model'], ['status', 'prompt_tokens']][random(3)] }
    for (let i = random(3), a = 0; i > 0; i--, a += 1) s.times.push([a + random(1000), a + 2000 + random(1e9)])
    if (random(2)) s.slo.push({ metric: 'ttft', max: 1 + random(1e9) }, { metric: 'ttft.client', max: 123456789 })
    assert.deepEqual(decode('#' + encode(s)), { state: s, notices: [] })
  }
})

test('what cannot be understood is left out and said', () => {
  for (const bad of ['view=evil', 'm=<script>', 't=5s..1s', 't=x', 'slo=ttft', 'sel=-1', 'sel=1e9', 'h=zz', 'f=%E0%A4%A', '__proto__=1', 'constructor=1', 'theme=', 'p=42', 'w=0s', 'groups=a,b,c', 'layout=x']) {
    const { state, notices } = decode('#v=1&' + bad)
    assert.deepEqual(state, defaults(), bad)
    assert.equal(notices.length, 1, bad)
  }
  assert.deepEqual(decode('#v=99&view=load').state, defaults())
  assert.equal(decode('#v=99&view=load').notices.length, 1)
})
