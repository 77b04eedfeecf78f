// Limits of an SLO with sliders, and what they give at once.
import { html, use, useState, useEffect, useMemo } from './ui.js'
import * as store from './store.js'
import { text, parseDuration, duration, count } from './format.js'
import { known, quantile } from './stats.js'
import { metricName, Info, Null } from './widgets.js'
import { command, query, limits } from './query.js'

const offered = ['ttft', 'tpot', 'e2e']

export function setLimit(metric, max) {
  const rest = store.state.value.slo.filter((l) => l.metric !== metric)
  const slo = max === null ? rest : [...rest, { metric, max: Math.max(1, Math.round(max)) }]
  const order = (l) => (offered.indexOf(l.metric) + 10) % 10
  store.set({ slo: slo.sort((a, b) => order(a) - order(b) || (a.metric < b.metric ? -1 : 1)) })
}

export const limitOf = (slo, metric) => slo.find((l) => l.metric === metric)?.max ?? null

function Slider({ metric, sorted, max }) {
  const [typed, setTyped] = useState(null)
  const none = !sorted?.length
  const lo = none ? 1e6 : Math.max(1e3, sorted[0] * 0.8), hi = none ? 1e10 : Math.max(lo * 2, sorted[sorted.length - 1] * 1.25)
  const at = (v) => 1000 * Math.log(v / lo) / Math.log(hi / lo), back = (p) => Number((lo * (hi / lo) ** (p / 1000)).toPrecision(3))
  const unit = metric === 'tpot' ? 'ns/token' : 'ns'
  const name = metricName(metric)
  const commit = () => {
    if (typed === null) return
    const v = typed.trim() === '' ? null : parseDuration(typed, 'ms')
    if (typed.trim() === '' || v) setLimit(metric, v)
    else store.notice('“' + typed + '” is no limit: write a duration above 0, as 500ms or 1.5s')
    setTyped(null)
  }
  const marks = none ? [] : [0.5, 0.9, 0.99].map((p) => [p, quantile(sorted, p)])
  return html`<div class="limit">
    <label><span>${name} ≤</span><input class="short" value=${typed ?? (max === null ? '' : duration(max))} placeholder="—" aria-label=${name + ' limit; a duration such as 500ms'} onInput=${(e) => setTyped(e.target.value)} onBlur=${commit} onKeyDown=${(e) => e.key === 'Enter' && commit()} disabled=${none && max === null} /></label>
    <span class="track"><input type="range" min="0" max="1000" step="1" disabled=${none} value=${max === null ? 1000 : at(max)} class=${max === null ? 'unset' : ''} aria-label=${name + ' limit'} aria-valuetext=${max === null ? 'no limit' : text(unit, max)} onInput=${(e) => setLimit(metric, back(Number(e.target.value)))} />
      ${marks.map(([p, v]) => html`<i key=${p} style=${{ left: at(v) / 10 + '%' }} title=${'p' + p * 100 + ' ' + text(unit, v)}></i>`)}</span>
    ${max !== null && html`<button class="quiet small" aria-label=${'No limit on ' + name} onClick=${() => setLimit(metric, null)}>✕</button>`}
  </div>`
}

export function Limits() {
  const s = use(store.state), here = use(store.here), g = use(store.live), run = use(store.run)
  const sorted = useMemo(() => here ? Object.fromEntries(offered.map((m) => [m, here[m] ? known(here[m]) : null])) : {}, [here])
  if (!here || !here.n) return null
  const names = [...offered, ...s.slo.map((l) => l.metric).filter((m) => !offered.includes(m))]
  return html`<section class="limits" id="limits" aria-label="SLO and goodput">
    <div class="sliders">${names.map((m) => html`<${Slider} key=${m} metric=${m} sorted=${m in sorted ? sorted[m] : here[m] && known(here[m])} max=${limitOf(s.slo, m)} />`)}</div>
    <${Goodput} g=${g} run=${run} slo=${s.slo} />
  </section>`
}

export function Goodput({ g, run, slo }) {
  if (!g) return html`<p class="goodput muted">Goodput: set a limit</p>`
  const w = run.throughput.window_ns?.value, per = w ? g.good / (w / 1e9) : null
  const share = g.denominator ? (g.unknown ? text('ratio', g.low) + ' to ' + text('ratio', g.high) : text('ratio', g.low)) : null
  return html`<div class="goodput"><span><b>${share ?? '—'}</b> goodput</span>
    <span>${per === null ? html`<${Null} code="no_span" />` : text('requests/s', per)}</span>
    <span class="muted">${count(g.good)} of ${count(g.denominator)} req${g.unknown ? ', ' + count(g.unknown) + ' unknown' : ''}</span>
    <span class="bar" role="img" aria-label=${`${g.good} good, ${g.missed} missed, ${g.unknown} unknown`}><i class="good" style=${{ flexGrow: g.good }}></i><i class="unknown" style=${{ flexGrow: g.unknown }}></i><i class="missed" style=${{ flexGrow: g.missed }}></i></span>
    <${Info} label="goodput"><b>Goodput</b><span>Requests that are ok and meet every limit. Failed, aborted and empty requests are misses; a request that lacks a value is unknown and leaves bounds; a single token has no TPOT to miss.</span>
      <table class="table"><thead><tr><th>limit</th><th class="num">met</th><th class="num">missed</th><th class="num">n/a</th><th class="num">unknown</th></tr></thead><tbody>${g.conditions.map((c) => html`<tr><td>${metricName(c.metric)} ≤ ${duration(c.max)}</td><td class="num">${c.met}</td><td class="num">${c.missed}</td><td class="num">${c.inapplicable}</td><td class="num">${c.unknown}</td></tr>`)}
        ${Object.entries(g.byStatus).map(([k, n]) => html`<tr><td>status ${k}</td><td class="num"></td><td class="num">${n}</td><td></td><td></td></tr>`)}</tbody></table>
      ${g.waiting > 0 && html`<span>${g.waiting} open requests have missed nothing yet and are in no figure.</span>`}
      <code>${command('analyze', { slo: limits(slo) }, (store.session.value?.inputs || []).map((i) => i.name))}</code></${Info}></div>`
}
