// The view library: preact components written as htm templates, and signals that
// redraw the components that read them. Texts in templates become text nodes, so
// that what a log holds is never markup.
import { h, render, Component } from '../vendor/preact.js'
import { useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback } from '../vendor/hooks.js'
import { signal, computed, effect, batch } from '../vendor/signals.js'
import htm from '../vendor/htm.js'

export const html = htm.bind(h)
export { h, render, Component, useState, useEffect, useLayoutEffect, useRef, useMemo, useCallback, signal, computed, effect, batch }

// use returns the value of a signal and redraws the component when it changes.
export function use(sig) {
  const [, set] = useState(0)
  useLayoutEffect(() => {
    let first = true
    return effect(() => {
      sig.value
      if (!first) set((n) => n + 1)
      first = false
    })
  }, [sig])
  return sig.peek()
}

// memo redraws a component only when one of its properties is another.
export function memo(view) {
  return class extends Component {
    shouldComponentUpdate(next) {
      const a = Object.keys(next), b = Object.keys(this.props)
      return a.length !== b.length || a.some((k) => next[k] !== this.props[k])
    }
    render(props) { return h(view, props) }
  }
}

// useSize returns a ref and the width in CSS pixels of the element it is put on;
// 0 before it is laid out.
export function useSize() {
  const ref = useRef(null)
  const [width, set] = useState(0)
  useLayoutEffect(() => {
    const measure = () => ref.current && set(Math.floor(ref.current.clientWidth))
    measure()
    const o = new ResizeObserver(measure)
    o.observe(ref.current)
    return () => o.disconnect()
  }, [])
  return [ref, width]
}

// say puts a sentence in the live region, for people who do not see what changed.
export const spoken = signal('')
export const say = (text) => { spoken.value = text }
