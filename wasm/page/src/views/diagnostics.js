// Diagnostics: everything that was skipped, repaired or assumed, and the account of
// every input's lines.
import { html, use, useState } from '../ui.js'
import * as store from '../store.js'
import { text, count } from '../format.js'
import { plainly } from '../reasons.js'
import { Choice } from '../widgets.js'
import { most, labelled } from '../many.js'

const doc = { error: 'could not be used', dataloss: 'the numbers miss it', notice: 'worth a look; the numbers stand', info: 'an assumption' }

// Diags lists diagnostics: what was found, what it means, where, and what to do.
export const Diags = ({ list }) => list.map((d, i) => html`<div class="diag" key=${i}><div><span class=${'severity ' + d.severity} title=${doc[d.severity]}>${d.severity}</span> <b>${d.code.replace(/_/g, ' ')}</b>${d.count > 1 && html` <span class="muted">${count(d.count)}×</span>`} <span class="muted">${doc[d.severity]}</span></div>
        <div class="msg">${d.msg}</div>${d.fix && html`<div class="fix">${d.fix}</div>`}<div class="where"><bdi>${d.file}</bdi>${d.line > 0 ? ':' + d.line : d.offset > 0 ? ', byte ' + count(d.offset) : ''}${d.count > 1 && d.line > 0 ? ' first' : ''}</div></div>`)

export function Diagnostics() {
  const r = use(store.report), [least, setLeast] = useState('all')
  const list = r.diags.filter((d) => least === 'all' || d.severity !== 'info')
  const notes = new Map() // with the runs that they are of
  for (const x of r.runs) for (const n of x.notes) notes.get(n)?.push(x.label) ?? notes.set(n, [x.label])
  return html`<section class="panel"><div class="figure-head"><h2>Diagnostics</h2><${Choice} label="Show" value=${least} onChange=${setLeast} options=${[['all', 'All'], ['some', 'Without assumptions']]} /></div>
      ${list.length ? html`<${Diags} list=${list} />` : html`<p class="muted">${r.diags.length ? 'Only assumptions.' : 'Nothing was skipped, repaired or assumed.'}</p>`}</section>
    <section class="panel"><h2>Inputs</h2><p class="sentence">Every line or record is in exactly one of the three parts.${r.inputs.length > most && ` The first ${most} of ${count(r.inputs.length)} inputs; Export has all.`}</p><div class="scroll" tabindex="0" role="region" aria-label="Inputs"><table class="table"><thead><tr><th>input</th><th>format</th><th class="num">size</th><th class="num">lines</th><th class="num">parsed</th><th class="num">diagnosed</th><th class="num">no data</th><th>holds</th><th>why this format</th></tr></thead>
      <tbody>${r.inputs.slice(0, most).map((x) => html`<tr key=${x.name}><td><bdi>${x.name}</bdi></td><td>${x.format || '—'}</td><td class="num">${text('bytes', x.bytes)}</td><td class="num">${count(x.total)}</td><td class="num">${count(x.parsed)}</td><td class="num">${count(x.diagnosed)}</td><td class="num">${count(x.noise)}</td><td>${Object.entries(x.kinds).map(([k, n]) => k.replace(/_/g, ' ') + ': ' + count(n)).join(', ') || '—'}</td><td class="muted reason">${x.reason}</td></tr>`)}</tbody></table></div></section>
    ${notes.size > 0 && html`<section class="panel"><h2>Notes</h2><ul class="findings">${Array.from(notes, ([n, of]) => html`<li key=${n}><span>${plainly(n)}${of.length < r.runs.length && html` <span class="muted">· ${labelled(of)}</span>`}</span></li>`)}</ul></section>`}
    ${r.runs.some((x) => x.config.length) && html`<section class="panel"><details><summary><b>Settings of the runs</b> <span class="muted">as their producers recorded them${r.runs.length > most && '; of the first ' + most}</span></summary>${r.runs.filter((x) => x.config.length).slice(0, most).map((x) => html`<h3>${x.label}</h3><dl class="fields">${x.config.map(([k, v]) => html`<dt>${k}</dt><dd>${v}</dd>`)}</dl>`)}</details></section>`}`
}
