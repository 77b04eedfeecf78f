// The script of a worker that holds a module. wasm_exec.js of the Go that built
// it stands before; what the module says is package servescope/wasm/browser.
let printed = ''

// Go's runtime prints why it dies; nobody looks at a worker's console.
console.log = console.error = (...texts) => { printed = (printed + '\n' + texts.join(' ')).slice(-2000) }

const died = () => postMessage({ died: printed.trim() })
let ready, started = null, memory = null
let inside = false // the module computes
const up = new Promise(resolve => { ready = resolve })

self.servescopeReady = () => ready()

// A browser may end what runs in a worker from outside, of which no event tells. These
// find it: a message that was not taken, a promise of which the module has not heard, and
// a module that still computes where nothing runs.
function must(held) {
  if (held) return
  died()
  throw new Error('the worker has been ended')
}

const alive = () => must(!inside)

// owed are promises that the module waits for. At a ping those that are settled have been
// told to it.
const owed = new Set()
self.servescopeOwe = (promise, then, fail) => {
  const told = f => v => { owed.delete(promise); f(v) }
  owed.add(promise)
  promise.then(told(then), told(fail))
}

function collect() {
  for (const p of owed) {
    const told = () => must(!owed.has(p))
    p.then(told, told)
  }
}

// servescopeLoop is a MessageChannel on which a message that was not taken is found. It
// waits for a turn of the event loop sooner than timers do.
const loop = new MessageChannel()
let asked = 0, came = 0, since = 0 // the first ping that has come before a turn
self.servescopeLoop = {
  port1: { postMessage() { since = 0; loop.port1.postMessage(++asked) } },
  port2: { set onmessage(take) { loop.port2.onmessage = e => { must(e.data === ++came); take(e) } } }
}

// link sends numbered messages through a port; pings say how many there have been.
function link(port, take) {
  let sent = 0, taken = 0
  port.onmessage = ({ data }) => {
    alive()
    if (data.n) {
      must(data.n === ++taken)
      return take(data)
    }
    must(taken === (data.ping ?? data.pong))
    if (data.ping !== undefined) port.postMessage({ pong: sent })
  }
  return {
    send: (message, transfer = []) => port.postMessage({ ...message, n: ++sent }, transfer),
    ping: () => port.postMessage({ ping: sent })
  }
}

// run runs the module, once; it ends only when it dies.
function run(module) {
  started ??= (async () => {
    try {
      const go = new Go(), instance = await WebAssembly.instantiate(module, go.importObject)
      const resume = go._resume
      go._resume = () => {
        alive()
        inside = true
        resume.call(go)
        inside = false
      }
      memory = instance.exports.mem
      const over = go.run(instance) // returns when the module waits for calls, for which it must have said that it is ready
      setTimeout(() => postMessage({ late: true }), 5000)
      await over
    } catch (e) {
      printed += '\n' + e
    }
    died()
  })()
  return up
}

// servescopeStream reads a part of a file from front to back. next calls take with a
// Uint8Array of at most so many bytes, which may be in the memory of the one that it is
// given: of a file, only Chromium fills memory that it is handed. Others decide alone
// how many bytes come. At the end, or if reading fails, take gets null.
self.servescopeStream = (part, size, take) => {
  const stream = part.stream()
  let reader, own = true
  try {
    reader = stream.getReader({ mode: 'byob' })
  } catch {
    reader = stream.getReader()
    own = false
  }
  const read = ({ buffer }) => own ? reader.read(new Uint8Array(buffer.byteLength < size ? size : buffer), { min: size }) : reader.read()
  return {
    next: old => self.servescopeOwe(read(old), ({ value }) => take(value?.length ? value : null), () => take(null)),
    close: () => {
      take = () => {}
      reader.cancel().catch(() => {})
    }
  }
}

// reply answers through a link, or to the page.
const reply = (send, id) => (head, body) => send({ id, head, body }, body ? [body] : [])

let others = [] // links to the workers that read ranges for this one

// remotes makes the workers behind ports callable for the module: each call has a
// number, and its answer is called with a head, a body and whether it is the last.
function remotes(ports) {
  const calls = new Map()
  let last = 0
  others = ports.map(port => link(port, ({ id, head, body }) => {
    const over = !head.startsWith('{"type":"part"'), answer = calls.get(id)
    if (over) calls.delete(id)
    answer?.(head, body, over)
  }))
  self.servescopeWorkers = ports.length
  self.servescopeRemote = (worker, request, file, answer) => {
    calls.set(++last, answer)
    others[worker].send({ id: last, request, files: file && [file] })
    return last
  }
  self.servescopeCancel = (worker, id) => others[worker].send({ cancel: id })
}

async function take(data, send, module) {
  if (module) await run(module)
  if (data.crash) self.servescope.crash()
  else if (data.cancel) self.servescope.cancel(data.cancel)
  else self.servescope.call(data.id, data.request, data.files, reply(send, data.id))
}

let taken = 0 // messages of the page
self.onmessage = async ({ data }) => {
  alive()
  if (data.ping !== undefined) {
    since ||= performance.now()
    must(taken === data.ping && (came === asked || performance.now() - since < 3000))
    collect()
    for (const o of others) o.ping()
    return
  }
  taken++
  if (data.memory) {
    postMessage({ id: data.memory, bytes: memory?.buffer.byteLength ?? 0 })
  } else if (data.port) {
    const first = link(data.port, message => take(message, first.send, data.module)) // which starts the module
  } else if (data.module) {
    remotes(data.ports)
    await run(data.module)
    postMessage({ ready: true })
  } else {
    take(data, (message, transfer) => postMessage(message, transfer))
  }
}
