// The engine, as the page sees it; README.md describes it.
import { EngineError } from './error.js'
import { NativeTransport, frame } from './native.js'
import { SavedTransport } from './saved.js'
import { WasmTransport } from './wasm.js'

export { EngineError }

const utf8 = new TextDecoder()

// encode makes a request of an operation and its arguments: undefined, null, ''
// and false are left out, an array is a key several times.
function encode(op, ...args) {
  const form = new URLSearchParams({ op })
  for (const [key, value] of args.flatMap(a => Object.entries(a ?? {}))) {
    if (Array.isArray(value)) for (const v of value) form.append(key, v)
    else if (value !== undefined && value !== null && value !== '' && value !== false) form.append(key, value)
  }
  return form.toString()
}

const last = ({ head, body }) => {
  if (head.type === 'error') throw new EngineError(head, body && JSON.parse(utf8.decode(body)))
  return { head, body }
}

// Engine computes. There is one of it.
export class Engine {
  #transport
  #sessions = 0

  static async start(options = {}) {
    const engine = new Engine()
    const start = { native: () => new NativeTransport(), saved: SavedTransport.start, wasm: () => WasmTransport.start(options) }
    engine.#transport = await start[document.documentElement.dataset.engine]()
    const { head } = last(await engine.#transport.call(encode('describe')))
    engine.version = document.documentElement.dataset.version ?? ''
    engine.formats = head.formats
    engine.metrics = head.metrics
    engine.definitions = head.definitions
    engine.columns = head.columns
    engine.dimensions = head.dimensions
    engine.sessions = head.sessions.map(s => new Session(engine.#transport, s.session, s, { files: [], options: {}, onProgress: options.onProgress }))
    return engine
  }

  get kind() { return this.#transport.kind }
  // canOpen is whether files can be opened beside the sessions that are there.
  get canOpen() { return this.kind === 'wasm' }

  // memory is how many bytes the workers hold, each for itself.
  memory() { return this.#transport.memory() }

  // crash ends a worker, the first or another one, as a fatal error within it does, for tests.
  crash(n) { this.#transport.crash?.(n) }

  // end lets the workers go, for tests: nothing can be asked after it.
  end() { this.#transport.end() }

  async open(files, options = {}) {
    const { format, labels = [], join, align, year = [], tz = [], onProgress, signal } = options
    files = Array.from(files)
    const number = ++this.#sessions
    const args = { session: number, format, join, align, year, tz, label: files.map((_, i) => labels[i] ?? '') }
    const { head } = last(await this.#transport.call(encode('open', args), { files, signal }))
    return new Session(this.#transport, number, head, { files, options, onProgress })
  }
}

// Session is some files that are analyzed together.
class Session {
  #transport
  #number
  #generation
  #onProgress

  constructor(transport, number, opened, { files, options, onProgress }) {
    this.#transport = transport
    this.#number = number
    this.#generation = transport.generation
    this.#onProgress = onProgress
    this.inputs = opened.inputs
    this.estimate = opened.estimate ?? null
    this.files = files // to open them again after the engine has died
    this.options = options
  }

  async #call(op, query, spec, { signal, onPart, onProgress = this.#onProgress } = {}) {
    if (this.#generation !== this.#transport.generation) {
      throw new EngineError({ code: 'engine_died', message: 'the engine was started anew', hint: 'open the files again' })
    }
    const onAnswer = (head, body) => {
      if (head.type === 'part') onPart?.(body)
      else if (head.type === 'progress') onProgress?.({ ...head, report: body ? JSON.parse(utf8.decode(body)) : null })
    }
    return last(await this.#transport.call(encode(op, { session: this.#number }, query, spec), { signal, onAnswer }))
  }

  async run(query, options) {
    const { body } = await this.#call('run', query, null, options)
    return JSON.parse(utf8.decode(body))
  }

  async view(query, { from, to, ...spec }, options) {
    const whole = ns => ns === undefined ? ns : Math.round(ns)
    const { head, body } = await this.#call('view', query, { ...spec, from_ns: whole(from), to_ns: whole(to) }, options)
    const columns = {}
    for (const c of head.columns) {
      columns[c.name] = c.type === 'float64' ? new Float64Array(body, c.at, c.n)
        : { codes: new Int32Array(body, c.at, c.n), values: c.values }
    }
    return { ...head, ...head.facts, columns }
  }

  async export(query, spec, options) {
    const parts = []
    const { head, body } = await this.#call('export', query, spec, { ...options, onPart: part => parts.push(part) })
    if (body) parts.push(body)
    return { name: head.name, type: head.mime, bytes: new Uint8Array(await new Blob(parts).arrayBuffer()) }
  }

  // record asks for the report and for views, and returns the answers as a saved
  // document holds them: frames, each behind one with its request, which leaves the
  // query out: the document has no other.
  async record(query, specs, options) {
    const out = [], add = (key, head, body) => out.push(...frame(key, null), ...frame(JSON.stringify(head), body))
    const { head } = last(await this.#transport.call(encode('describe')))
    add(encode('describe'), { ...head, sessions: head.sessions.filter(s => s.session === String(this.#number)) }, null)
    for (const spec of [null, ...specs]) {
      const op = spec ? 'view' : 'run', answer = await this.#call(op, query, spec, options)
      add(encode(op, spec), answer.head, answer.body)
    }
    return out
  }

  // close gives up the files; those of an engine that has died are given up already.
  async close() {
    if (this.#generation === this.#transport.generation) await this.#call('close')
  }
}
