// Characters that show nothing, or reorder what stands around them, are shown by
// their numbers: a log may hold any.
const hidden = /[\u0000-\u001f\u007f-\u009f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u2069\ufeff]/g

export const visible = (s) => s.replace(hidden, (c) => '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0'))

// clean makes every text of a report visible, in place.
export function clean(x) {
  if (typeof x === 'string') return visible(x)
  if (x && typeof x === 'object') for (const k of Object.keys(x)) x[k] = clean(x[k])
  return x
}
