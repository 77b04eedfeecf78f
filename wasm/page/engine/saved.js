import { EngineError } from './error.js'
import { frames } from './native.js'
import { loaded, inflated } from './wasm.js'

// The parts of a request that a saved document has one answer to, whatever they are.
const free = ['session', 'slo', 'from_ns', 'to_ns', 'buckets', 'xbins', 'ybins', 'points', 'limit', 'low', 'high', 'tokens', 'offset', 'columns', 'side', 'metric']

// SavedTransport answers with what was recorded when the document was written: the
// report, and its charts as they are without a further selection.
export class SavedTransport {
  kind = 'saved'
  generation = 0
  #answers = []

  static async start() {
    const t = new SavedTransport()
    await loaded()
    let key = null
    for await (const { text, body } of frames(inflated('saved'))) {
      if (key === null) key = new URLSearchParams(text)
      else {
        t.#answers.push({ key, head: JSON.parse(text), body })
        key = null
      }
    }
    return t
  }

  async call(request) {
    const asked = new URLSearchParams(request)
    const same = ({ key }) => [...asked.keys()].every(k => free.includes(k) || asked.get(k) === key.get(k)) &&
      key.get('metric') === (asked.get('kind') === 'ecdf' ? asked.get('metric') : key.get('metric'))
    if (asked.get('op') === 'close') return { head: { type: 'result' }, body: null }
    const found = this.#answers.find(same)
    if (!found) {
      throw new EngineError({ code: 'saved', message: 'this saved report does not hold that', hint: 'open the files themselves to select among their requests' })
    }
    if (asked.get('op') === 'describe') return { head: { ...found.head, sessions: [{ session: '1', inputs: found.head.sessions[0].inputs }] }, body: null }
    return found
  }
}
