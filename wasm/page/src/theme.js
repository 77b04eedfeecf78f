// The theme, and the colours that canvases read from the style sheet.
import { signal } from './ui.js'

const dark = matchMedia('(prefers-color-scheme: dark)')
export const theme = signal('light') // what is shown

// Phases and statuses have one colour in every view.
export const names = ['ink', 'muted', 'line', 'grid', 'panel', 'accent', 'queue', 'input', 'prefill', 'transfer', 'decode', 'egress', 'stall', 'residual', 'network', 'first',
  'ok', 'failed', 'aborted', 'empty', 'open', 'limit', 's0', 's1', 's2', 's3', 's4', 's5', 's6', 's7', 'ramp0', 'ramp1', 'ramp2', 'ramp3', 'ramp4']

let cache = null
export function colors() {
  if (cache) return cache
  const css = getComputedStyle(document.documentElement)
  cache = Object.fromEntries(names.map((n) => [n, css.getPropertyValue('--' + n).trim()]))
  cache.font = getComputedStyle(document.body).fontFamily
  cache.series = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => cache['s' + i])
  cache.ramp = [0, 1, 2, 3, 4].map((i) => rgb(cache['ramp' + i]))
  return cache
}

export const rgb = (hex) => [1, 3, 5].map((i) => parseInt(hex.slice(i, i + 2), 16))

// ramp returns the colour of a share from 0 to 1 as [r, g, b].
export function ramp(c, share) {
  const at = Math.min(0.99999, Math.max(0, share)) * (c.ramp.length - 1), i = Math.floor(at), f = at - i
  return c.ramp[i].map((v, k) => Math.round(v + f * (c.ramp[i + 1][k] - v)))
}

// pixel is a colour as ImageData holds it, seen as Uint32Array.
export const pixel = ([r, g, b]) => new Uint32Array(Uint8Array.of(r, g, b, 255).buffer)[0]

export function apply(choice) {
  const now = choice === 'auto' ? (dark.matches ? 'dark' : 'light') : choice
  document.documentElement.dataset.theme = now
  cache = null
  theme.value = now
}

// shown makes the document show a theme until done is called, for what is drawn in
// between; nothing of it reaches the screen.
export function shown(name) {
  const before = document.documentElement.dataset.theme
  const put = (t) => {
    document.documentElement.dataset.theme = t
    cache = null
  }
  put(name)
  return () => put(before)
}

export const follow = (choice) => dark.addEventListener('change', () => apply(choice()))

// still says whether motion is unwanted.
export const still = () => matchMedia('(prefers-reduced-motion: reduce)').matches

// leafColor is the colour of a stage of a decomposition, alone or merged with others.
const leaf = {
  network: 'network', client: 'network', proxy: 'network', input: 'input', ingress: 'input', queue: 'queue', prefill: 'prefill', kv_transfer: 'transfer',
  decode_queue: 'queue', first_decode: 'decode', egress: 'egress', decode: 'decode', stall: 'stall', residual: 'residual',
  compute: 'decode', sampling: 'egress', communication: 'transfer', host_transfer: 'input', launch_wait: 'queue', scheduling: 'first', host_exec: 'network', host_gap: 'stall',
  interference: 'prefill', first_token: 'first',
}
export const leafColor = (name) => leaf[name.replace(/_ns$/, '')] || 'residual'
