// A figure: title, one sentence that says what it shows, the chart, and the same as
// a table and as a picture. table is a function, for tables are long and rarely seen.
import { html, useState, useRef, useEffect } from '../ui.js'
import { colors } from '../theme.js'
import { save } from '../save.js'
import { state, session, report, engine } from '../store.js'

export function Figure({ title, sentence, table, children, legend, class: cls, controls, bars }) {
  const [shown, show] = useState(false), ref = useRef(null)
  return html`<figure class=${'figure ' + (cls || '')} ref=${ref}>
    <figcaption>
      <div class="figure-head"><h3>${title}</h3>${controls}
        <span class="grow"></span>
        <span class="tools">${table && html`<button class="quiet small" aria-pressed=${shown} onClick=${() => show(!shown)}>${shown ? 'Chart' : 'Table'}</button>`}
        ${!bars && html`<button class="quiet small" onClick=${() => png(ref.current, title, sentence)} aria-label=${'Save ' + title + ' as PNG'}>PNG</button>`}</span>
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
  return html`<ul class="legend">${items.filter(Boolean).map((i) => html`<li><span class=${'swatch ' + (i.kind || '')} style=${{ '--swatch': 'var(--' + i.color + ')' }}></span>${i.label}</li>`)}</ul>`
}

// png draws the canvases of a figure as they stand, with the title above and where
// the data comes from below.
function png(figure, title, sentence) {
  const list = [...figure.querySelectorAll('canvas')]
  if (!list.length) return
  const c = colors(), scale = devicePixelRatio || 1, box = figure.getBoundingClientRect()
  const boxes = list.map((x) => x.getBoundingClientRect())
  const top = Math.min(...boxes.map((b) => b.top)), bottom = Math.max(...boxes.map((b) => b.bottom))
  const out = document.createElement('canvas'), head = 56, foot = 30
  out.width = box.width * scale
  out.height = (bottom - top + head + foot) * scale
  const g = out.getContext('2d')
  g.scale(scale, scale)
  g.fillStyle = c.panel
  g.fillRect(0, 0, box.width, bottom - top + head + foot)
  g.fillStyle = c.ink
  g.font = '600 15px ' + c.font
  g.fillText(title, 12, 22)
  g.font = '12px ' + c.font
  g.fillStyle = c.muted
  g.fillText(sentence || '', 12, 42, box.width - 24)
  list.forEach((x, i) => g.drawImage(x, boxes[i].left - box.left, boxes[i].top - top + head, boxes[i].width, boxes[i].height))
  const r = report.value, runs = r ? r.runs.map((x) => x.label).join(', ') : ''
  g.fillText([runs, state.value.file && 'sha-256 ' + state.value.file + '…', 'servescope ' + (engine.value?.version || '')].filter(Boolean).join(' · '), 12, bottom - top + head + 20, box.width - 24)
  out.toBlob((b) => save(title.replace(/[^\w]+/g, '-').toLowerCase() + '.png', b))
}
