// Saving: what the engine writes under the present selection.
import { html, use, useState } from './ui.js'
import * as store from './store.js'
import { query, command } from './query.js'
import { save } from './save.js'
import { markdown } from './markdown.js'
import { savedPage } from './document.js'
import { look } from './charts/picture.js'
import { Select } from './widgets.js'

const offers = [
  ['report.json', 'Report', 'JSON, the same bytes as servescope analyze --format json'],
  ['report.md', 'Report', 'Markdown, the main figures for an issue or a post-mortem; servescope analyze --format markdown writes all of them'],
  ['report.html', 'Page', 'HTML, one file with this report, its charts and the view that is open, which opens anywhere and loads nothing'],
  ['report.csv', 'Report', 'CSV, a row per figure'],
  ['requests.csv', 'Requests', 'CSV'],
  ['requests.parquet', 'Requests', 'Parquet'],
  ['requests.arrow', 'Requests', 'Arrow file (Feather)'],
  ['tokens.parquet', 'Tokens', 'Parquet, a row per chunk'],
  ['tokens.arrow', 'Tokens', 'Arrow file, a row per chunk'],
]

export function Export() {
  const [doing, setDoing] = useState(null), [failed, setFailed] = useState(null), s = use(store.state), { kind } = store.engine.value
  const go = async (what) => {
    setDoing(what)
    setFailed(null)
    try {
      if (what === 'report.html') save(what, await savedPage(), 'text/html')
      else if (what === 'report.md' && kind !== 'native') save(what, markdown(store.report.value, command('analyze', query(s), store.session.value.inputs.map((i) => i.name))), 'text/markdown')
      else {
        const f = await store.session.value.export(query(s), { what })
        save(f.name, f.bytes, f.type)
      }
    } catch (err) {
      setFailed(err.message + (err.hint ? '. ' + err.hint : ''))
    }
    setDoing(null)
  }
  return html`<p>${s.filter || s.times.length ? 'The filter and the range of time apply, and are written into the file.' : 'All requests. A filter or a range of time would apply.'} Prompts and outputs are in no file: they are dropped while reading.</p>
    ${failed && html`<p role="alert" class="bad">${failed}</p>`}
    <ul class="offers">${offers.filter(([what]) => kind !== 'saved' || what === 'report.md').map(([what, name, doc]) => html`<li key=${what}><button disabled=${doing !== null} onClick=${() => go(what)}><b>${name}</b> <code>${what.split('.').pop()}</code></button><span class="muted">${doing === what ? 'writing …' : doc}</span></li>`)}</ul>
    <div class="row"><span class="muted">Each chart has buttons that save it as PNG and SVG.</span><${Select} label="Pictures" value=${use(look)} options=${[['', 'as shown'], ['light', 'light'], ['dark', 'dark']]} onChange=${(v) => { look.value = v }} /></div>`
}
