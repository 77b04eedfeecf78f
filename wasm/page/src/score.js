// score is how well the letters of a query lie in a name, in order; null: they do not.
export function score(query, name) {
  let at = 0, s = 0, last = -2
  for (const c of query.toLowerCase()) {
    if (c === ' ') continue
    const i = name.toLowerCase().indexOf(c, at)
    if (i < 0) return null
    s += i === last + 1 ? 3 : i === 0 || name[i - 1] === ' ' ? 2 : 0
    last = i
    at = i + 1
  }
  return s - name.length / 100
}
