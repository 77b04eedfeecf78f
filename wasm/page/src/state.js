// The state that a link holds. It lives in the fragment of the URL, which browsers
// send to nobody, and names no file and no content: a view, a selection, limits.
// Only what is not the default is written. What cannot be understood is left out
// with a notice.
import { duration, parseDuration } from './format.js'

export const version = 1
export const views = ['overview', 'latency', 'timeline', 'load', 'requests', 'compare', 'diagnostics']
const curves = ['ecdf', 'percentile', 'histogram']
export const ranks = [0.5, 0.9, 0.95, 0.99, 0.999]
const colors = ['status', 'cached_tokens', 'output_tokens', 'concurrency']

export const defaults = () => ({
  view: 'overview',
  run: 0, // index in report.runs
  base: null, // index of the run that is compared with; null: the one before it
  metric: 'ttft',
  curve: 'ecdf',
  color: 'status',
  by: '', // what the distribution is split by: status, model or prompt
  layout: 'overlay', // of a distribution that is split
  rank: 0.99, // the percentile that is read out and stands for the tail
  groups: [], // dimensions of --by
  window: 0, // length of the windows of --window in ns; 0: none
  times: [], // [from, to] in ns since the first stamp of the run, each within the one before
  filter: '', // an expression of --filter
  slo: [], // [{metric, max}], max in ns
  definition: '', // name of the set of definitions; '': the default
  row: null, // number of the request that is open in the drawer
  theme: 'auto',
  file: '', // first eight hex digits of the SHA-256 of the first file
})

const enumOf = (list) => ({ write: (v) => v, read: (s) => list.includes(s) ? s : undefined })
const index = { write: String, read: (s) => /^\d{1,9}$/.test(s) ? Number(s) : undefined }

const codecs = {
  view: enumOf(views),
  run: index,
  base: index,
  metric: { write: (v) => v, read: (s) => /^[a-z0-9_]{1,40}$/.test(s) ? s : undefined },
  curve: enumOf(curves),
  color: enumOf(colors),
  by: enumOf(['', 'status', 'model', 'prompt']),
  layout: enumOf(['overlay', 'panels']),
  rank: { write: (v) => Number((v * 100).toPrecision(6)), read: (s) => ranks.find((r) => Number((r * 100).toPrecision(6)) === Number(s)) },
  groups: { write: (list) => list.join(','), read: (s) => /^[a-z_]{1,30}(,[a-z_]{1,30})?$/.test(s) ? s.split(',') : undefined },
  window: { write: duration, read: (s) => parseDuration(s) > 0 ? parseDuration(s) : undefined },
  times: {
    write: (list) => list.map(([a, b]) => duration(a) + '..' + duration(b)).join('~'),
    read: (s) => {
      const list = s.split('~').map((x) => x.split('..').map((d) => parseDuration(d)))
      return list.every((x) => x.length === 2 && x[0] !== null && x[1] !== null && x[0] < x[1]) ? list : undefined
    },
  },
  filter: { write: (v) => v, read: (s) => s.length <= 65536 ? s : undefined },
  slo: {
    write: (list) => list.map((l) => l.metric + ':' + duration(l.max)).join(','),
    read: (s) => {
      const list = s.split(',').map((x) => {
        const [metric, max] = x.split(':')
        return { metric, max: max === undefined ? null : parseDuration(max) }
      })
      return list.every((l) => /^[a-z0-9_.]{1,40}$/.test(l.metric) && l.max !== null) ? list : undefined
    },
  },
  definition: { write: (v) => v, read: (s) => /^[a-z0-9-]{1,40}$/.test(s) ? s : undefined },
  row: index,
  theme: enumOf(['auto', 'light', 'dark']),
  file: { write: (v) => v, read: (s) => /^[0-9a-f]{8}$/.test(s) ? s : undefined },
}

// names are the keys in a link, by field.
const names = { view: 'view', run: 'run', base: 'base', metric: 'm', curve: 'curve', color: 'color', by: 'by', layout: 'layout', rank: 'p', groups: 'groups', window: 'w', times: 't', filter: 'f', slo: 'slo', definition: 'def', row: 'sel', theme: 'theme', file: 'h' }

// words are what notices call the keys that say little by themselves.
const words = { m: 'the metric (m)', p: 'the percentile (p)', w: 'the windows (w)', t: 'the range of time (t)', f: 'the filter (f)', slo: 'the limits (slo)', def: 'the definitions (def)', sel: 'the request (sel)', h: 'the file (h)' }

// upgrades[v] turns the fields of a link of version v into those of version v + 1.
const upgrades = {}

// encode writes a state as a fragment, without the #.
export function encode(state) {
  const base = defaults(), out = []
  for (const [field, key] of Object.entries(names)) {
    const v = state[field]
    if (v === null || JSON.stringify(v) === JSON.stringify(base[field])) continue
    // What URLs take as it is stays readable.
    out.push(key + '=' + encodeURIComponent(codecs[field].write(v)).replace(/%3A/g, ':').replace(/%2C/g, ',').replace(/%20/g, '+'))
  }
  return out.length ? ['v=' + version, ...out].join('&') : ''
}

const decodeText = (s) => {
  try {
    return decodeURIComponent(s.replace(/\+/g, '%20'))
  } catch {
    return undefined
  }
}

// decode reads a fragment: {state, notices}. It never throws.
export function decode(fragment) {
  const state = defaults(), notices = []
  let fields = Object.create(null)
  for (const part of fragment.replace(/^#/, '').slice(0, 200000).split('&')) {
    if (!part) continue
    const at = part.indexOf('=')
    fields[at < 0 ? part : part.slice(0, at)] = at < 0 ? '' : decodeText(part.slice(at + 1))
  }
  const v = fields.v === undefined ? version : Number(fields.v)
  if (!Number.isInteger(v) || v < 1 || v > version) {
    if (Object.keys(fields).length) notices.push('the link is of another version of this page')
    return { state, notices }
  }
  for (let i = v; i < version; i++) fields = upgrades[i](fields)
  const fieldOf = Object.fromEntries(Object.entries(names).map(([field, key]) => [key, field]))
  for (const [key, s] of Object.entries(fields)) {
    if (key === 'v') continue
    const field = Object.hasOwn(fieldOf, key) ? fieldOf[key] : undefined
    const value = field && s !== undefined ? codecs[field].read(s) : undefined
    if (value === undefined) notices.push('left out of the link: ' + (Object.hasOwn(words, key) ? words[key] : key.slice(0, 20)))
    else state[field] = value
  }
  return { state, notices }
}
