// The part of a canvas's context that the charts use, written down as SVG.
const ruler = document.createElement('canvas').getContext('2d')
const n = (v) => Number(v.toFixed(2))
const escapes = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }
// What XML has no place for is left out.
const escape = (s) => String(s).replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '').replace(/[&<>"]/g, (c) => escapes[c])

export class Svg {
  fillStyle = '#000'
  strokeStyle = '#000'
  lineWidth = 1
  font = '11px sans-serif'
  textAlign = 'left'
  textBaseline = 'alphabetic'
  globalAlpha = 1
  #out = []
  #path = ''
  #rect = null
  #dash = ''
  #open = [] // groups of each save
  #clips = 0

  clearRect() {}
  save() { this.#open.push({ n: 0, fillStyle: this.fillStyle, strokeStyle: this.strokeStyle, lineWidth: this.lineWidth, font: this.font, textAlign: this.textAlign, textBaseline: this.textBaseline, globalAlpha: this.globalAlpha, dash: this.#dash }) }
  restore() {
    const { n, dash, ...rest } = this.#open.pop()
    this.#out.push('</g>'.repeat(n))
    this.#dash = dash
    Object.assign(this, rest)
  }
  #group(attributes) {
    this.#open[this.#open.length - 1].n++
    this.#out.push(`<g ${attributes}>`)
  }
  translate(x, y) { this.#group(`transform="translate(${n(x)} ${n(y)})"`) }
  clip() {
    const [x, y, w, h] = this.#rect, id = 'clip' + ++this.#clips
    this.#out.push(`<clipPath id="${id}"><rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}"/></clipPath>`)
    this.#group(`clip-path="url(#${id})"`)
  }
  beginPath() {
    this.#path = ''
    this.#rect = null
  }
  moveTo(x, y) { this.#path += `M${n(x)} ${n(y)}` }
  lineTo(x, y) { this.#path += `${this.#path ? 'L' : 'M'}${n(x)} ${n(y)}` }
  rect(x, y, w, h) { this.#rect = [x, y, w, h] }
  arc(x, y, r) { this.#path += `M${n(x - r)} ${n(y)}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0` }
  setLineDash(list) { this.#dash = list.join(' ') }
  #alpha() { return this.globalAlpha < 1 ? ` opacity="${n(this.globalAlpha)}"` : '' }
  #pen() { return `fill="none" stroke="${this.strokeStyle}" stroke-width="${this.lineWidth}"${this.#dash ? ` stroke-dasharray="${this.#dash}"` : ''}${this.#alpha()}` }
  stroke() { if (this.#path) this.#out.push(`<path d="${this.#path}" ${this.#pen()}/>`) }
  fill() { if (this.#path) this.#out.push(`<path d="${this.#path}" fill="${this.fillStyle}"${this.#alpha()}/>`) }
  fillRect(x, y, w, h) {
    if (w < 0) [x, w] = [x + w, -w]
    if (h < 0) [y, h] = [y + h, -h]
    this.#out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" fill="${this.fillStyle}"${this.#alpha()}/>`)
  }
  strokeRect(x, y, w, h) { this.#out.push(`<rect x="${n(x)}" y="${n(y)}" width="${n(w)}" height="${n(h)}" ${this.#pen()}/>`) }
  measureText(s) {
    ruler.font = this.font
    return ruler.measureText(s)
  }
  fillText(s, x, y) {
    const [, weight, size, family] = /^(?:(\d+) )?([\d.]+)px (.*)$/.exec(this.font), anchor = { center: 'middle', right: 'end' }[this.textAlign]
    const down = { middle: 0.35, top: 0.85 }[this.textBaseline] || 0
    this.#out.push(`<text x="${n(x)}" y="${n(y + down * size)}" font-size="${size}" font-family="${escape(family)}"${weight ? ` font-weight="${weight}"` : ''}${anchor ? ` text-anchor="${anchor}"` : ''} fill="${this.fillStyle}"${this.#alpha()}>${escape(s)}</text>`)
  }
  drawImage(source, x, y, width = source.width, height = source.height) {
    const copy = document.createElement('canvas')
    copy.width = source.width
    copy.height = source.height
    copy.getContext('2d').drawImage(source, 0, 0)
    this.#out.push(`<image x="${n(x)}" y="${n(y)}" width="${n(width)}" height="${n(height)}" preserveAspectRatio="none" image-rendering="pixelated" href="${copy.toDataURL()}"/>`)
  }
  text(width, height) { return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${n(width)} ${n(height)}" width="${n(width)}" height="${n(height)}">${this.#out.join('\n')}</svg>\n` }
}
