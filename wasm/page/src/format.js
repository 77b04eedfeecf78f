// Numbers for people. The steps and the digits are those of package unit, which a
// test compares, so that the page and the terminal print the same.

// steps lists how each base unit is printed, smallest first: [symbol, factor, from].
export const steps = {
  ns: [['ns', 1, 0], ['µs', 1e3, 1e3], ['ms', 1e6, 1e6], ['s', 1e9, 1e9], ['min', 60e9, 600e9], ['h', 3600e9, 7200e9]],
  'ns/token': [['ns/tok', 1, 0], ['µs/tok', 1e3, 1e3], ['ms/tok', 1e6, 1e6], ['s/tok', 1e9, 1e9]],
  bytes: [['B', 1, 0], ['KiB', 1024, 1024], ['MiB', 1048576, 1048576], ['GiB', 1073741824, 1073741824], ['TiB', 1099511627776, 1099511627776]],
  tokens: [['tok', 1, 0], ['k tok', 1e3, 1e5], ['M tok', 1e6, 1e7], ['G tok', 1e9, 1e10]],
  requests: [['req', 1, 0]],
  'tokens/s': [['tok/s', 1, 0], ['k tok/s', 1e3, 1e5], ['M tok/s', 1e6, 1e7]],
  'requests/s': [['req/s', 1, 0], ['k req/s', 1e3, 1e5]],
  ratio: [['%', 0.01, 0]],
}

const digits = 4

const round = (v) => Number(v.toExponential(digits - 1))
const isWhole = (v) => Math.abs(v - Math.round(v)) <= 1e-12 * Math.abs(v)

function precision(v) {
  if (v === 0) return 0
  if (v < 0.1) return digits
  let prec = digits - 1
  for (v = round(v); v >= 10 && prec > 0; v /= 10) prec--
  return prec
}

// plain is toFixed without an exponent for large numbers, and with exact ties rounded
// to even, as Go does.
function plain(v, prec) {
  if (Math.abs(v) >= 1e21) return BigInt(Math.round(v)).toString()
  const long = v.toFixed(prec + 30)
  if (!long.endsWith('5' + '0'.repeat(29))) return v.toFixed(prec)
  const down = long.slice(0, -30).replace(/\.$/, '')
  return Number(down[down.length - 1]) % 2 ? v.toFixed(prec) : down
}

function fixed(v, prec) {
  const text = plain(v, prec)
  if (v !== 0 && /^-?[0.]*$/.test(text)) {
    const least = prec > 0 ? '0.' + '0'.repeat(prec - 1) + '1' : '1'
    return v < 0 ? '>-' + least : '<' + least
  }
  return text
}

// common returns one scale for all values, a row or a column of a table:
// {symbol, factor, prec}.
export function common(unit, ...values) {
  let lo = Infinity, hi = 0
  for (let v of values) {
    v = Math.abs(v)
    if (v > 0 && v < lo) lo = v
    if (v > hi && v !== Infinity) hi = v
  }
  if (hi === 0) lo = 0
  const list = steps[unit] || [[unit || '', 1, 0]]
  let at = 0
  list.forEach(([, factor, from], i) => {
    if (from <= round(lo / factor) * factor || list[at][1] * 99999.5 <= hi) at = i
  })
  const s = { symbol: list[at][0], factor: list[at][1], prec: 0 }
  if (!values.every((v) => isWhole(v / s.factor))) {
    s.prec = Math.min(precision(lo / s.factor), Math.max(0, 6 - plain(hi / s.factor, 0).length))
  }
  return s
}

// number prints v scaled, without the symbol, with the fixed digits of a scale.
export const number = (s, v) => fixed(v / s.factor, s.prec)

// short prints v scaled, without the symbol, with four significant digits.
export function short(s, v) {
  v /= s.factor
  return isWhole(v) ? plain(v, 0) : fixed(v, precision(Math.abs(v)))
}

// text prints one value with its symbol: "12.34 ms", "98.5 %", "512".
export function text(unit, v) {
  const s = common(unit, v)
  return s.symbol ? short(s, v) + ' ' + s.symbol : short(s, v)
}

// parts is text in two pieces: the number and its symbol.
export function parts(unit, v) {
  const s = common(unit, v)
  return [short(s, v), s.symbol]
}

// count prints a whole number with spaces between thousands.
export const count = (n) => String(n).replace(/\B(?=(\d{3})+(?!\d))/g, '\u202f')

export const plural = (n, what) => count(n) + ' ' + what + (n === 1 ? '' : 's')

// between prints the ends of an interval, of which either may not be known.
export const between = ([lo, hi], print) => lo !== null && hi !== null ? print(lo) + ' – ' + print(hi) : lo !== null ? '≥ ' + print(lo) : hi !== null ? '≤ ' + print(hi) : ''

// percent is a rank in percent, rankName its name: p99.9.
export const percent = (rank) => Number((rank * 100).toPrecision(6))
export const rankName = (rank) => 'p' + percent(rank)

// seconds prints ns as an exact duration in the spelling of the flags: 1.5s.
export function duration(ns) {
  ns = Math.round(ns)
  if (ns === 0) return '0s'
  for (const [name, f] of [['s', 1e9], ['ms', 1e6], ['us', 1e3], ['ns', 1]]) {
    if (Math.abs(ns) < f) continue
    const n = BigInt(ns), q = n / BigInt(f), rest = String(n % BigInt(f)).replace('-', '')
    const tail = rest === '0' ? '' : '.' + rest.padStart(String(f).length - 1, '0').replace(/0+$/, '')
    return (ns < 0 && q === 0n ? '-' : '') + q + tail + name
  }
}

const units = { ns: 1, us: 1e3, 'µs': 1e3, 'μs': 1e3, ms: 1e6, s: 1e9, m: 60e9, min: 60e9, h: 3600e9, d: 86400e9 }

// parseDuration reads a duration such as 500ms or 1m30s, in ns; null if it is none.
// A number without a unit is taken in the given one.
export function parseDuration(s, bare) {
  s = s.trim()
  if (/^\d*\.?\d+$|^\d+\.$/.test(s)) return bare || Number(s) === 0 ? Number(s) * (units[bare] || 0) : null
  let total = 0, rest = s, last = Infinity
  while (rest) {
    const m = /^(\d+\.?\d*|\.\d+) *(ns|us|µs|μs|ms|min|s|m|h|d) */.exec(rest)
    if (!m || units[m[2]] >= last) return null
    last = units[m[2]]
    total += Number(m[1]) * last
    rest = rest.slice(m[0].length)
  }
  return s ? Math.round(total) : null
}

// clock prints ns since an origin as an instant on an axis: +12.5 s, or the time of
// day where the clock is a wall clock. origin is a decimal text of ns.
export function instant(ns, origin, wall) {
  if (!wall) return '+' + text('ns', ns)
  const ms = Number((BigInt(origin) + BigInt(Math.round(ns))) / 1000n) / 1000
  return new Date(ms).toISOString().replace('T', ' ').replace('Z', ' UTC')
}

// timeSteps are the round steps of an axis of time in ns: beyond a second those of
// clocks.
export const timeSteps = [...Array.from({ length: 9 }, (_, e) => [1, 2, 5].map((m) => m * 10 ** e)).flat(), ...[1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400, 172800, 432000, 864000].map((s) => s * 1e9)]

// ticks returns about n round numbers in [lo, hi].
export function ticks(lo, hi, n, unit) {
  const span = hi - lo
  if (!(span > 0)) return [lo]
  const raw = span / n, p = 10 ** Math.floor(Math.log10(raw))
  const step = (unit === 'ns' && timeSteps.find((s) => s >= raw)) || [1, 2, 5, 10].map((m) => m * p).find((s) => s >= raw)
  const out = []
  for (let v = Math.ceil(lo / step) * step; v <= hi + step * 1e-9; v += step) out.push(Math.abs(v) < step * 1e-9 ? 0 : v)
  return out
}

// axis is the scale of the numbers along an axis: the unit that fits the farthest, and
// as many digits as its steps need.
export function axis(unit, list) {
  const s = common(unit, list.reduce((a, v) => Math.max(a, Math.abs(v)), 0))
  const step = list.length > 1 ? Math.abs(list[1] - list[0]) / s.factor : 1
  let prec = 0
  while (prec < 6 && Math.abs(step * 10 ** prec - Math.round(step * 10 ** prec)) > 1e-6 * step * 10 ** prec) prec++ // 2.5 needs one
  return { ...s, prec }
}

// logTicks returns about n round numbers in [lo, hi]: several between the powers of
// ten, 2 and 5 times these, 3 times these, the powers alone or every few of them; but two
// of them where there are.
export function logTicks(lo, hi, n = 9) {
  const from = Math.floor(Math.log10(lo)), to = Math.ceil(Math.log10(hi)), decades = Math.log10(hi / lo)
  const dense = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 7]], step = Math.max(1, Math.ceil(decades / (n + 1)))
  const within = (each) => {
    const out = []
    for (let e = Math.ceil(from / step) * step; e <= to; e += step) for (const v of each.map((m) => m * 10 ** e)) if (v >= lo && v <= hi) out.push(v)
    return out
  }
  let k = decades * 7 <= n ? 3 : decades * 3 <= n ? 2 : decades * 2 <= n ? 1 : 0, out = within(dense[k])
  while (out.length < 2 && k < 3) out = within(dense[++k]) // one number gives no scale
  return out.length < 2 ? ticks(lo, hi, Math.min(n, 5)) : out
}
