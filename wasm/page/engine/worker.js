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

// alive is called where nothing runs in this worker: if the module still computes, the
// browser has ended it from outside, without an error.
function alive() {
  if (!inside) return
  died()
  throw new Error('the module has been ended')
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
    next: old => { read(old).then(({ value }) => take(value?.length ? value : null), () => take(null)) },
    close: () => {
      take = () => {}
      reader.cancel().catch(() => {})
    }
  }
}

// reply answers through a port, or to the page.
const reply = (to, id) => (head, body) => to.postMessage({ id, head, body }, body ? [body] : [])

// remotes makes the workers behind ports callable for the module: each call has a
// number, and its answer is called with a head, a body and whether it is the last.
function remotes(ports) {
  const calls = new Map()
  let last = 0
  for (const port of ports) {
    port.onmessage = ({ data: { id, head, body } }) => {
      const over = !head.startsWith('{"type":"part"')
      calls.get(id)?.(head, body, over)
      if (over) calls.delete(id)
    }
  }
  self.servescopeWorkers = ports.length
  self.servescopeRemote = (worker, request, file, answer) => {
    calls.set(++last, answer)
    ports[worker].postMessage({ id: last, request, files: file && [file] })
    return last
  }
  self.servescopeCancel = (worker, id) => ports[worker].postMessage({ cancel: id })
}

async function take(data, to, module) {
  if (module) await run(module)
  if (data.crash) self.servescope.crash()
  else if (data.cancel) self.servescope.cancel(data.cancel)
  else self.servescope.call(data.id, data.request, data.files, reply(to, data.id))
}

self.onmessage = async ({ data }) => {
  alive()
  if (data.ping) return
  if (data.memory) {
    postMessage({ id: data.memory, bytes: memory?.buffer.byteLength ?? 0 })
  } else if (data.port) {
    data.port.onmessage = e => take(e.data, data.port, data.module) // which starts the module
  } else if (data.module) {
    remotes(data.ports)
    await run(data.module)
    postMessage({ ready: true })
  } else {
    take(data, self)
  }
}
