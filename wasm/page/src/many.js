// What is drawn of very many runs: a sweep may leave thousands, and a browser takes
// seconds for as many rows, choices or names.
export const most = 100

// matching are the first runs, at most so many, whose label, model or settings hold every
// word of a text, as pairs of index and run, and how many match.
export function matching(runs, text) {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean), list = []
  let n = 0
  runs.forEach((r, i) => {
    if (words.length) {
      const all = [r.label, r.model, ...(r.config || []).map(([k, v]) => k + '=' + v)].join('\n').toLowerCase()
      if (!words.every((w) => all.includes(w))) return
    }
    if (n++ < most) list.push([i, r])
  })
  return { list, n }
}

// choices are the runs that a list of choices offers, as pairs of index and label: all,
// or those around the chosen one.
export function choices(runs, chosen) {
  const from = runs.length <= most ? 0 : Math.max(0, Math.min(chosen - most / 2, runs.length - most))
  return runs.slice(from, from + most).map((r, i) => [from + i, r.label])
}

// named lists labels, the first few where there are very many.
export const labelled = (labels) => labels.length <= 8 ? labels.join(', ') : labels.slice(0, 8).join(', ') + ' and ' + (labels.length - 8) + ' more'
