package numx

// Stop says why List stopped.
type Stop uint8

// The reasons to stop.
const (
	End   Stop = iota // after the closing bracket
	Odd               // at an element that it does not read
	Short             // at the end of the bytes, inside the list
)

// List reads the numbers of a JSON array into dst, each times 10^scale as
// Scaled does. b begins behind the opening bracket or behind a comma. n is the
// number of bytes read. At an element that is not a number that fits, followed
// by a comma or bracket (null, NaN, a string, a nested array, an overflow), it
// stops with Odd, n being the offset of that element; the caller reads it and
// may call List again behind the next comma. A newline counts as white space
// only when multiline is set: in line-based formats it ends the record.
//
// Most lists are read by loops without calls; that of epoch seconds guesses the
// layout of a number from the one before.
func List(dst []int64, b []byte, scale int, multiline bool) (out []int64, n int, stop Stop) {
	i := skipSpace(b, 0, multiline)
	if i < len(b) && b[i] == ']' {
		return dst, i + 1, End
	}
	for i < len(b) {
		if len(b)-i >= window {
			dst, i = run(dst, b, i, scale)
			i = skipSpace(b, i, multiline)
		}
		v, size, ok := Scaled(b[i:], scale)
		end := skipSpace(b, i+size, multiline)
		if end == len(b) {
			break
		}
		switch {
		case ok && b[end] == ',':
			dst = append(dst, v)
			i = skipSpace(b, end+1, multiline)
		case ok && b[end] == ']':
			return append(dst, v), end + 1, End
		case unfinished(b[i:]):
			return dst, i, Short
		default:
			return dst, i, Odd
		}
	}
	return dst, i, Short
}

// unfinished reports whether all of b may be the beginning of a number: "-",
// "1." and "5e-" are none yet.
func unfinished(b []byte) bool {
	for _, c := range b {
		if c-'0' > 9 && c != '-' && c != '+' && c != '.' && c|0x20 != 'e' {
			return false
		}
	}
	return true
}

// run reads the numbers at b[i:] that a loop without calls can read and returns
// where the next one begins.
func run(dst []int64, b []byte, i, scale int) ([]int64, int) {
	for {
		if cap(dst)-len(dst) < 64 {
			dst = grow(dst)
		}
		free := dst[len(dst):cap(dst)]
		var k int
		switch {
		case scale != Second:
		case b[i+10] == '.':
			k, i = epochs(free, b, i)
		default:
			k, i = durations(free, b, i)
		}
		if k == 0 {
			k, i = plain(free, b, i, scale)
		}
		dst = dst[:len(dst)+k]
		if k < len(free) || len(b)-i < window {
			return dst, i
		}
	}
}

// skipSpace returns the offset of the first byte at or behind b[i] that is not
// white space.
func skipSpace(b []byte, i int, multiline bool) int {
	for i < len(b) && (b[i] == ' ' || b[i] == '\t' || b[i] == '\r' || multiline && b[i] == '\n') {
		i++
	}
	return i
}

// grow returns dst with room for more than as many values again.
func grow(dst []int64) []int64 {
	out := make([]int64, len(dst), 2*cap(dst)+256)
	copy(out, dst)
	return out
}
