// Opening files: the empty page, dropping anywhere, pasting, and what goes wrong.
import { html, use, useState, useRef, useEffect } from './ui.js'
import * as store from './store.js'
import { text, count } from './format.js'
import { command } from './query.js'
import { samples } from './samples.js'
import { visible, clean } from './visible.js'
import { Diags } from './views/diagnostics.js'

// most is how many files are taken at a time.
const most = 1000

// gather turns what was dropped into files; folders are walked. A page on disk may not
// read the entries of folders, but the handles that newer browsers give.
async function gather(items) {
  const out = [], folders = []
  for (const i of items) {
    const e = i.webkitGetAsEntry?.()
    if (e?.isDirectory) folders.push([e, i.getAsFileSystemHandle?.().catch(() => null)])
    else if (i.kind === 'file') out.push(i.getAsFile())
  }
  for (const [entry, handle] of folders) {
    try {
      const h = await handle
      await (h ? list(h, out) : walk(entry, out))
    } catch {
      store.notice(`This browser does not let the page read the folder ${visible(entry.name)}: choose its files instead.`)
    }
  }
  if (folders.length && !out.length) store.notice('There is no file to read in what was dropped.')
  if (out.length > most) store.notice(`More than ${count(most)} files at a time: only the first ${count(most)} are read. Drop fewer, or use the command line.`)
  return out.filter(Boolean).slice(0, most)
}

async function list(folder, out) {
  const handles = []
  for await (const h of folder.values()) handles.push(h)
  handles.sort((a, b) => a.name < b.name ? -1 : 1)
  for (const h of handles) {
    if (out.length > most) return
    if (h.kind === 'file') out.push(await h.getFile())
    else await list(h, out)
  }
}

async function walk(entry, out) {
  if (out.length > most) return
  if (entry.isFile) {
    out.push(await new Promise((ok, bad) => entry.file(ok, bad)))
    return
  }
  const reader = entry.createReader()
  for (;;) {
    const some = await new Promise((ok, bad) => reader.readEntries(ok, bad))
    if (!some.length) return
    for (const e of some) await walk(e, out)
  }
}

// take opens files, beside those that are open if add says so.
export function take(list, add = false) {
  if (!list.length) return
  if (store.engine.value?.canOpen === false) return store.notice('This page shows what it was started with. Open the hosted or saved page for other files.')
  store.open(add ? [...store.files.value, ...list] : list)
}

export const sample = () => take(samples())

export function listen() {
  let depth = 0
  const mark = (on) => document.body.classList.toggle('dropping', on)
  addEventListener('dragenter', (e) => { e.preventDefault(); depth++; mark(true) })
  addEventListener('dragleave', () => { if (--depth <= 0) { depth = 0; mark(false) } })
  addEventListener('dragover', (e) => e.preventDefault())
  addEventListener('drop', async (e) => {
    e.preventDefault()
    depth = 0
    mark(false)
    take(await gather([...e.dataTransfer.items]), store.panel.value === 'add')
  })
  addEventListener('paste', (e) => {
    if (e.target.closest?.('input, textarea')) return
    const list = [...e.clipboardData.files], s = e.clipboardData.getData('text')
    if (list.length) take(list)
    else if (s.trim()) take([new File([s], 'pasted.txt')])
  })
}

export const browse = () => document.getElementById('files').click()

export const Picker = () => html`<input id="files" type="file" multiple hidden onChange=${(e) => { const list = [...e.target.files]; e.target.value = ''; take(list, store.panel.value === 'add') }} />`

export function Empty() {
  const st = use(store.status), e = use(store.engine)
  return html`<main class="empty">
    <h2 class="ask">Where did the time go?</h2>
    <p class="lead">servescope reads what vLLM, SGLang, other servers or a benchmark client left behind and takes TTFT, TPOT and throughput apart.</p>
    <button class="zone" onClick=${browse} disabled=${st.phase === 'starting'}>
      <b>${st.phase === 'opening' ? 'Reading ' + st.names.slice(0, 3).join(', ') + (st.names.length > 3 ? ' …' : '') : 'Drop logs or result files here'}</b>
      <span>${st.phase === 'opening' ? 'Figures stand here as soon as the first requests are whole. What can only be told from all of a file, as a trace of an engine, is shown when it has been read.' : 'or click to choose, or paste. Compressed files and archives are unpacked; several files are runs to compare.'}</span>
    </button>
    <div class="row"><button onClick=${sample} disabled=${st.phase !== 'empty' && st.phase !== 'failed'}>Try the sample run</button><span class="muted">${st.phase === 'starting' ? 'The engine starts …' : ''}</span></div>
    ${st.phase === 'failed' && html`<${Failure} st=${st} />`}
    ${st.phase === 'large' && html`<${Large} st=${st} />`}
    <p class="privacy">Nothing leaves this machine: the page may not open any connection, which the browser enforces from its first byte. <button class="linkish" onClick=${() => store.panel.value = 'seal'}>See the proof</button></p>
    ${e && html`<${Formats} />`}
  </main>`
}

export function Formats() {
  const e = use(store.engine)
  return html`<details class="formats" open><summary>${e.formats.length} supported formats, told by content</summary>
    <dl>${e.formats.map((f) => html`<div key=${f.name}><dt><code>${f.name}</code></dt><dd>${f.title}</dd></div>`)}</dl></details>`
}

// What the heading says already is not said again. Names of files stay as they are.
const sentence = (s, names) => {
  s = s.replace(/^the engine did not start: /, '')
  return visible(names.some((n) => s.startsWith(n)) ? s : s.slice(0, 1).toUpperCase() + s.slice(1))
}

function Failure({ st }) {
  const err = st.error, e = store.engine.value, [format, setFormat] = useState(''), found = clean(err.report?.diags || []).slice(0, 20), choose = err.code === 'format' && err.formats?.length > 0 && st.list
  return html`<section class="failure" role="alert"><h2>${err.code === 'format' && err.formats?.length ? 'No format knows this file' : e ? 'The files could not be read' : 'The engine did not start'}</h2>
    <p><bdi>${sentence(err.message, (st.list || []).map((f) => f.name))}</bdi></p>${err.hint && !choose && html`<p>${err.hint}</p>`}
    ${found.length > 0 && html`<${Diags} list=${found} />`}
    ${['engine_died', 'too_large'].includes(err.code) && st.list?.length > 0 && html`<div class="row"><button onClick=${() => store.open(st.list)}>Open the files again</button></div>`}
    ${choose && html`<form onSubmit=${(ev) => { ev.preventDefault(); if (format) store.open(st.list, { format }) }}><label>Read it as <select onChange=${(ev) => setFormat(ev.target.value)}><option value="">choose a format</option>${e.formats.map((f) => html`<option value=${f.name}>${f.name} — ${f.title}</option>`)}</select></label> <button disabled=${!format}>Read</button></form>
      <details><summary>Why each format said no</summary><dl>${(err.formats || []).map((f) => html`<div><dt><code>${f.name}</code></dt><dd>${f.reason}</dd></div>`)}</dl></details>`}
  </section>`
}

function Large({ st }) {
  const x = st.estimate
  return html`<section class="failure" role="alert"><h2>This is too much for a browser tab</h2>
    <p>${text('bytes', x.bytes)} to read${x.memory ? ', which takes about ' + text('bytes', x.memory) + ' of memory' : ''}${x.runs > 1 ? `, in about ${count(Number(x.runs.toPrecision(2)))} runs, each with a report of its own` : ''}. The command line has no such limit:</p><code class="line">${command('view', { join: st.options.join, align: st.options.align }, st.list.map((f) => f.name))}</code>
    <p><button onClick=${() => store.open(st.list, { ...st.options, anyway: true })}>Try it all the same</button></p></section>`
}

// Add offers files beside those that are open.
export function Add({ close }) {
  return html`<p>Each further file is a run of its own and stands in Compare. Drop it anywhere, or choose it here.</p><div class="row"><button class="primary" onClick=${() => { browse() }}>Choose files</button><button onClick=${() => { store.close(); close() }}>Close these files and start anew</button></div>
    ${store.files.value.length > 1 && html`<p>Files of one run, as a client's result and its server's log, can be linked by the ids of their requests.</p><div class="row"><button onClick=${() => store.open(store.files.value, { join: true })}>Join them into one run</button><button onClick=${() => store.open(store.files.value, { join: true, align: true })}>Join, and align their clocks</button></div>`}`
}
