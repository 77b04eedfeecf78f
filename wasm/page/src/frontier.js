// frontier returns the points that no other reaches in both x and y, by x.
export function frontier(points) {
  const sorted = points.slice().sort((a, b) => b.x - a.x || b.y - a.y), out = []
  for (const p of sorted) if (!out.length || p.y > out[out.length - 1].y) out.push(p)
  return out.reverse()
}
