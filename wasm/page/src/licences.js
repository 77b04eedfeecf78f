// The licences of the modules that are bundled into the page, which must go with it.
import uplot from '../vendor/uplot.LICENSE' with { type: 'text' }
import preact from '../vendor/preact.LICENSE' with { type: 'text' }
import signals from '../vendor/signals.LICENSE' with { type: 'text' }
import { html } from './ui.js'

const list = [['uPlot 1.6.32', uplot], ['Preact 10.29.8', preact], ['@preact/signals-core 1.14.5', signals],
  ['htm 3.1.1', 'Copyright 2018 Google Inc.\nLicensed under the Apache License, Version 2.0: https://www.apache.org/licenses/LICENSE-2.0']]

export const Licences = () => html`<details><summary>Licences of what the page contains</summary>${list.map(([name, text]) => html`<h3>${name}</h3><pre class="block">${text}</pre>`)}</details>`
