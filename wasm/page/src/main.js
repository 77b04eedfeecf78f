// The page: files are dropped, one selection drives seven views, and nothing leaves
// the machine.
import { html, render, use, useEffect, Component } from './ui.js'
import * as store from './store.js'
import * as theme from './theme.js'
import { Header, Selection, Minimap, Tabs, Progress, Notices, Live, Footer } from './shell.js'
import { Limits } from './limits.js'
import { Empty, Picker, Add, listen } from './drop.js'
import { keys, Help } from './keys.js'
import { Palette } from './palette.js'
import { Seal } from './seal.js'
import { Export } from './export.js'
import { Dialog } from './widgets.js'
import { Overview } from './views/overview.js'
import { Latency } from './views/latency.js'
import { Timeline } from './views/timeline.js'
import { Load } from './views/load.js'
import { Requests } from './views/requests.js'
import { Compare } from './views/compare.js'
import { Diagnostics } from './views/diagnostics.js'

const views = { overview: Overview, latency: Latency, timeline: Timeline, load: Load, requests: Requests, compare: Compare, diagnostics: Diagnostics }

// Guard keeps a fault of one view from taking the page with it.
class Guard extends Component {
  componentDidCatch(error) { this.setState({ error }) }
  render({ children, view }) {
    const { error, of } = this.state
    if (error && of === undefined) this.state.of = view
    if (error && this.state.of === view) return html`<section class="failure" role="alert"><h2>This view failed</h2><p>${String(error.message)}</p><p>The other views go on; the selection may be what this one cannot show.</p></section>`
    if (error) {
      this.state.error = null
      this.state.of = undefined
    }
    return children
  }
}

const dialogs = { help: ['Keys', Help], palette: ['Commands', Palette], seal: ['What this page can send', Seal], export: ['Save', Export], add: ['More files to compare', Add] }

function Panel() {
  const name = use(store.panel), close = () => { store.panel.value = null }
  if (!name) return null
  const [title, View] = dialogs[name]
  return html`<${Dialog} key=${name} title=${title} class=${name} onClose=${close}><${View} close=${close} /></${Dialog}>`
}

function App() {
  const r = use(store.report), s = use(store.state), st = use(store.status), waits = use(store.pending)
  useEffect(() => theme.apply(s.theme), [s.theme])
  useEffect(() => { document.title = r ? (store.run.value?.label || '') + ' · servescope' : 'servescope' }, [r])
  const View = views[s.view], ready = r && r.runs.length > 0
  return html`<${Header} /><${Progress} /><${Notices} />
    ${ready ? html`<${Selection} /><${Minimap} /><${Limits} /><${Tabs} />
      <main><div id="view" role="tabpanel" aria-labelledby=${'tab-' + s.view} class=${'view ' + s.view} aria-busy=${waits} data-ready=${st.phase === 'ready' && !waits ? '' : undefined}><h2 class="sr">${s.view[0].toUpperCase() + s.view.slice(1)}</h2><${Guard} view=${s.view}><${View} /></${Guard}></div></main><${Footer} />` : r ? html`<main class="view" data-ready=""><${Diagnostics} /></main>` : html`<${Empty} />`}
    <${Picker} /><${Panel} /><${Live} />`
}

theme.apply(store.state.value.theme)
theme.follow(() => store.state.value.theme)
addEventListener('popstate', store.follow)
addEventListener('hashchange', store.follow)
listen()
keys()
const root = document.getElementById('app')
root.replaceChildren()
render(html`<${App} />`, root)
store.start()
