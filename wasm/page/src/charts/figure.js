// A figure: title, one sentence that says what it shows, the chart, and the same as
// a table and as pictures. table is a function, for tables are long and rarely seen.
import { html, useState, useRef } from '../ui.js'
import { picture } from './picture.js'

export function Figure({ title, sentence, table, children, legend, class: cls, controls }) {
  const [shown, show] = useState(false), ref = useRef(null)
  return html`<figure class=${'figure ' + (cls || '')} ref=${ref}>
    <figcaption>
      <div class="figure-head"><h3>${title}</h3>${controls}
        <span class="grow"></span>
        <span class="tools">${table && html`<button class="quiet small" aria-pressed=${shown} onClick=${() => show(!shown)}>${shown ? 'Chart' : 'Table'}</button>`}
        ${!shown && ['png', 'svg'].map((kind) => html`<button class="quiet small" key=${kind} onClick=${() => picture(ref.current, title, sentence, kind)} aria-label=${`Save ${title} as ${kind.toUpperCase()}`}>${kind.toUpperCase()}</button>`)}</span>
      </div>
      <p class="sentence">${sentence}</p>
    </figcaption>
    ${shown && table ? html`<${Table} ...${table()} caption=${title} />` : html`${legend && html`<${Legend} items=${legend} />`}${children}`}
  </figure>`
}

// Table shows at most 500 rows; texts stand as they are.
export function Table({ head, rows, caption, first = 0 }) {
  const list = rows.slice(0, 500)
  return html`<div class="scroll" tabindex="0" role="region" aria-label=${caption}><table class="table"><thead><tr>${head.map((h, i) => html`<th scope="col" class=${i > first ? 'num' : ''}>${h}</th>`)}</tr></thead>
    <tbody>${list.map((r) => html`<tr>${r.map((c, i) => html`<td class=${i > first ? 'num' : ''}>${c}</td>`)}</tr>`)}</tbody></table>
    ${rows.length > list.length && html`<p class="muted">${rows.length - list.length} more rows are in the export</p>`}</div>`
}

export function Legend({ items }) {
  return html`<ul class="legend">${items.filter(Boolean).map((i) => i.kind === 'ramp' ? html`<li>${i.from}<span class="swatch ramp"></span>${i.to}</li>` : html`<li><span class=${'swatch ' + (i.kind || '')} style=${{ '--swatch': 'var(--' + i.color + ')' }}></span>${i.label}</li>`)}</ul>`
}
