// A figure as a picture: PNG, or SVG. The charts are drawn anew, with the title and
// the sentence above, the legend, and where the data come from below. What is laid out
// by the browser (legends, bars, small headings) is drawn where it stands.
import { colors, theme, shown, ramp } from '../theme.js'
import { labelled } from '../many.js'
import { save } from '../save.js'
import { Svg } from './svg.js'
import { state, report, engine } from '../store.js'
import { query } from '../query.js'
import { signal } from '../ui.js'

const painters = new WeakMap()

// paints says how the chart on an element is drawn: draw(g, colours).
export const paints = (element, draw) => painters.set(element, draw)

// look is the theme of pictures: '' is the one that is shown.
export const look = signal('')

const pad = 14

export function picture(figure, title, sentence, kind) {
  const done = shown(look.value || theme.value)
  try {
    if (kind === 'svg') {
      const g = new Svg(), [w, h] = paint(g, figure, title, sentence, () => {})
      save(named(title) + '.svg', g.text(w, h), 'image/svg+xml')
      return
    }
    const canvas = document.createElement('canvas'), scale = Math.max(2, devicePixelRatio || 1)
    paint(canvas.getContext('2d'), figure, title, sentence, (w, h) => {
      canvas.width = Math.ceil(w * scale)
      canvas.height = Math.ceil(h * scale)
      canvas.getContext('2d').scale(scale, scale)
    })
    canvas.toBlob((b) => save(named(title) + '.png', b))
  } finally {
    done()
  }
}

const named = (title) => title.replace(/[^\p{L}\p{N}]+/gu, '-').toLowerCase().slice(0, 80)

// source is what a picture is of: runs, selection, file and program.
function source() {
  const q = query(state.value), r = report.value
  return [r && labelled(r.runs.map((x) => x.label)), q.filter, q.from && q.from + ' to ' + q.to, q.slo && 'slo ' + q.slo, r && 'definitions ' + r.definition.name, state.value.file && 'sha-256 ' + state.value.file + '…', ['servescope', engine.value?.version].filter(Boolean).join(' ')].filter(Boolean).join(' · ')
}

function paint(g, figure, title, sentence, size) {
  const c = colors(), all = [...figure.querySelectorAll('.plot, .lines, .legend, .stack, h4')].filter((e) => e.getClientRects().length)
  const box = figure.getBoundingClientRect(), rects = all.map((e) => e.getBoundingClientRect())
  const top = Math.min(...rects.map((r) => r.top)), bottom = Math.max(...rects.map((r) => r.bottom)), left = Math.min(...rects.map((r) => r.left))
  const wide = Math.max(420, Math.max(...rects.map((r) => r.right)) - left) + 2 * pad
  g.font = '12.5px ' + c.font
  const lines = [...wrap(g, sentence || '', wide - 2 * pad)], notes = wrap(g, source(), wide - 2 * pad)
  const head = 34 + 17 * lines.length, height = head + bottom - top + 16 + 16 * notes.length + 8
  size(wide, height)
  g.fillStyle = c.panel
  g.fillRect(0, 0, wide, height)
  write(g, '600 15px ' + c.font, c.ink, title, pad, 24)
  lines.forEach((l, i) => write(g, '12.5px ' + c.font, c.muted, l, pad, 42 + 17 * i))
  all.forEach((e, i) => {
    g.save()
    g.translate(rects[i].left - left + pad, rects[i].top - top + head)
    if (painters.has(e)) painters.get(e)(g, c)
    else if (e.matches('.legend')) legend(g, c, e, rects[i])
    else if (e.matches('.stack')) stack(g, c, e, rects[i])
    else write(g, '600 12.5px ' + c.font, c.ink, e.textContent, 0, 15)
    g.restore()
  })
  notes.forEach((l, i) => write(g, '11px ' + c.font, c.muted, l, pad, head + bottom - top + 24 + 16 * i))
  return [wide, height]
}

function write(g, font, color, text, x, y, align = 'left') {
  g.font = font
  g.fillStyle = color
  g.textAlign = align
  g.fillText(text, x, y)
}

function wrap(g, text, width) {
  const out = []
  for (const word of text.split(' ')) {
    const line = out.length ? out[out.length - 1] + ' ' + word : word
    if (out.length && g.measureText(line).width <= width) out[out.length - 1] = line
    else out.push(word)
  }
  return out
}

const at = (e, origin) => {
  const r = e.getBoundingClientRect()
  return [r.left - origin.left, r.top - origin.top, r.width, r.height]
}

// fill draws one colour, or two in stripes where parts are measured together.
function fill(g, e, [x, y, w, h]) {
  const css = getComputedStyle(e), one = css.getPropertyValue('--swatch').trim(), two = css.getPropertyValue('--swatch2').trim()
  g.fillStyle = one
  g.fillRect(x, y, w, h)
  if (!two || two === one) return
  g.save()
  g.beginPath()
  g.rect(x, y, w, h)
  g.clip()
  g.strokeStyle = two
  g.lineWidth = 5
  for (let k = x - h; k < x + w; k += 14) {
    g.beginPath()
    g.moveTo(k, y + h)
    g.lineTo(k + h, y)
    g.stroke()
  }
  g.restore()
}

function legend(g, c, e, origin) {
  for (const li of e.querySelectorAll('li')) {
    const swatch = li.querySelector('.swatch'), [x, y, w, h] = at(swatch, origin)
    if (swatch.matches('.ramp')) {
      for (let k = 0; k < w; k++) {
        g.fillStyle = 'rgb(' + ramp(c, k / w).join() + ')'
        g.fillRect(x + k, y, 1.5, h)
      }
      write(g, '12px ' + c.font, c.muted, li.firstChild.textContent, x - 6, y + h / 2 + 4, 'right')
      write(g, '12px ' + c.font, c.muted, li.lastChild.textContent, x + w + 6, y + h / 2 + 4)
      continue
    }
    if (swatch.matches('.dash')) for (const k of [0, 7]) fill(g, swatch, [x + k, y, 5, h])
    else if (swatch.matches('.hatch')) {
      g.strokeStyle = getComputedStyle(swatch).getPropertyValue('--swatch').trim()
      g.strokeRect(x + 0.5, y + 0.5, w - 1, h - 1)
    } else fill(g, swatch, [x, y, w, h])
    write(g, '12px ' + c.font, c.muted, li.textContent, x + w + 6, y + h / 2 + 4)
  }
}

function stack(g, c, e, origin) {
  for (const row of e.querySelectorAll('.bar-row')) {
    const [name, bar, total] = row.children
    for (const line of [name.firstChild, name.querySelector('small')]) {
      if (!line?.textContent) continue
      const range = document.createRange()
      range.selectNodeContents(line)
      const r = range.getClientRects()[0], small = line.nodeType === 1
      if (r) wrap(g, line.textContent, 1e4).forEach((l) => write(g, (small ? '11px ' : '12.5px ') + c.font, small ? c.muted : c.ink, l, r.left - origin.left + (getComputedStyle(name).textAlign === 'right' ? name.getBoundingClientRect().right - r.left : 0), r.bottom - origin.top - 4, getComputedStyle(name).textAlign === 'right' ? 'right' : 'left'))
    }
    for (const part of bar.querySelectorAll('span')) {
      const p = at(part, origin), b = part.querySelector('b')
      fill(g, part, [p[0], p[1], Math.max(1, p[2] - 1), p[3]])
      if (b) {
        const [x, y, w, h] = at(b, origin)
        if (part.matches('.merged')) {
          g.fillStyle = c.panel
          g.fillRect(x, y, w, h)
        }
        write(g, '500 11px ' + c.font, part.matches('.merged') ? c.ink : getComputedStyle(part).color, b.textContent, x + w / 2, y + h / 2 + 4, 'center')
      }
    }
    const [x, y, , h] = at(total, origin)
    write(g, '13px ' + c.font, c.ink, total.textContent, x, y + h / 2 + 5)
  }
}
