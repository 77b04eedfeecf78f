// Lines over time, by uPlot, with one cursor for all that share a key.
import uPlot from '../../vendor/uplot.js'
import { html, useRef, useLayoutEffect, useSize, use, say } from '../ui.js'
import { colors, theme } from '../theme.js'
import { timeSteps, axis as axisScale, number, text } from '../format.js'
import { frame, right } from './plotarea.js'
import { paints } from './picture.js'
import { steps } from './steps.js'

// Lines draws series [{label, values, color, unit, dash, width, fill, stepped, read}] over t,
// in ns since the start; the last step holds until end. onRange(from, to) is a brush
// over time. read are the values that are told of a series that is drawn on another scale.
export function Lines({ t, series, height = 150, sync, onRange, unit, from, to, end, label, mini, instant }) {
  const [ref, width] = useSize(), host = useRef(null), plot = useRef(null), shown = use(theme), latest = useRef(null), last = useRef(end)
  latest.current = onRange
  last.current = end
  const reading = useRef(null)
  reading.current = (i) => '+' + text('ns', Math.max(0, t[i])) + '   ' + series.map((s) => s.label + ' ' + ((s.read || s.values)[i] === (s.read || s.values)[i] ? text(s.unit ?? unit, (s.read || s.values)[i]) : 'not recorded')).join('   ')
  const shape = JSON.stringify([series.map((s) => [s.label, s.color, s.dash, s.fill, s.stepped]), shown, height, unit, mini])
  useLayoutEffect(() => {
    if (!width) return
    const c = colors(), axis = (extra) => ({ stroke: c.muted, font: '11px ' + c.font, grid: { stroke: c.grid, width: 1 }, ticks: { show: false }, ...extra })
    const scaled = (u, list) => {
      const s = axisScale(u, list.filter((v) => v !== null))
      return list.map((v) => v === null ? '' : number(s, v))
    }
    plot.current = new uPlot({
      width, height, padding: mini ? [4, 0, 4, 0] : [20, right, 0, 0],
      legend: { show: false },
      cursor: { sync: sync ? { key: sync } : undefined, drag: { x: !!onRange, y: false, setScale: false }, points: { size: 5 } },
      scales: { x: { time: false }, y: { range: (u, lo, hi) => [Math.min(0, lo || 0), (hi || 0) > 0 ? hi * 1.08 : 1] } },
      axes: mini ? [{ show: false }, { show: false }] : [axis({ size: 24, incrs: timeSteps, values: (u, list) => { const s = axisScale('ns', list); return list.map((v, i) => number(s, v) + (i === list.length - 1 ? ' ' + s.symbol : '')) } }),
        axis({ size: 58, space: 28, values: (u, list) => scaled(unit, list) })],
      series: [{}, ...series.map((s) => ({ label: s.label, stroke: c[s.color], width: s.width || 1.5, dash: s.dash, fill: s.fill ? c[s.color] + '2e' : undefined, points: { show: false }, paths: s.stepped === false ? undefined : (u, i) => path(u, i, last.current), spanGaps: false }))],
      hooks: {
        // The unit of the numbers stands above them.
        draw: [(u) => {
          const symbol = mini || !unit ? '' : axisScale(unit, [u.scales.y.max]).symbol, g = u.ctx, k = devicePixelRatio || 1
          if (!symbol) return
          g.save()
          g.font = 11 * k + 'px ' + c.font
          g.fillStyle = c.muted
          g.textAlign = 'left'
          g.textBaseline = 'alphabetic'
          g.fillText(symbol, 2 * k, 11 * k)
          g.restore()
        }],
        setSelect: [(u) => {
          if (u.select.width < 3) return
          const a = u.posToVal(u.select.left, 'x'), b = u.posToVal(u.select.left + u.select.width, 'x')
          u.setSelect({ left: 0, width: 0, top: 0, height: 0 }, false)
          latest.current?.(Math.max(0, a), b)
        }],
        setCursor: [(u) => {
          if (!host.current) return
          const i = u.cursor.idx, el = host.current.nextElementSibling
          el.textContent = i === null || i === undefined ? '' : reading.current(i)
        }],
      },
    }, [[], ...series.map(() => [])], host.current)
    return () => {
      plot.current.destroy()
      plot.current = null
    }
  }, [width, shape])
  useLayoutEffect(() => {
    if (!plot.current) return
    const gap = (v) => v === v ? v : null
    plot.current.setData([Array.from(t), ...series.map((s) => Array.from(s.values, gap))], false)
    const lo = from ?? t[0] ?? 0, hi = to ?? t[t.length - 1] ?? 1
    plot.current.batch(() => {
      plot.current.redraw() // which asks for the range that was
      plot.current.setScale('x', { min: lo, max: hi > lo ? hi : lo + 1 })
    })
    if (!mini) paints(ref.current, (g, c) => again(g, c, { t, series, unit, width, height, lo, hi, end }))
  }, [width, shape, t, ...series.map((s) => s.values), from, to, end])
  // The arrow keys move the cursor from value to value and read it out.
  const at = useRef(-1)
  const key = (e) => {
    const u = plot.current, step = { ArrowRight: 1, ArrowLeft: -1, PageDown: 10, PageUp: -10 }[e.key]
    const to = e.key === 'Home' ? 0 : e.key === 'End' ? t.length - 1 : step ? Math.min(t.length - 1, Math.max(0, at.current + step)) : null
    if (to === null || !u || !t.length) return
    e.preventDefault()
    e.stopPropagation()
    at.current = to
    u.setCursor({ left: u.valToPos(t[to], 'x'), top: 0 })
    say(reading.current(to))
  }
  return html`<div class=${mini ? 'lines mini' : 'lines'} ref=${ref} role="img" tabindex="0" aria-label=${label + '. Arrow keys read its values.'} onKeyDown=${key}><div ref=${host}></div><div class="readout"></div></div>`
}

// path is a step line for uPlot, whose own ones end at the last value before a gap.
// What is filled is one area from gap to gap: as many rectangles take far longer.
function path(u, series, end) {
  const [t, values] = [u.data[0], u.data[series]], x = (v) => Math.round(u.valToPos(v, 'x', true)), y = (v) => Math.round(u.valToPos(v, 'y', true))
  const stroke = new Path2D(), fill = new Path2D(), zero = y(0)
  let right = null
  steps(t, values, end, (from, to, v, joined) => {
    const [a, b, h] = [x(from), x(to), y(v)]
    if (!joined) {
      if (right !== null) fill.lineTo(right, zero)
      stroke.moveTo(a, h)
      fill.moveTo(a, zero)
    } else stroke.lineTo(a, h)
    fill.lineTo(a, h)
    stroke.lineTo(b, h)
    fill.lineTo(b, h)
    right = b
  })
  if (right !== null) fill.lineTo(right, zero)
  return { stroke, fill, clip: null, flags: 1 }
}

// again draws the lines without uPlot, for pictures.
function again(g, c, { t, series, unit, width, height, lo, hi, end }) {
  let bottom = 0, top = 0
  for (const s of series) s.values.forEach((v, i) => {
    if (v === v && t[i] >= lo && t[i] <= hi) {
      bottom = Math.min(bottom, v)
      top = Math.max(top, v)
    }
  })
  const box = { x: 58, y: 20, w: width - 58 - right, h: height - 58 }
  const [sx, sy] = frame(g, c, box, { lo, hi: hi > lo ? hi : lo + 1, unit: 'ns', title: 'time' }, { lo: bottom, hi: top > 0 ? top * 1.08 : 1, unit, title: '' })
  g.save()
  g.beginPath()
  g.rect(box.x, box.y, box.w, box.h)
  g.clip()
  for (const s of series) {
    const step = s.stepped !== false
    if (s.fill && step) {
      g.fillStyle = c[s.color]
      g.globalAlpha = 0.18
      steps(t, s.values, end, (from, to, v) => g.fillRect(sx(from), sy(v), sx(to) - sx(from), sy(0) - sy(v)))
      g.globalAlpha = 1
    }
    g.strokeStyle = c[s.color]
    g.lineWidth = s.width || 1.5
    g.setLineDash(s.dash || [])
    g.beginPath()
    steps(t, s.values, end, (from, to, v, joined) => {
      joined ? g.lineTo(sx(from), sy(v)) : g.moveTo(sx(from), sy(v))
      if (step) g.lineTo(sx(to), sy(v))
    })
    g.stroke()
    g.setLineDash([])
  }
  g.restore()
}
