// The page as one file with its report: the document of analyze -o report.html, made
// by the page itself. It has the script and the style of this page, the answers that
// the engine gave, and no engine.
import * as store from './store.js'
import { encode } from './state.js'
import { query } from './query.js'
import { longGap } from './stats.js'

const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&#34;', "'": '&#39;' }
const escape = (s) => s.replace(/[&<>"']/g, (c) => escapes[c])

const most = 200000 // requests of a run that a document holds

// specs are the views of a run that its charts are made of.
function specs(run, i) {
  const { columns, metrics } = store.engine.value, own = new Set(columns.map((c) => c.name)), gaps = run.metrics.chunk_gap?.n > 0
  const out = [{ kind: 'series', buckets: 300, tokens: gaps }]
  if (run.requests.total > 0 && run.requests.total <= most) {
    out.push({ kind: 'columns', side: store.latencySide(run), columns: ['arrival', 'end', 'clock', 'parts', ...columns.filter((c) => c.type !== 'list').map((c) => c.name), ...metrics.filter((m) => m.kind === 'request' && !own.has(m.name)).map((m) => m.name), ...(gaps ? ['gap_max', 'gap_p99'] : [])] })
    const { row } = store.state.value
    if (row !== null && i === store.runIndex.value) out.push({ kind: 'request', row })
  }
  if (gaps) out.push({ kind: 'heatmap', xbins: 160, ybins: 48 }, { kind: 'ecdf', metric: 'chunk_gap', points: 2000 }, { kind: 'gaps', low: longGap(run), limit: 100000 })
  if (run.steps.length) out.push({ kind: 'steps', columns: stepColumns })
  return out.map((s) => ({ ...s, run: i }))
}

export const stepColumns = ['running', 'waiting', 'kv_usage', 'generation_tps', 'prompt_tps', 'accept_length', 'duration', 'rank', 'compute', 'sampling', 'communication', 'host_transfer', 'launch_wait', 'scheduling', 'host_exec', 'host_gap']

async function base64(parts) {
  const packed = new Blob(parts).stream().pipeThrough(new CompressionStream('gzip'))
  const bytes = new Uint8Array(await new Response(packed).arrayBuffer())
  if (bytes.toBase64) return bytes.toBase64()
  let text = ''
  for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
  return btoa(text)
}

// savedPage is the document; it opens at the state that the page is in.
export async function savedPage() {
  const s = store.state.value, r = store.report.value
  const data = await base64(await store.session.value.record(query(s), r.runs.flatMap(specs)))
  const own = document.querySelector('meta[http-equiv=Content-Security-Policy]').content, hash = (of) => new RegExp(of + "-src ('sha256-[^']+')").exec(own)[1]
  const policy = `default-src 'none'; script-src ${hash('script')}; style-src ${hash('style')}; img-src blob: data:; worker-src 'none'; connect-src 'none'; form-action 'none'; base-uri 'none'`
  const script = [...document.scripts].find((e) => !e.type).textContent, style = document.querySelector('style').textContent
  return `<!doctype html>
<html lang="en" data-engine="saved" data-version="${escape(document.documentElement.dataset.version ?? '')}" data-state="${escape(encode(s))}">
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="${escape(policy)}">
<meta name="referrer" content="no-referrer">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>servescope</title>
<style>${style}</style>
<div id="app"></div>
<script>${script}</script>
<script type="text/plain" id="saved">${data}</script>
`
}
