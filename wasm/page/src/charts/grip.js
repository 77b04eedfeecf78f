// A value on an axis that is moved with the pointer or the arrow keys, as a limit is.
import { html, useRef } from '../ui.js'

// Grip lies over the line of its value. text(v) is what is read out; onChange(v) gets
// each value on the way, null when it is taken away.
export function Grip({ axis = 'x', value, label, text, onChange, scale, box }) {
  const held = useRef(false), across = axis === 'y'
  const [lo, hi] = across ? [box.y + box.h, box.y] : [box.x, box.x + box.w]
  const put = (px) => onChange(scale.invert(Math.min(Math.max(lo, hi), Math.max(Math.min(lo, hi), px))))
  const at = Math.min(Math.max(lo, hi), Math.max(Math.min(lo, hi), scale(value)))
  const move = (e) => {
    if (!held.current) return
    const r = e.currentTarget.parentElement.getBoundingClientRect()
    put(across ? e.clientY - r.top : e.clientX - r.left)
  }
  const key = (e) => {
    const by = { ArrowRight: 2, ArrowUp: 2, ArrowLeft: -2, ArrowDown: -2, PageUp: 20, PageDown: -20 }[e.key]
    if (by) put(at + by * Math.sign(hi - lo))
    else if (e.key === 'Home' || e.key === 'End') put(e.key === 'Home' ? lo : hi)
    else if (e.key === 'Delete' || e.key === 'Backspace') onChange(null)
    else return
    e.preventDefault()
    e.stopPropagation()
  }
  const place = across ? { left: box.x + 'px', width: box.w + 'px', top: at - 12 + 'px' } : { top: box.y + 'px', height: box.h + 'px', left: at - 12 + 'px' }
  return html`<div class=${'grip ' + axis} role="slider" tabindex="0" aria-label=${label} aria-orientation=${across ? 'vertical' : 'horizontal'} aria-valuemin=${Math.min(scale.invert(lo), scale.invert(hi))} aria-valuemax=${Math.max(scale.invert(lo), scale.invert(hi))} aria-valuenow=${value} aria-valuetext=${text(value)} style=${place}
    onPointerDown=${(e) => { if (e.button) return; held.current = true; e.currentTarget.setPointerCapture(e.pointerId) }} onPointerMove=${move} onPointerUp=${() => { held.current = false }} onPointerCancel=${() => { held.current = false }} onKeyDown=${key} title=${label + ': drag, or press the arrow keys; Delete takes it away'}></div>`
}
