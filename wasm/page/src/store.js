// What the page knows: the state of the link, the engine, the session, and the
// answers to the present query. Views read signals; this module alone writes them.
import { signal, batch, computed, say } from './ui.js'
import { decode, encode, defaults } from './state.js'
import { query, range, ungrouped } from './query.js'
import { judge } from './slo.js'
import { visible, clean } from './visible.js'
import { pick } from './pick.js'
import { Engine } from '../engine/engine.js'

// asks are the fields that a report is asked with. A saved document has one report:
// there they stay as they were written, and nothing is asked with them.
const asks = ['filter', 'times', 'definition', 'groups', 'window']
const { engine: kind, state: written = '' } = document.documentElement.dataset, fixed = kind === 'saved'

function linked(fragment) {
  const link = decode(fragment.replace(/^#/, '') || written), own = decode(written).state
  if (fixed) for (const k of asks) link.state[k] = own[k]
  return link
}

export const state = signal(linked(location.hash).state)
export const engine = signal(null)
export const status = signal({ phase: 'starting' }) // starting, empty, opening, ready, failed
export const report = signal(null)
export const rows = signal({}) // by index of the run: {key, n, row, columns…, clocks}
export const busy = signal(null) // {done, total} while something is read
export const pending = signal(false) // the figures on the screen are of an older question
export const moving = signal(false) // a person pans or zooms: what is at hand is drawn
export const problem = signal('') // what is wrong with the filter
export const notices = signal([])
export const session = signal(null)
export const files = signal([]) // of the open session; for adding more
export const panel = signal(null) // dialog or menu that is open

export function notice(text) {
  notices.value = [...notices.value.filter((x) => x !== text), text].slice(-4)
  say(text)
}
export const dismiss = (text) => { notices.value = notices.value.filter((x) => x !== text) }

// set changes fields of the state. A new view, selection or row is a step that the
// browser's Back undoes; anything else replaces the link.
let timer = 0
export function set(change) {
  if (moving.value) rest()
  const before = state.value, after = { ...before, ...change }
  if (fixed && asks.some((k) => JSON.stringify(before[k]) !== JSON.stringify(after[k]))) {
    for (const k of asks) after[k] = before[k]
    notice('This saved report stays as it was selected. Open the files themselves to select among their requests.')
  }
  if (encode(before) === encode(after)) return
  state.value = after
  const step = ['view', 'row', 'run', ...asks].some((k) => k in change && JSON.stringify(before[k]) !== JSON.stringify(after[k]))
  clearTimeout(timer)
  const link = () => history[step ? 'pushState' : 'replaceState'](null, '', '#' + encode(state.value))
  if (step) link()
  else timer = setTimeout(link, 150)
  if (asks.some((k) => k in change)) refresh()
  else if ('slo' in change) later()
}

// move changes the range of time while a person pans or zooms. Charts draw what is at
// hand at once; the link and the engine follow when it rests.
let resting = 0
export function move(times) {
  if (fixed) return set({ times })
  current?.abort()
  current = null
  batch(() => {
    state.value = { ...state.value, times }
    moving.value = pending.value = true
    busy.value = null
  })
  clearTimeout(resting)
  requestAnimationFrame(() => { // what takes long to draw has not rested
    clearTimeout(resting)
    if (moving.value) resting = setTimeout(rest, 200)
  })
}

function rest() {
  clearTimeout(resting)
  moving.value = false
  history.pushState(null, '', '#' + encode(state.value))
  refresh()
}

// follow takes the state of a link that was opened or gone back to.
export function follow() {
  const { state: s, notices: n } = linked(location.hash)
  n.forEach(notice)
  const again = moving.value || JSON.stringify(query(s)) !== JSON.stringify(query(state.value))
  clearTimeout(resting)
  batch(() => {
    moving.value = false
    state.value = s
  })
  if (again) refresh(true)
}

let soon = 0
function later() {
  clearTimeout(soon)
  soon = setTimeout(() => refresh(), 1000)
}

export const run = computed(() => report.value && (report.value.runs[state.value.run] || report.value.runs[0]) || null)
export const runIndex = computed(() => report.value && report.value.runs[state.value.run] ? state.value.run : 0)
export const here = computed(() => rows.value[runIndex.value] || null)
export const selection = computed(() => range(state.value))

// all are the requests that a range of time is taken from: those of the run, where no
// filter leaves any out and they are here; else the selected ones.
export const all = computed(() => {
  const r = here.value, s = state.value, w = wholes.get(session.value)?.[runIndex.value]
  return r && w && !s.filter.trim() && (w.definition || '') === s.definition ? w.rows : r
})

// asked names what views of requests depend on: the session, the run and what is
// selected, but no limit.
let opened = 0
const dependsOn = (s) => {
  const { slo, ...selection } = ungrouped(query(s))
  return JSON.stringify([session.value ? opened : -1, runIndex.value, report.value ? 1 : 0, selection])
}
export const asked = computed(() => dependsOn(state.value))
// wholly is asked of views of all of the time.
export const wholly = computed(() => dependsOn({ ...state.value, times: [] }))

// latencySide is the side whose rows stand for the requests of a run.
export const latencySide = (r) => r.metrics.ttft?.side || r.metrics.e2e?.side || r.side
// sideOf is the side that a view must name: where the rows of a run are of several.
const sideOf = (r) => r.sides?.length ? latencySide(r) : undefined

export const live = computed(() => {
  const r = here.value, s = state.value.slo
  return r && s.length ? judge(r, s) : null
})

// handle is what tests and the console of a browser take hold of.
const handle = globalThis.servescope = {}

export async function start() {
  linked(location.hash).notices.forEach(notice)
  try {
    const e = await Engine.start({ onState: (s) => s === 'failed' && revive() })
    engine.value = e
    handle.engine = e
    status.value = { phase: 'empty' }
    if (e.sessions.length) {
      session.value = e.sessions[0]
      await load()
    }
  } catch (err) {
    status.value = { phase: 'failed', error: err }
  }
}

// revive opens the files again when the engine that held them is gone; but once only, for
// they may be what ended it, and not where they have never been read.
let revived = false
function revive() {
  const s = session.value
  if (revived || !s || status.value.phase !== 'ready' || status.value.partial) return notice('The engine ran out of memory or stopped. A new one starts; open the files again.')
  notice('The engine stopped. A new one reads the files again.')
  open(files.value, s.options)
  revived = true
}

let current = null // controller of the query that runs
let opening = 0 // counts what is opened: what was given up leaves no trace
let asking = null // what the query that runs is asked with
let stood = null // what the report that is shown was asked with, and its requests

export async function open(list, options = {}) {
  current?.abort()
  current = new AbortController()
  revived = false
  const { signal } = current, number = ++opening
  batch(() => {
    busy.value = null
    status.value = { phase: 'opening', names: list.map((f) => f.name) }
    report.value = null
    rows.value = {}
    panel.value = null
  })
  try {
    const old = session.value
    session.value = null
    await old?.close().catch(() => {})
    if (number !== opening) return
    const s = await engine.value.open(list, { ...options, signal, onProgress: progress })
    if (number !== opening) return void s.close().catch(() => {})
    opened++
    session.value = handle.session = s
    files.value = list
    if (!s.estimate?.fits && s.estimate && !options.anyway) {
      status.value = { phase: 'large', estimate: s.estimate, list, options }
      return
    }
    await load()
    if (number === opening) print(list[0])
  } catch (err) {
    if (number !== opening || signal.aborted && err.code === 'cancelled') return
    if (!session.value) handle.session = null
    handle.error = err
    status.value = { phase: 'failed', error: err, list }
    say('The files could not be read: ' + err.message)
  }
}

// progress takes a report of the first rows for as long as there is none of all.
function progress(p) {
  if (!p.report) {
    busy.value = { ...p, rows: busy.value?.rows }
    return
  }
  batch(() => {
    busy.value = p
    report.value = clean(p.report)
    stood = { asked: asking, rows: rows.value }
    status.value = { phase: 'ready', partial: { rows: p.rows, of: p.of } }
  })
}

async function load() {
  const number = opening
  await refresh()
  if (number !== opening) return
  if (status.value.phase === 'opening' || status.value.phase === 'empty') status.value = { phase: 'ready' }
  if (report.value) say(report.value.runs.length + ' runs, ' + report.value.runs.reduce((n, r) => n + (r.requests.total || 0), 0) + ' requests')
}

// cancel stops what is being read. A report that was there stays, and what it was
// asked with.
export function cancel() {
  current?.abort()
  current = null
  batch(() => {
    busy.value = null
    pending.value = false
    if (!report.value || !stood) return
    state.value = { ...state.value, ...stood.asked }
    rows.value = stood.rows
    history.replaceState(null, '', '#' + encode(state.value))
  })
  if (!report.value || status.value.partial?.of < 0) close()
}

// died puts the files back on the first page when the engine that held them is gone.
function died(error) {
  batch(() => {
    session.value = null
    report.value = null
    rows.value = {}
    status.value = { phase: 'failed', error, list: files.value }
  })
}

export async function close() {
  current?.abort()
  opening++
  const old = session.value
  batch(() => {
    session.value = null
    report.value = null
    rows.value = {}
    files.value = []
    status.value = { phase: 'empty' }
  })
  set({ times: [], filter: '', row: null, run: 0, base: null, file: '' })
  await old?.close().catch(() => {})
}

// wanted are the columns that the views share.
const wanted = ['request_id', 'side', 'status', 'model', 'error_class', 'clock', 'arrival', 'end', 'queued', 'admitted', 'prefill_start', 'first_token', 'last_token',
  'd_decode', 'prompt_tokens', 'cached_tokens', 'output_tokens', 'ttft', 'tpot', 'e2e']

// refresh asks for what the present state selects. An answer to an older question
// is dropped. What the engine does not understand of a link is left out of it; what a
// person types stays until it is mended.
export async function refresh(link = !report.value) {
  const s = session.value
  if (!s) return
  current?.abort()
  const mine = current = new AbortController()
  const q = fixed ? {} : query(state.value)
  const asked = asking = Object.fromEntries(asks.map((k) => [k, state.value[k]]))
  pending.value = true
  problem.value = ''
  try {
    const old = rows.value, next = {}
    if (run.value && old[runIndex.value]) { // requests answer before their tokens have been counted anew
      const i = runIndex.value, first = await columns(s, run.value, i, q, mine.signal, old[i])
      if (mine !== current) return
      if (first !== old[i]) rows.value = { ...old, [i]: first }
    }
    const answer = clean(await s.run(q, { signal: mine.signal, onProgress: progress }))
    if (mine !== current) return
    batch(() => {
      report.value = answer
      stood = { asked, rows: rows.value }
      status.value = { phase: 'ready' }
    })
    for (const i of new Set([runIndex.value, ...answer.runs.keys()])) {
      if (i >= 8 && i !== runIndex.value) continue
      next[i] = await columns(s, answer.runs[i], i, q, mine.signal, rows.value[i])
      if (mine !== current) return
      rows.value = { ...rows.value, [i]: next[i] }
    }
    rows.value = stood.rows = next
  } catch (err) {
    if (mine.signal.aborted || err.code === 'cancelled') return
    if (err.code === 'engine_died') return died(err)
    if (err.code === 'usage' && link && leave(err)) return await refresh(link)
    if (err.code === 'usage' || err.code === 'saved') {
      problem.value = err.message + (err.hint ? '; ' + err.hint : '')
      say(problem.value)
    }
    else if (report.value) notice(err.message)
    else throw err
  } finally {
    if (mine === current) {
      busy.value = null
      pending.value = false
    }
  }
}

const fieldOf = { '--filter': 'filter', '--from': 'times', '--to': 'times', '--definition': 'definition', '--by': 'groups', '--window': 'window', '--slo': 'slo' }

// leave takes what the engine does not understand out of a link: without it there is
// something to see. It returns false where that is nothing.
function leave(error) {
  const field = fieldOf[error.flag], none = defaults()[field]
  if (!field || JSON.stringify(state.value[field]) === JSON.stringify(none)) return false
  state.value = { ...state.value, [field]: none }
  history.replaceState(null, '', '#' + encode(state.value))
  notice('left out of the link: ' + error.message)
  return true
}

// columns fetches the columns of a run, unless only limits have changed.
async function columns(s, r, i, q, signal, old) {
  q = ungrouped(q)
  const bare = JSON.stringify({ ...q, slo: undefined })
  const names = [...wanted, ...state.value.slo.map((l) => l.metric).filter((m) => !wanted.includes(m))]
  if (old && old.bare === bare && names.every((x) => x in old) && old.label === r.label) return old
  if (!r.requests.total && !r.requests.filtered) return { bare, label: r.label, n: 0, clocks: [], row: new Float64Array(0), ...Object.fromEntries([...names, 'first', 'last'].map((x) => [x, blank(x)])) }
  const whole = wholes.get(s)?.[i], ask = (columns) => s.view(q, { kind: 'columns', run: i, columns, side: sideOf(r) }, { signal })
  let v
  try {
    if (whole && whole.definition === q.definition && names.every((x) => x in whole.rows)) {
      v = await ask([])
      const columns = v.side === whole.side ? pick(whole.rows, v.columns.row) : null
      if (columns) return { bare, label: r.label, clocks: v.clocks, n: v.n, ...columns }
    }
    v = await ask(names)
  } catch (error) {
    if (['cancelled', 'usage', 'saved', 'engine_died'].includes(error.code)) throw error
    notice('Requests of ' + r.label + ': ' + error.message)
    return { bare: '', label: r.label, n: 0, clocks: [], row: new Float64Array(0), ...Object.fromEntries([...names, 'first', 'last'].map((x) => [x, blank(x)])) }
  }
  const columns = spans(readable(v.columns))
  if (!q.filter && !q.from) wholes.set(s, { ...wholes.get(s), [i]: { definition: q.definition, side: v.side, rows: { n: v.n, ...columns } } })
  return { bare, label: r.label, clocks: v.clocks, n: v.n, ...columns }
}

// wholes are, of each session, all requests of its runs: selections are picked from
// them.
const wholes = new WeakMap()

const texts = ['request_id', 'side', 'status', 'model', 'error_class']
const blank = (name) => texts.includes(name) ? { codes: new Int32Array(0), values: [] } : new Float64Array(0)

// spans adds when the first and the last token came: as stamped, or by the durations
// that some sources record instead.
function spans(c) {
  const or = (a, f) => a.map((x, i) => x === x ? x : f(i))
  c.first = or(c.first_token, (i) => c.arrival[i] + c.ttft[i])
  c.last = or(c.last_token, (i) => c.first[i] + c.d_decode[i])
  return c
}

// readable makes the texts of columns visible.
function readable(columns) {
  for (const c of Object.values(columns)) if (c.codes) c.values = c.values.map(visible)
  return columns
}

// view asks the engine for a view of the present run under the present query; whole
// leaves its range of time out.
export const view = (spec, { whole, ...options } = {}) => session.value.view(fixed ? {} : ungrouped(query(whole ? { ...state.value, times: [] } : state.value)), { run: runIndex.value, side: run.value && sideOf(run.value), ...spec }, options)

let linkedFile = state.value.file // of the link that the page was opened with

// print notes the first digits of the hash of a file in the link, and says so when a
// link was made for another one.
async function print(file) {
  if (!globalThis.crypto?.subtle || file.size > 64 << 20) return
  const hash = new Uint8Array(await crypto.subtle.digest('SHA-256', await file.arrayBuffer()))
  if (file !== files.value[0]) return
  const h = Array.from(hash.subarray(0, 4), (b) => b.toString(16).padStart(2, '0')).join('')
  if (linkedFile && linkedFile !== h) notice('This link was made for another file: its selection may not fit.')
  linkedFile = ''
  set({ file: h })
}
