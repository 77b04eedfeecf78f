// Step lines: a value holds from its time until the next one, whether that is known
// or not.

// steps calls f(from, to, value, joined) for each value that is known; joined says that
// the one before it is known too. The last value holds until end, if that is given.
export function steps(t, values, end, f) {
  for (let i = 0; i < t.length; i++) {
    const v = values[i]
    if (v === null || v !== v) continue
    const before = i > 0 ? values[i - 1] : null
    f(t[i], i + 1 < t.length ? t[i + 1] : Math.max(t[i], end ?? t[i]), v, before !== null && before === before)
  }
}
