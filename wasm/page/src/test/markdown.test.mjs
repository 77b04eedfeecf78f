import test from 'node:test'
import assert from 'node:assert/strict'
import { markdown } from '../markdown.js'

const value = (value, unit) => ({ value, unit })

test('a report as Markdown', () => {
  const run = {
    label: 'a|b<img>', format: 'tokenlog', side: 'server', model: 'x`y', notes: ['code: plain words'],
    requests: { total: 64, ok: 63, failed: 1, aborted: 0, filtered: 0 },
    metrics: { ttft: { n: 63, unit: 'ns', mean: 190e6, quantiles: { 0.5: 128.2e6, 0.9: 500.7e6, 0.99: 587.2e6 }, excluded: { failed: 1 } }, tpot: { n: 0, reason: 'not_streamed' } },
    throughput: { values: { tps: value(212.4, 'tokens/s'), request_rate: { value: null, reason: 'clock' } } }, goodput: null,
  }
  const lines = markdown({ runs: [run], definition: { name: 'default', title: 'ours' }, diags: [] }, 'servescope analyze a').split('\n')
  assert.equal(lines[0], '## a\\|b\\<img\\>')
  assert.ok(lines.includes('| TTFT | ms | 63 | 190 | 128.2 | 500.7 | 587.2 | 1 failed |'))
  assert.ok(lines.includes('| TPOT | | 0 | — | — | — | — | the response came in one piece |'))
  assert.ok(lines.includes('- Output tokens/s: 212.4 tok/s'))
  assert.ok(lines.includes('- Request rate: — (no common clock)'))
  assert.ok(lines.includes('- plain words'))
  const partial = { code: 'partial', msg: 'this report is of the first 9 rows' }
  assert.equal(markdown({ runs: [run], definition: { name: 'default', title: 'ours' }, diags: [partial] }, 'a').split('\n')[0], '**Partial:** this report is of the first 9 rows.')
})
