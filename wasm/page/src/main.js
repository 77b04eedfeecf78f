// The page: drop files, see the report.
import { Engine } from '../engine/engine.js'

const out = document.querySelector('#app')
const say = text => { out.textContent = text }
const hold = fields => { globalThis.servescope = { ...globalThis.servescope, ...fields } }

async function show(engine, files) {
  try {
    const session = await engine.open(files, { onProgress: p => say(`${p.done} of ${p.total} bytes`) })
    hold({ session, error: null })
    say(JSON.stringify(await session.run({}), null, 2))
  } catch (error) {
    if (!globalThis.servescope.session || error.code !== 'empty') hold({ session: null, error })
    say(`${error.message}\n${error.hint}`)
  }
}

const starting = Engine.start()
document.addEventListener('dragover', e => e.preventDefault())
document.addEventListener('drop', async e => {
  e.preventDefault()
  const files = [...e.dataTransfer.files]
  show(await starting, files)
})
starting.then(engine => {
  hold({ engine })
  say(`drop files here: ${engine.formats.length} formats`)
}, error => say(error.message))
