// Recomputes metrics from raw files, in a way of its own: exact integers
// (BigInt nanoseconds), no histogram, no streaming, each tool's definition
// written out as in its documentation. A Go test compares the results with the
// analyzer's; by hand: node recompute.mjs FILE...
//
// It prints {file: {definition: {metric: {n, mean, std, min, max, p50, p90, p99}}}}
// with times in nanoseconds; rates are numbers.

import { readFileSync } from 'node:fs'

// parse reads JSON documents that stand behind one another; numbers stay text,
// because a float64 does not hold a time of the epoch to the nanosecond.
function parse(text) {
  const marked = text.replace(/"(?:[^"\\]|\\.)*"|-?Infinity|NaN|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g, (t) =>
    t[0] === '"' ? t : /[IN]/.test(t) ? 'null' : JSON.stringify('#' + t))
  const docs = []
  let depth = 0, start = -1, quoted = false
  for (let i = 0; i < marked.length; i++) {
    const c = marked[i]
    if (quoted) {
      if (c === '\\') i++
      else if (c === '"') quoted = false
    } else if (c === '"') quoted = true
    else if (c === '{' || c === '[') { if (depth++ === 0) start = i }
    else if ((c === '}' || c === ']') && --depth === 0) docs.push(JSON.parse(marked.slice(start, i + 1)))
  }
  return docs
}

const isNumber = (v) => typeof v === 'string' && v[0] === '#'
const int = (v) => (isNumber(v) ? Number(v.slice(1)) : /^\d+$/.test(v ?? '') ? Number(v) : null)

// ns turns decimal seconds into nanoseconds, rounded half to even.
function ns(v) {
  if (!isNumber(v)) return null
  const m = /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(v.slice(1))
  const fraction = m[3] ?? ''
  let digits = BigInt(m[2] + fraction)
  const shift = 9 - fraction.length + Number(m[4] ?? 0)
  if (shift >= 0) digits *= 10n ** BigInt(shift)
  else {
    const unit = 10n ** BigInt(-shift)
    let q = digits / unit
    const rest = 2n * (digits % unit)
    if (rest > unit || (rest === unit && q % 2n === 1n)) q++
    digits = q
  }
  return m[1] ? -digits : digits
}

const sum = (list) => list.reduce((a, b) => a + b, 0n)

// Requests: {ok, empty, start, event, token, answer, last, finish, decode (ns or null),
// n, client, reasoning, prompt, gaps, tokens}.

function vllmBench(doc) {
  const list = []
  for (let i = 0; i < doc.ttfts.length; i++) {
    const start = doc.start_times ? ns(doc.start_times[i]) : 0n
    const gaps = doc.itls[i].map(ns)
    const token = start + ns(doc.ttfts[i])
    const n = int(doc.output_lens[i])
    list.push({
      ok: (doc.errors?.[i] ?? '') === '' && n > 0, placed: !!doc.start_times,
      start, event: null, token, answer: null, last: token + sum(gaps), finish: null, decode: null,
      n, client: null, reasoning: null, prompt: int(doc.input_lens[i]), gaps, tokens: null, native: 'vllm-2026',
    })
  }
  return { requests: list, duration: ns(doc.duration) }
}

function tokenlog(docs) {
  const list = docs.map((d) => {
    const failed = !!d.error || d.status === 'failed' || d.error_class
    const stamps = (d.token_timestamps ?? []).map(ns)
    return {
      ok: !failed && stamps.length > 0, empty: !failed && stamps.length === 0, placed: true, start: ns(d.arrival ?? d.sent), event: ns(d.first_event), token: stamps[0] ?? null,
      answer: ns(d.first_answer_token), last: stamps.at(-1) ?? null, finish: ns(d.finished), decode: null,
      n: int(d.output_tokens), client: int(d.client_tokens), reasoning: int(d.reasoning_tokens), reasons: d.token_kind === 'reasoning', spec: int(d.spec_accepted) > 0, prompt: int(d.prompt_tokens),
      gaps: stamps.slice(1).map((t, i) => t - stamps[i]), tokens: d.chunk_tokens?.map(int) ?? null, native: '',
    }
  })
  return { requests: list, duration: null }
}

function spans(docs) {
  const list = []
  for (const doc of docs) for (const r of doc.resourceSpans) for (const s of r.scopeSpans) for (const span of s.spans) {
    if (span.name !== 'llm_request') continue
    const of = {}
    for (const a of span.attributes) of[a.key] = a.value.doubleValue ?? a.value.intValue ?? a.value.stringValue
    const ttft = ns(of['gen_ai.latency.time_to_first_token'])
    list.push({
      ok: true, placed: false, start: 0n, event: null, token: ttft, answer: null, last: null, finish: ns(of['gen_ai.latency.e2e']), decode: ns(of['gen_ai.latency.time_in_model_decode']),
      n: int(of['gen_ai.usage.completion_tokens']), client: null, reasoning: null, prompt: int(of['gen_ai.usage.prompt_tokens']), gaps: null, tokens: null, native: '',
    })
  }
  return { requests: list, duration: null }
}

// Quantiles of sorted numbers with weights of 1, and of [value, weight] pairs.
const linear = (x, q) => {
  const h = (x.length - 1) * q, i = Math.min(Math.floor(h), x.length - 1), j = Math.min(i + 1, x.length - 1)
  return x[i] + (x[j] - x[i]) * (h - i)
}
const index = (x, q) => x[Math.min(Math.floor(x.length * q), x.length - 1)]
const nearest = (x, q) => weighted(x.map((v) => [v, 1]), q)
function weighted(pairs, q) {
  const total = pairs.reduce((a, p) => a + p[1], 0)
  let seen = 0
  for (const [v, w] of pairs) if ((seen += w) / total >= q) return v
  return pairs.at(-1)[0]
}

function stats(values, quantile, whole = false) {
  const x = values.map(Number).sort((a, b) => a - b)
  if (x.length === 0) return { n: 0 }
  let mean = x.reduce((a, b) => a + b, 0) / x.length
  const std = Math.sqrt(x.reduce((a, b) => a + (b - mean) ** 2, 0) / x.length)
  if (whole) mean = Math.floor(mean)
  return { n: x.length, mean, std, min: x[0], max: x.at(-1), p50: quantile(x, 0.5), p90: quantile(x, 0.9), p99: quantile(x, 0.99) }
}

function statsOfPairs(pairs, n) {
  const x = pairs.filter((p) => p[1] > 0).sort((a, b) => a[0] - b[0])
  if (x.length === 0) return { n: 0 }
  const total = x.reduce((a, p) => a + p[1], 0)
  const mean = x.reduce((a, p) => a + p[0] * p[1], 0) / total
  return { n: n ?? total, mean, min: x[0][0], max: x.at(-1)[0], p50: weighted(x, 0.5), p90: weighted(x, 0.9), p99: weighted(x, 0.99) }
}

const quotient = (d, n) => Number(d) / n

// ended is where E2E ends: at the last token, else, where none is recorded, with
// the response.
const ended = (q) => q.last ?? q.finish

// content is the first chunk of the answer: none where a response ends while it
// is reasoning.
const content = (q) => (q.answer !== null ? q.answer : q.reasons ? null : q.token)

// choices is the first chunk with choices; a client that saw no other says so by
// its first token.
const choices = (q) => q.event ?? (q.native === 'vllm-2026' ? q.token : null)

const over = (q) => q.finish ?? q.last

// What each tool computes. Null stands for what a log does not tell.
const tools = {
  default(r) {
    return common(r, { first: (q) => q.token, end: ended, n: (q) => q.n, strict: true, list: (q) => q.gaps })
  },
  'vllm-2026'(r) {
    const list = (q) => (choices(q) === null ? null : q.event !== null && q.token > q.event ? [q.token - q.event, ...q.gaps] : q.gaps)
    return common(r, { first: choices, end: ended, n: (q) => q.n, silent: true, list })
  },
  'vllm-2024'(r) {
    return common(r, { first: content, end: over, n: (q) => q.n, silent: true, list: answers })
  },
  sglang(r) {
    const list = (q) => {
      const gaps = answers(q)
      if (gaps === null || !q.spec || q.tokens === null) return gaps
      const tokens = q.tokens.slice(q.tokens.length - gaps.length)
      return gaps.flatMap((g, i) => Array(tokens[i]).fill(quotient(g, tokens[i])))
    }
    return common(r, { first: content, end: over, n: (q) => q.n, silent: true, list })
  },
  aiperf(r) {
    const n = (q) => (q.client === null ? null : q.client + (q.reasons ? q.reasoning : 0))
    return common(r, { first: (q) => q.token, end: ended, n, list: (q) => (q.gaps?.every((g) => g > 0n) ? q.gaps : null) })
  },
  'genai-perf'(r) {
    return common(r, { first: content, end: ended, n: (q) => q.client, strict: true, list: () => null })
  },
  'inference-perf': (r) => inferencePerf(r, (q) => q.client),
  'inference-perf-server': (r) => inferencePerf(r, (q) => q.n),
  llmperf(r) {
    const out = common(r, { first: content, end: over, n: (q) => (q.client === null ? null : q.client + 1), silent: true, list: () => null })
    const counted = r.filter((q) => q.last !== null && q.event !== null && q.gaps !== null)
    out.chunk_gap = stats(counted.map((q) => quotient(q.last - q.start, q.gaps.length + 1 + (q.event < q.token ? 1 : 0))), linear)
    out.tpot = { n: 0 }
    for (const m of Object.values(out)) if (m.n > 0) m.std *= Math.sqrt(m.n / (m.n - 1)) // pandas divides by n - 1
    return out
  },
  databricks(r) {
    const out = common(r, { first: (q) => q.token, end: ended, n: (q) => q.n, list: () => null })
    out.tpot = stats(r.filter((q) => q.ok && q.n >= 1 && ended(q) !== null).map((q) => quotient(ended(q) - q.token, q.n)), linear)
    return out
  },
  guidellm(r) {
    const out = common(r, { first: (q) => q.token, end: over, n: (q) => q.n, quantile: nearest, silent: true, list: () => null })
    const dated = r.filter((q) => q.last !== null)
    out.tpot = statsOfPairs(dated.map((q) => [quotient(q.last - q.start, q.n), q.n]), dated.length)
    out.chunk_gap = statsOfPairs(dated.filter((q) => q.n > 1).map((q) => [quotient(q.last - q.token, q.n - 1), q.n - 1]))
    return out
  },
  mlperf(r) {
    const out = common(r, { first: (q) => q.token, end: ended, n: (q) => q.n, quantile: index, list: () => null, whole: true })
    const dated = r.filter((q) => q.ok && q.n > 1 && ended(q) !== null)
    out.tpot = stats(dated.map((q) => (ended(q) - q.token) / BigInt(q.n - 1)), index, true)
    return out
  },
}

// inferencePerf takes all tokens of a chunk to have come at its time.
function inferencePerf(requests, n) {
  const times = (q) => {
    if (q.empty || content(q) === null) return []
    const list = []
    let t = q.token
    for (let i = 0; i <= q.gaps.length; i++) {
      if (i > 0) t += q.gaps[i - 1]
      if (t >= content(q)) for (let k = 0; k < q.tokens[i]; k++) list.push(t)
    }
    return list
  }
  const out = common(requests, { first: content, end: over, n, silent: true, list: () => null })
  if (requests.some((q) => q.ok && (q.tokens === null || n(q) === null))) return { output_tokens: out.output_tokens }
  const long = requests.filter((q) => q.ok && n(q) > 1 && content(q) !== null)
  out.ttft = stats(long.map((q) => content(q) - q.start), linear)
  out.tpot = stats(long.map((q) => quotient(q.last - content(q), n(q) - 1)), linear)
  out.chunk_gap = stats(requests.flatMap((q) => { const t = times(q); return t.slice(1).map((v, i) => v - t[i]) }), linear)
  out.ntpot = stats(requests.map((q) => (n(q) > 0 ? quotient(over(q) - q.start, n(q)) : 0)), linear)
  return out
}

// answers are the gaps between chunks of the answer.
function answers(q) {
  if (q.gaps === null || content(q) === null) return null
  let t = q.token, i = 0
  while (i < q.gaps.length && t < content(q)) t += q.gaps[i++]
  return q.gaps.slice(i)
}

function common(requests, { first, end, n, quantile = linear, list, strict = false, whole = false, silent = false }) {
  const known = (values) => values.filter((v) => v !== null)
  const some = silent ? requests : requests.filter((q) => q.ok) // whose latencies count
  const begin = (q) => (first(q) !== null && (q.ok || first(q) === q.event) ? first(q) : silent && (q.empty || q.reasons) ? q.start : null)
  const pace = (q) => {
    const to = strict && n(q) === q.n ? q.last : end(q) // by default TPOT ends at a last token or nowhere
    if (n(q) === null || n(q) < 2) return null
    if (begin(q) !== null && to !== null) {
      const d = to - begin(q)
      return strict && d === 0n ? null : quotient(d, n(q) - 1)
    }
    return strict && q.decode !== null ? quotient(q.decode, n(q) - 1) : null
  }
  return {
    ttft: stats(known(some.map((q) => (begin(q) === null ? null : begin(q) - q.start))), quantile, whole),
    e2e: stats(some.filter((q) => end(q) !== null).map((q) => end(q) - q.start), quantile, whole),
    tpot: stats(known(some.map(pace)), quantile),
    chunk_gap: stats(requests.filter((q) => q.ok).flatMap((q) => list(q) ?? []), quantile),
    output_tokens: stats(known(some.map(n)), quantile),
    prompt_tokens: stats(requests.map((q) => q.prompt), quantile),
  }
}

const least = (list) => list.reduce((a, b) => (b < a ? b : a))
const most = (list) => list.reduce((a, b) => (b > a ? b : a))

// rates are tokens and requests per second. Each tool has a duration of its own;
// a file of vLLM's client tells it.
function rates({ requests, duration }) {
  const ok = requests.filter((q) => q.ok), good = requests.filter((q) => q.ok || q.empty)
  const total = (list, n) => list.reduce((a, q) => a + n(q), 0)
  const per = (list, n, dt) => ({ tps_decode: (total(list, n) * 1e9) / Number(dt), request_rate: (list.length * 1e9) / Number(dt) })
  const server = (q) => q.n ?? 0, out = {}
  if (duration !== null) for (const tool of ['vllm-2024', 'vllm-2026', 'sglang']) out[tool] = per(good, server, duration)
  const start = least(requests.map((q) => q.start))
  if (!requests.every((q) => q.placed)) {
    if (duration !== null) out.default = { tps: (total(ok, server) * 1e9) / Number(duration), request_rate: (requests.length * 1e9) / Number(duration) }
    return out
  }
  const lasts = requests.map((q) => q.last).filter((t) => t !== null)
  const dt = most(lasts) - start
  out.default = { tps: (total(ok, server) * 1e9) / Number(dt), request_rate: (requests.length * 1e9) / Number(dt) }
  out.databricks = { tps_decode: out.default.tps }
  if (requests.some((q) => q.finish === null)) return out // the ends of some are not told
  const whole = most(requests.map((q) => q.finish)) - start
  for (const tool of ['vllm-2024', 'vllm-2026', 'sglang', 'guidellm', 'inference-perf-server']) out[tool] ??= per(good, server, whole)
  out.mlperf = per(ok, server, most(ok.map((q) => ended(q) - q.start)))
  if (requests.some((q) => q.ok && q.client === null)) return out
  const success = most(ok.map(ended)) - least(ok.map((q) => q.start))
  out['inference-perf'] = per(good, (q) => q.client, whole)
  out.llmperf = per(good, (q) => q.client + 1, whole)
  out.aiperf = per(ok, (q) => q.client + (q.reasons ? q.reasoning : 0), success)
  out['genai-perf'] = per(ok, (q) => q.client, success)
  return out
}

function read(name) {
  const docs = parse(readFileSync(name, 'utf8'))
  if (docs[0].ttfts) return vllmBench(docs[0])
  if (docs[0].resourceSpans) return spans(docs)
  return tokenlog(docs)
}

const results = {}
for (const name of process.argv.slice(2)) {
  const run = read(name)
  const good = run.requests.filter((q) => q.ok || q.empty), per = rates(run)
  results[name] = {}
  for (const [tool, compute] of Object.entries(tools)) results[name][tool] = { metrics: compute(good), rates: per[tool] ?? {} }
}
console.log(JSON.stringify(results))
