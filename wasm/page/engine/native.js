import { EngineError, cancelled } from './error.js'

const utf8 = new TextDecoder()

// NativeTransport carries calls to the process that has served the page. Its
// answers are frames: the lengths of head and body, and both; see package bridge.
export class NativeTransport {
  kind = 'native'
  generation = 0

  async call(request, { signal, onAnswer = () => {} } = {}) {
    if (signal?.aborted) throw cancelled()
    try {
      const response = await fetch('call', { method: 'POST', body: request, signal, headers: { 'Content-Type': 'text/plain' } })
      if (!response.ok) throw new EngineError({ message: `the engine refuses: ${response.status} ${response.statusText}` })
      let result = null
      for await (const { text, body } of frames(response.body)) {
        const head = JSON.parse(text)
        if (head.type === 'result' || head.type === 'error') result = { head, body }
        else onAnswer(head, body)
      }
      if (!result) throw new EngineError({ code: 'engine_died', message: 'the engine has ended in the middle of an answer' })
      return result
    } catch (e) {
      if (signal?.aborted) throw cancelled()
      if (e instanceof EngineError) throw e
      throw new EngineError({ code: 'engine_died', message: 'the engine does not answer', hint: 'is servescope view still running?' })
    }
  }
}

// frame is a head and a body, if there is one, as parts of a stream.
export function frame(text, body) {
  const head = new TextEncoder().encode(text), lengths = new DataView(new ArrayBuffer(8))
  lengths.setUint32(0, head.length, true)
  lengths.setUint32(4, body ? body.byteLength : 0xffffffff, true)
  return body ? [lengths, head, body] : [lengths, head]
}

// frames cuts a stream into frames: the head as a text, and the body.
export async function * frames(stream) {
  const reader = stream.getReader()
  let held = [], size = 0
  const take = async n => {
    while (size < n) {
      const { done, value } = await reader.read()
      if (done) return null
      held.push(value)
      size += value.length
    }
    const out = new Uint8Array(n)
    let at = 0
    while (at < n) {
      const part = held[0].subarray(0, n - at)
      out.set(part, at)
      at += part.length
      if (part.length === held[0].length) held.shift()
      else held[0] = held[0].subarray(part.length)
    }
    size -= n
    return out
  }
  for (;;) {
    const lengths = await take(8)
    if (!lengths) return
    const view = new DataView(lengths.buffer), n = view.getUint32(4, true), none = n === 0xffffffff
    const head = await take(view.getUint32(0, true))
    const body = none ? null : await take(n)
    if (!head || !none && !body) return
    yield { text: utf8.decode(head), body: body && body.buffer }
  }
}
