import { EngineError, cancelled } from './error.js'

// The document holds the engine's module as text, and the script of its workers. They
// stand behind the page's own script, which runs before them.
export const loaded = () => document.readyState !== 'loading' ? Promise.resolve()
  : new Promise(done => document.addEventListener('DOMContentLoaded', done, { once: true }))

const part = id => document.getElementById(id)?.textContent ?? null

// inflated unpacks a part of the document: base64 of a gzip file.
export function inflated(id) {
  const text = part(id)
  if (text === null) throw new EngineError({ message: `this document holds no ${id}`, hint: 'build it with make page' })
  const bytes = Uint8Array.fromBase64 ? Uint8Array.fromBase64(text) : Uint8Array.from(atob(text), c => c.charCodeAt(0))
  return new Blob([bytes]).stream().pipeThrough(new DecompressionStream('gzip'))
}

// compile returns a module, which all workers share.
const compile = bytes => WebAssembly.compileStreaming(new Response(bytes, { headers: { 'Content-Type': 'application/wasm' } }))

// post sends a message to a worker, which counts what it takes: pings say how many there
// have been.
function post(worker, message, transfer = []) {
  worker.sent = (worker.sent ?? 0) + 1
  worker.postMessage(message, transfer)
}

// WasmTransport carries calls to the engine in a worker. When the worker dies its
// calls fail with engine_died and the next call starts another one.
export class WasmTransport {
  kind = 'wasm'
  generation = 0 // sessions of an earlier one are gone
  #module
  #url
  #worker = null // the promise of the first one
  #current = null
  #calls = new Map()
  #id = 0
  #onState
  #remotes = 0 // workers that read and fold ranges beside the first one
  #others = []
  #pulse = 0
  #up = false // the first one takes calls

  static async start({ onState = () => {}, workers = Math.min(navigator.hardwareConcurrency || 1, 4) }) {
    const t = new WasmTransport()
    t.#onState = onState
    t.#remotes = workers - 1
    onState('starting')
    await loaded()
    t.#url = URL.createObjectURL(new Blob([part('worker.js')], { type: 'text/javascript' }))
    t.#module = await compile(inflated('engine.wasm.gz'))
    await t.#boot()
    t.#pulse = setInterval(() => t.#ping(), 1000)
    return t
  }

  // ping has workers that somebody waits for notice that the browser has ended what
  // they did, of which no event tells.
  #ping() {
    if (this.#calls.size || !this.#up) for (const w of [this.#current, ...this.#others]) w?.postMessage({ ping: w.sent })
  }

  // end lets the workers go.
  end() {
    clearInterval(this.#pulse)
    for (const w of [this.#current, ...this.#others]) w?.terminate()
    this.#current = null
    URL.revokeObjectURL(this.#url)
  }

  #boot() {
    return this.#worker ??= new Promise((resolve, reject) => {
      const worker = this.#current = new Worker(this.#url)
      this.#up = false
      const fail = reason => {
        reject(new EngineError({ message: `the engine did not start: ${reason}`, hint: 'the engine and the scripts of this document may be of different builds: run make page anew' }))
        this.#bury(worker, reason, this.#up)
      }
      worker.onerror = e => { e.preventDefault(); fail(e.message) }
      worker.onmessage = ({ data }) => {
        if (data.ready) {
          this.#up = true
          this.#onState('ready')
          resolve(worker)
        } else if ('died' in data) {
          fail(data.died)
        } else if (data.late) {
          if (!this.#up) fail('it runs, and takes no calls')
        } else {
          this.#calls.get(data.id)?.(data)
        }
      }
      const ports = []
      for (let i = 0; i < this.#remotes; i++) {
        const { port1, port2 } = new MessageChannel(), other = new Worker(this.#url)
        other.onerror = worker.onerror
        other.onmessage = ({ data }) => { 'died' in data ? fail(data.died) : this.#calls.get(data.id)?.(data) }
        post(other, { port: port2, module: this.#module }, [port2])
        ports.push(port1)
        this.#others.push(other)
      }
      post(worker, { module: this.#module, ports }, ports)
    })
  }

  // memory is how many bytes each of the workers holds, the first one first. What a
  // module has taken it never gives back.
  async memory() {
    const first = await this.#boot()
    return Promise.all([first, ...this.#others].map(w => new Promise(resolve => {
      const id = ++this.#id
      this.#calls.set(id, ({ bytes }) => {
        this.#calls.delete(id)
        resolve(bytes)
      })
      post(w, { memory: id })
    })))
  }

  async crash(n = 0) {
    const first = await this.#worker
    const worker = [first, ...this.#others][n]
    if (worker) post(worker, { crash: true })
  }

  // bury ends a worker and all that waits for it. It starts the next one, but where
  // this one has never been up: the next would fare no better.
  #bury(worker, reason, up) {
    if (this.#current === worker) this.#current = null
    else return // another death of the same engine
    for (const w of [worker, ...this.#others]) w.terminate()
    this.#others = []
    this.generation++
    this.#worker = null
    const memory = /out of memory|allocat/i.test(reason)
    const head = memory
      ? { code: 'too_large', message: 'the memory of this tab is used up', hint: 'servescope view FILE shows the same page with an engine outside of the tab' }
      : { code: 'engine_died', message: 'the engine has stopped: ' + (reason.split('\n')[0] || 'no reason given') }
    const calls = [...this.#calls.values()]
    this.#calls.clear()
    for (const call of calls) call({ head: JSON.stringify({ type: 'error', hint: '', ...head }), body: null })
    this.#onState('failed')
    if (up) this.#boot().catch(() => {})
  }

  // call sends a request and returns its last answer; others go to onAnswer.
  async call(request, { files = null, signal, onAnswer = () => {} } = {}) {
    if (signal?.aborted) throw cancelled()
    const worker = await this.#boot()
    const id = ++this.#id
    return new Promise((resolve, reject) => {
      const cancel = () => { post(worker, { cancel: id }); end(() => reject(cancelled())) }
      const end = settle => {
        signal?.removeEventListener('abort', cancel)
        this.#calls.delete(id)
        settle()
      }
      signal?.addEventListener('abort', cancel)
      this.#calls.set(id, ({ head, body }) => {
        const answer = JSON.parse(head)
        if (answer.type === 'result' || answer.type === 'error') end(() => resolve({ head: answer, body }))
        else onAnswer(answer, body)
      })
      post(worker, { id, request, files })
    })
  }
}
