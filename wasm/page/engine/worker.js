// The script of a worker that holds the core. wasm_exec.js of the Go that built
// the core stands before it; what it says is package servescope/wasm/browser.
let printed = ''

// Go's runtime prints why it dies; nobody looks at a worker's console.
console.log = console.error = (...texts) => { printed = (printed + '\n' + texts.join(' ')).slice(-2000) }

const died = () => postMessage({ died: printed.trim() })

self.servescopeReady = () => postMessage({ ready: true })

self.onmessage = async ({ data }) => {
  if (data.module) {
    try {
      const go = new Go()
      const instance = await WebAssembly.instantiate(data.module, go.importObject)
      await go.run(instance)
    } catch (e) {
      printed += '\n' + e
    }
    died()
  } else if (data.crash) {
    self.servescope.crash()
  } else if (data.cancel) {
    self.servescope.cancel(data.cancel)
  } else {
    const answer = (head, body) => postMessage({ id: data.id, head, body }, body ? [body] : [])
    self.servescope.call(data.id, data.request, data.files, answer)
  }
}
