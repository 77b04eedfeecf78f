// The seal: the policy of the document, and a live attempt at every way out.
import { html, use, useState, useEffect, useRef } from './ui.js'
import { engine } from './store.js'

const target = 'https://leak.invalid/servescope'

const element = (name, fields) => {
  const e = Object.assign(document.createElement(name), fields)
  document.head.append(e)
  setTimeout(() => e.remove(), 1500)
}

// attempts are the ways on which a page could send something. Each either throws or
// is stopped with a securitypolicyviolation.
const attempts = [
  ['fetch', () => fetch(target).catch(() => {})],
  ['XMLHttpRequest', () => { const x = new XMLHttpRequest(); x.open('POST', target); x.send('x') }],
  ['sendBeacon', () => navigator.sendBeacon(target + '?beacon', 'x')],
  ['WebSocket', () => new WebSocket('wss://leak.invalid/ws')],
  ['EventSource', () => { const e = new EventSource(target + '?events'); setTimeout(() => e.close(), 300) }],
  ['image', () => { new Image().src = target + '.png' }],
  ['script', () => element('script', { src: target + '.js' })],
  ['style sheet', () => element('link', { rel: 'stylesheet', href: target + '.css' })],
  ['font', () => { const f = new FontFace('leak', 'url(' + target + '.woff2)'); f.load().catch(() => {}) }],
  ['frame', () => element('iframe', { src: target + '.html' })],
  ['form', () => { const f = document.createElement('form'); f.action = target; f.method = 'post'; f.target = 'leak'; document.body.append(f); f.submit(); f.remove() }],
  ['fetch in a worker', () => new Promise((done) => {
    const w = new Worker(URL.createObjectURL(new Blob(['fetch(' + JSON.stringify(target) + ').then(()=>postMessage("sent"),()=>postMessage("blocked"))'])))
    w.onmessage = (e) => { w.terminate(); done(e.data) }
    w.onerror = () => done('blocked')
    setTimeout(() => { w.terminate(); done(null) }, 3000)
  })],
]

// attempt tries one way out: blocked, sent or unclear.
function attempt(run) {
  return new Promise((done) => {
    let seen = null
    const note = (e) => { seen = e.effectiveDirective }
    document.addEventListener('securitypolicyviolation', note)
    const end = (v) => {
      document.removeEventListener('securitypolicyviolation', note)
      done(v)
    }
    Promise.resolve().then(run).then((v) => v === 'blocked' || v === 'sent' ? end(v) : setTimeout(() => end(seen ? 'blocked by ' + seen : 'not blocked'), 350), (e) => setTimeout(() => end('blocked' + (seen ? ' by ' + seen : ': ' + e.name)), 350))
  })
}

export function Seal() {
  const e = use(engine), [results, setResults] = useState({}), live = useRef(true)
  const policy = document.querySelector('meta[http-equiv="Content-Security-Policy"]')?.content
  useEffect(() => () => { live.current = false }, [])
  const go = async () => {
    setResults({})
    for (const [name, run] of attempts) {
      const v = await attempt(run)
      if (!live.current) return
      setResults((r) => ({ ...r, [name]: v }))
    }
  }
  useEffect(() => { go() }, [])
  const tried = Object.keys(results).length, out = Object.values(results).filter((v) => !v.startsWith('blocked')).length
  return html`<p>${e?.kind === 'native' ? 'This page was opened by servescope view: its engine is the process on this machine that serves it, and the page may talk to that alone.' : 'The policy of this document forbids every connection from its first byte. The browser enforces it, not our code.'}</p>
    <p aria-live="polite"><b>${tried < attempts.length ? `Trying to leak: ${tried} of ${attempts.length}` : out ? `${out} of ${attempts.length} attempts were not seen to be blocked` : `All ${attempts.length} attempts were blocked`}</b></p>
    <ul class="attempts">${attempts.map(([name]) => html`<li key=${name}><span>${name}</span><b class=${results[name]?.startsWith('blocked') ? 'good' : results[name] ? 'bad' : 'muted'}>${results[name] || '…'}</b></li>`)}</ul>
    <details><summary>The policy</summary><code class="block">${policy || 'It is in the headers of the response.'}</code></details>
    <p class="muted">What a policy cannot do: stop a hostile extension of the browser, or a host that serves another page than this one. The document is one file that can be saved, compared with its published hash, and opened without a network.</p>
    <div class="row"><button onClick=${go}>Try again</button></div>`
}
