// Ranges of time, one within the other.
import * as store from './store.js'

// zoom makes a range of time the innermost breadcrumb.
export function zoom(from, to) {
  const s = store.state.value, last = s.times[s.times.length - 1]
  if (last) {
    from = Math.max(from, last[0])
    to = Math.min(to, last[1])
  }
  if (to - from >= 1) store.set({ times: [...s.times, [Math.round(from), Math.round(to)]] })
}
