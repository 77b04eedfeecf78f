// Views of the engine as a hook.
import { use, useState, useEffect } from '../ui.js'
import * as store from '../store.js'

// useView asks for a view of the present run and returns it, null while it is not
// there (or none is asked for), or {error}. What stood before stays until the next,
// and while the range of time moves. whole asks about all of the time, whichever range
// is selected.
export function useView(spec, whole = false) {
  const asked = use(whole ? store.wholly : store.asked), moving = use(store.moving), [got, set] = useState(null), key = spec && asked + JSON.stringify(spec)
  useEffect(() => {
    if (moving) return
    if (!spec) return set(null)
    const stop = new AbortController()
    store.view(spec, { whole, signal: stop.signal }).then((v) => stop.signal.aborted || set(v), (error) => stop.signal.aborted || ['cancelled', 'usage', 'saved'].includes(error.code) && got || set({ error, columns: null }))
    return () => stop.abort()
  }, [key, moving])
  return got
}
