// Rows of columns that are here already. What single requests are does not depend
// on which of them are selected: a selection needs to name its rows, and no more.

// pick returns the columns of those requests that row names, in its order, or null
// where some of them are not there. Both orders are that of the engine.
export function pick(all, row) {
  const at = new Int32Array(row.length)
  for (let i = 0, k = 0; i < row.length; i++, k++) {
    while (k < all.row.length && all.row[k] !== row[i]) k++
    if (k === all.row.length) return null
    at[i] = k
  }
  const out = {}
  for (const [name, c] of Object.entries(all)) if (name !== 'n') out[name] = c.codes ? texts(c, at) : numbers(c, at)
  return out
}

function numbers(c, at) {
  const out = new Float64Array(at.length)
  for (let i = 0; i < at.length; i++) out[i] = c[at[i]]
  return out
}

// texts keeps the values that some request has, in their order.
function texts({ codes, values }, at) {
  const place = new Int32Array(values.length).fill(-1), kept = []
  for (const k of at) if (codes[k] >= 0) place[codes[k]] = 0
  values.forEach((v, i) => { if (place[i] === 0) place[i] = kept.push(v) - 1 })
  const out = new Int32Array(at.length)
  for (let i = 0; i < at.length; i++) out[i] = codes[at[i]] < 0 ? -1 : place[codes[at[i]]]
  return { codes: out, values: kept }
}
