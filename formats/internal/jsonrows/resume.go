package jsonrows

// Resume looks in b from i on for where the next object of an array on one line
// begins, behind one that is broken: at a brace behind "}," as no text within a
// value of JSON holds it in front of a name in quotes. found is false where the
// line ends at next, or where b does and the search goes on from next.
func Resume(b []byte, i int) (next int, found bool) {
	for ; i < len(b) && b[i] != '\n'; i++ {
		if b[i] != '{' {
			continue
		}
		k := before(b, i)
		if k > 0 && b[k] == ',' {
			if k = before(b, k); k >= 0 && b[k] == '}' {
				return i, true
			}
		}
	}
	return i, false
}

// before returns the offset of the last byte before i that is no space, -1 where
// there is none within reach.
func before(b []byte, i int) int {
	for n := 1; n <= Behind/2 && i-n >= 0; n++ {
		if b[i-n] != ' ' {
			return i - n
		}
	}
	return -1
}

// Behind is how many bytes before i Resume looks at.
const Behind = 16
