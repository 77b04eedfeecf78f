// The area that all charts on canvases share: scales, axes, grid, brush, pointer and
// a cursor for the keyboard.
import { html, useRef, useState, useEffect, useLayoutEffect, useSize, use, say } from '../ui.js'
import { colors, theme } from '../theme.js'
import { axis as axisScale, number, text, ticks, logTicks } from '../format.js'
import { paints } from './picture.js'
import { Grip } from './grip.js'

// scale maps [lo, hi] of values to [from, to] of pixels. A scale of its own (fn)
// maps values to what is then linear.
export function scale(axis, from, to) {
  const f = axis.fn || (axis.log ? Math.log : (v) => v), lo = f(axis.lo), hi = f(axis.hi)
  const back = axis.inverse || (axis.log ? Math.exp : (v) => v), k = hi > lo ? (to - from) / (hi - lo) : 0
  const s = (v) => from + (f(v) - lo) * k
  s.invert = (px) => back(k ? lo + (px - from) / k : lo)
  return s
}

const labels = (axis, n) => {
  if (axis.ticks) return axis.ticks.map(([v, label]) => [v, label])
  const list = axis.log ? logTicks(axis.lo, axis.hi, n) : ticks(axis.lo, axis.hi, n, axis.unit)
  const s = axisScale(axis.unit, list)
  return list.map((v) => [v, axis.format ? axis.format(v) : axis.log ? text(axis.unit, v) : number(s, v)])
}

const symbol = (axis, n) => axis.log || axis.ticks || axis.format ? '' : axisScale(axis.unit, ticks(axis.lo, axis.hi, n, axis.unit)).symbol

export function frame(g, c, box, x, y) {
  const nx = Math.max(3, Math.min(9, Math.floor(box.w / 90))), ny = Math.max(2, Math.min(6, Math.floor(box.h / 40)))
  const sx = scale(x, box.x, box.x + box.w), sy = scale(y, box.y + box.h, box.y)
  g.font = '11px ' + c.font
  g.lineWidth = 1
  g.strokeStyle = c.grid
  g.fillStyle = c.muted
  g.textAlign = 'center'
  g.textBaseline = 'top'
  let last = -Infinity
  for (const [v, label] of labels(x, nx)) {
    const px = Math.round(sx(v)) + 0.5, w = g.measureText(label).width
    if (px < box.x - 1 || px > box.x + box.w + 1) continue
    g.beginPath()
    g.moveTo(px, box.y)
    g.lineTo(px, box.y + box.h)
    g.stroke()
    const at = Math.min(px, box.x + box.w + 8 - w / 2)
    if (at - w / 2 < last + 6) continue
    g.fillText(label, at, box.y + box.h + 5)
    last = at + w / 2
  }
  g.textAlign = 'right'
  g.textBaseline = 'middle'
  let above = Infinity
  for (const [v, label] of labels(y, ny)) {
    const py = Math.round(sy(v)) + 0.5
    if (py < box.y - 1 || py > box.y + box.h + 1) continue
    g.beginPath()
    g.moveTo(box.x, py)
    g.lineTo(box.x + box.w, py)
    g.stroke()
    if (Math.abs(above - py) < 13) continue
    g.fillText(label, box.x - 6, py)
    above = py
  }
  g.textBaseline = 'alphabetic'
  g.fillStyle = c.muted
  g.textAlign = 'left'
  const ys = symbol(y, ny), xs = symbol(x, nx)
  const titled = (a, symbol) => a.title ? a.title + (symbol ? ' (' + symbol + ')' : '') : symbol
  g.fillText(titled(y, ys), 2, 11)
  g.textAlign = 'right'
  if (x.title) g.fillText(titled(x, xs), box.x + box.w, box.y + box.h + 31)
  else if (xs) g.fillText(xs, box.x + box.w + 11, box.y + box.h + 14)
  return [sx, sy]
}

// right is the room right of every chart, so that those of one time lie under each other.
export const right = 22

// PlotArea draws with draw(g, {c, sx, sy, box}). read(x, y, {sx, sy}) gives the text at
// a pointer, or null. brush is 'x' or 'xy' and calls onBrush(x0, x1, y0, y1). data is
// what the arrow keys walk: [{x, y, text, pick}], or {length, at} that makes them. onPick(x, y, scales) is a click, onDrag(x, y)
// a pointer that is down. grips are values that can be moved: see Grip.
export function PlotArea({ height = 260, x, y, draw, read, brush, onBrush, onPick, onDrag, data, label, left = 58, grips }) {
  const [ref, width] = useSize(), canvas = useRef(null), over = useRef(null)
  const shown = use(theme), [tip, setTip] = useState(null), [at, setAt] = useState(-1), drag = useRef(null)
  const box = { x: left, y: 20, w: Math.max(10, width - left - right), h: height - 20 - 38 }
  const sx = scale(x, box.x, box.x + box.w), sy = scale(y, box.y + box.h, box.y)
  useLayoutEffect(() => {
    if (!width) return
    const all = (g, c) => {
      const [fx, fy] = frame(g, c, box, x, y)
      g.save()
      g.beginPath()
      g.rect(box.x, box.y, box.w, box.h)
      g.clip()
      draw(g, { c, sx: fx, sy: fy, box })
      g.restore()
    }
    all(fit(canvas.current, width, height), colors())
    sized(over.current, width, height)
    paints(ref.current, all)
  }, [draw, x, y, width, height, shown])
  const paint = (f) => {
    if (!over.current) return // a chart that goes away loses the focus
    const g = fit(over.current, width, height)
    if (f) f(g, colors())
  }
  const point = (e) => {
    const r = canvas.current.getBoundingClientRect()
    return [e.clientX - r.left, e.clientY - r.top]
  }
  const clampX = (v) => Math.min(box.x + box.w, Math.max(box.x, v)), clampY = (v) => Math.min(box.y + box.h, Math.max(box.y, v))
  const move = (e) => {
    const [px, py] = point(e)
    if (drag.current && onDrag) return onDrag(sx.invert(clampX(px)), sy.invert(clampY(py)))
    if (drag.current) {
      const d = drag.current
      d.to = [clampX(px), clampY(py)]
      paint((g, c) => {
        const [y0, y1] = brush === 'xy' ? [d.from[1], d.to[1]] : [box.y, box.y + box.h]
        g.fillStyle = c.accent
        g.globalAlpha = 0.18
        g.fillRect(d.from[0], y0, d.to[0] - d.from[0], y1 - y0)
        g.globalAlpha = 1
        g.strokeStyle = c.accent
        g.strokeRect(d.from[0], y0, d.to[0] - d.from[0], y1 - y0)
      })
      return
    }
    const t = read && px >= box.x && px <= box.x + box.w && py >= box.y && py <= box.y + box.h ? read(sx.invert(px), sy.invert(py), { sx, sy, px, py, box }) : null
    setTip(t ? { px, py, ...(typeof t === 'string' ? { text: t } : t) } : null)
    paint(t && ((g, c) => cross(g, c, t.at ? sx(t.at[0]) : px, t.at ? sy(t.at[1]) : null, box)))
  }
  const up = (e) => {
    const d = drag.current
    drag.current = null
    paint(null)
    if (!d || onDrag) return
    const [px, py] = d.to || d.from
    if (Math.abs(px - d.from[0]) < 4 && (brush !== 'xy' || Math.abs(py - d.from[1]) < 4)) {
      onPick?.(sx.invert(px), sy.invert(py), { sx, sy, px, py, box })
      return
    }
    const xs = [d.from[0], px].sort((a, b) => a - b), ys = [d.from[1], py].sort((a, b) => a - b)
    onBrush?.(sx.invert(xs[0]), sx.invert(xs[1]), sy.invert(ys[1]), sy.invert(ys[0]))
  }
  const key = (e) => {
    if (!data?.length) return
    const step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[e.key]
    const to = e.key === 'Home' ? 0 : e.key === 'End' ? data.length - 1 : step ? Math.min(data.length - 1, Math.max(0, at + step)) : null
    if (to === null) {
      if (e.key === 'Enter') at >= 0 && data.at(at)?.pick?.()
      return
    }
    e.preventDefault()
    e.stopPropagation()
    setAt(to)
    const d = data.at(to)
    setTip({ px: sx(d.x), py: d.y === undefined ? box.y + 20 : sy(d.y), text: d.text })
    paint((g, c) => cross(g, c, sx(d.x), d.y === undefined ? null : sy(d.y), box))
    say(d.text)
  }
  const down = (e) => {
    if (e.button) return
    const [px, py] = point(e)
    drag.current = { from: [clampX(px), clampY(py)] }
    if (brush || onDrag) e.target.setPointerCapture(e.pointerId)
    onDrag?.(sx.invert(clampX(px)), sy.invert(clampY(py)))
  }
  return html`<div class="area"><div class="plot" ref=${ref} style=${{ height: height + 'px' }} tabindex="0" role="img" aria-label=${label + (data?.length ? '. Arrow keys read its values.' : '')}
      onKeyDown=${key} onBlur=${() => { setTip(null); paint(null) }}>
    <canvas ref=${canvas}></canvas>
    <canvas ref=${over} class=${'over' + (brush ? ' brush' : '')} onPointerMove=${move} onPointerLeave=${() => { if (!drag.current) { setTip(null); paint(null) } }}
      onPointerDown=${down} onPointerUp=${up}></canvas>
    ${tip && html`<div class=${'tip' + (tip.px > width / 2 ? ' left' : '')} style=${{ left: tip.px + 'px', top: Math.max(0, Math.min(height - 60, tip.py - 10)) + 'px' }}>${tip.text.split('\n').map((l, i) => html`<div key=${i}>${l}</div>`)}</div>`}
  </div>${width > 0 && grips?.map((p) => html`<${Grip} key=${p.label} ...${p} scale=${p.axis === 'y' ? sy : sx} box=${box} />`)}</div>`
}

function cross(g, c, px, py, box) {
  g.strokeStyle = c.muted
  g.setLineDash([3, 3])
  g.beginPath()
  g.moveTo(Math.round(px) + 0.5, box.y)
  g.lineTo(Math.round(px) + 0.5, box.y + box.h)
  g.stroke()
  g.setLineDash([])
  if (py === null) return
  g.fillStyle = c.accent
  g.beginPath()
  g.arc(px, py, 4, 0, 7)
  g.fill()
}

// sized gives a canvas its size, in the screen's pixels, where it has another. What is
// pointed at is found by the canvas above the chart, which nothing may be drawn on yet.
function sized(canvas, width, height) {
  const k = devicePixelRatio || 1
  if (canvas.width === Math.round(width * k) && canvas.height === Math.round(height * k) && canvas.style.width) return
  canvas.width = Math.round(width * k)
  canvas.height = Math.round(height * k)
  canvas.style.width = width + 'px'
  canvas.style.height = height + 'px'
}

// fit sizes a canvas, clears it and returns its context.
export function fit(canvas, width, height) {
  sized(canvas, width, height)
  const g = canvas.getContext('2d'), k = devicePixelRatio || 1
  g.setTransform(k, 0, 0, k, 0, 0)
  g.clearRect(0, 0, width, height)
  return g
}

// acrossLine is a horizontal limit.
export function acrossLine(g, { c, sy, box }, v) {
  g.strokeStyle = c.limit
  g.lineWidth = 1.5
  g.setLineDash([5, 3])
  g.beginPath()
  g.moveTo(box.x, sy(v))
  g.lineTo(box.x + box.w, sy(v))
  g.stroke()
  g.setLineDash([])
}

// limitLine is a vertical limit: a dashed line with its text.
export function limitLine(g, { c, sx, box }, v, label) {
  const px = Math.round(sx(v)) + 0.5
  g.strokeStyle = g.fillStyle = c.limit
  g.lineWidth = 1.5
  g.setLineDash([5, 3])
  g.beginPath()
  g.moveTo(px, box.y)
  g.lineTo(px, box.y + box.h)
  g.stroke()
  g.setLineDash([])
  g.font = '11px ' + c.font
  g.textAlign = px > box.x + box.w - 90 ? 'right' : 'left'
  g.fillText(label, px + (g.textAlign === 'right' ? -10 : 10), box.y + box.h - 8)
}
