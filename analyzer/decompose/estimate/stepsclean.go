package estimate

// clean returns the clean steps that decoded something.
func (s *steps) clean() []point {
	is := func(k int) bool { return k > 0 && s.kind[k] == clean && s.b[k] > 0 }
	n := 0
	for k := range s.at {
		if is(k) {
			n++
		}
	}
	out := make([]point, 0, n)
	for k := range s.at {
		if is(k) {
			out = append(out, point{k: int32(k)})
		}
	}
	return out
}
