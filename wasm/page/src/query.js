// What is asked of the engine, in the spelling of the command line's flags.
import { duration } from './format.js'

// range returns the innermost breadcrumb of time, or null.
export const range = (state) => state.times.length ? state.times[state.times.length - 1] : null

export const limits = (slo) => slo.map((l) => l.metric + '=' + duration(l.max)).join(',')

// query is the query of a state: the filter, the innermost range of time and the
// limits that are set.
export function query(state) {
  const q = {}, t = range(state)
  if (state.filter.trim()) q.filter = state.filter.trim()
  if (t) {
    q.from = '+' + duration(t[0])
    q.to = '+' + duration(t[1])
  }
  if (state.definition) q.definition = state.definition
  if (state.slo.length) q.slo = limits(state.slo)
  if (state.groups.length) q.by = state.groups.join(',')
  if (state.window) q.window = duration(state.window)
  return q
}

// ungrouped is a query as views of requests take it: they are of the same requests,
// however a report groups them.
export const ungrouped = ({ by, window, ...q }) => q

// bare texts need no quotes in a filter.
const bare = /^[\w.:/+@-]+$/

// value writes a text as a value of a filter.
export function value(s) {
  if (bare.test(s)) return s
  if (!s.includes("'")) return "'" + s + "'"
  if (!s.includes('"')) return '"' + s + '"'
  return null // the language has no escapes
}

// also narrows a filter by a condition that must hold as well.
export function also(filter, condition) {
  filter = filter.trim()
  if (!filter) return condition
  return (/\bor\b/i.test(filter) ? '(' + filter + ')' : filter) + ' and ' + condition
}

const shell = (s) => /^[\w.,:/=+@%-]+$/.test(s) ? s : "'" + s.replace(/'/g, "'\\''") + "'"

// command is the line that gives the same report in a terminal. Names of files are
// those that the browser knows, without folders.
export function command(verb, q, files) {
  const flags = []
  for (const name of ['filter', 'from', 'to', 'slo', 'by', 'window', 'definition', 'trim', 'aborts']) {
    if (q[name]) flags.push('--' + name + ' ' + shell(q[name]))
  }
  if (q.join) flags.push('--join')
  if (q.align) flags.push('--align-clocks')
  return ['servescope', verb, ...flags, ...files.map(shell)].join(' ')
}
