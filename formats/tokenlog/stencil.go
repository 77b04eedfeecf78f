package tokenlog

import (
	"encoding/binary"
	"unsafe"

	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

// stencil is the layout of a whole line that says a token and no more, down to
// the lengths of its values: a template that knows where everything stands. Most
// lines of a log have one of very few. Since nothing has to be found, the
// processor reads several lines at a time.
type stencil struct {
	time, id, size int // offsets of the values in the line, and the line's length
	decimals, name int // lengths of the fraction of the time, and of the id
	windows        []window
}

// window is eight bytes of a line at an offset; those that belong to no value
// have their bits in mask.
type window struct {
	word, mask uint64
	at         int
}

// maxStencils is how many layouts are tried for each line.
const maxStencils = 4

// epochPoint is where the point stands in seconds since 1970.
const epochPoint = 10

// cut makes a stencil of the line at text[i:] of the given size. id is the
// offset of its request's id in the line. ok is false when the time is not in
// seconds since 1970, or the line is long.
func (t *template) cut(text []byte, i, size, id, name int) (s stencil, ok bool) {
	const most = 256 // bytes of a line
	s = stencil{time: -1, id: id, size: size, name: name}
	for k, at := 0, 0; k < len(t.order) && t.scale == numx.Second; k++ {
		at += t.lit[k].size
		switch t.order[k] {
		case eventTime:
			s.time = at
			_, n, _ := numx.Seconds(text[i+at:])
			s.decimals = n - epochPoint - 1
			at += n
		case eventName:
			at += len(eventNames[assemble.Token])
		default:
			at += name
		}
	}
	if size > most || name > assemble.MaxTickID || s.time < 0 || s.decimals < 1 || s.decimals > 9 || text[i+s.time+epochPoint] != '.' {
		return s, false
	}
	var word, mask [most + 8]byte
	copy(word[:], text[i:i+size])
	for j := range size {
		mask[j] = 0xff
	}
	clear(mask[s.time : s.time+epochPoint+1+s.decimals])
	mask[s.time+epochPoint] = 0xff
	clear(mask[id : id+name])
	for at := 0; at < size; at++ {
		if mask[at] != 0 {
			m := binary.LittleEndian.Uint64(mask[at:])
			s.windows = append(s.windows, window{binary.LittleEndian.Uint64(word[at:]) & m, m, at})
			at += 7
		}
	}
	return s, true
}

// word returns the eight bytes that are at bytes behind p. Its callers know that
// they are there: what the compiler does to find out takes as long as the rest.
func word(p unsafe.Pointer, at int) uint64 {
	return binary.LittleEndian.Uint64((*[8]byte)(unsafe.Add(p, at))[:])
}

// match reports whether the line at the beginning of b has the layout, apart
// from its values. b is at least eight bytes longer.
func (s *stencil) match(b []byte) bool {
	p, diff := unsafe.Pointer(unsafe.SliceData(b[:s.size+8])), uint64(0)
	for i := range s.windows {
		w := &s.windows[i]
		diff |= word(p, w.at)&w.mask ^ w.word
	}
	return diff == 0
}

// match4 is match for the four lines at the beginning of b: each window is
// fetched once for all of them.
func (s *stencil) match4(b []byte) bool {
	p, diff := unsafe.Pointer(unsafe.SliceData(b[:4*s.size+8])), uint64(0)
	p1, p2, p3 := unsafe.Add(p, s.size), unsafe.Add(p, 2*s.size), unsafe.Add(p, 3*s.size)
	for i := range s.windows {
		w := &s.windows[i]
		diff |= word(p, w.at)&w.mask ^ w.word
		diff |= word(p1, w.at)&w.mask ^ w.word
		diff |= word(p2, w.at)&w.mask ^ w.word
		diff |= word(p3, w.at)&w.mask ^ w.word
	}
	return diff == 0
}

// maxLines is how many lines are read at a time: they stay in the first-level cache.
const maxLines = 64

// tokens reads lines that the stencil fits, from text[i:] on, and returns where
// the first one begins that it does not fit. What stands between the values, the
// times, and the ids are each read by a loop of its own over some lines, which
// the registers are enough for.
func (s *events) tokens(st *stencil, i int) int {
	for {
		n := st.lines(s.Text, s.parser.text, i, maxLines)
		if n == 0 {
			return i
		}
		n = st.times(s.parser.text, i, s.stamps[:n], &s.clock)
		n = st.names(s.parser.text, i, s.hashes[:n])
		s.AddTicks(s.hashes[:n], s.stamps[:n], i+st.id, st.size, st.id, st.name)
		s.kinds[assemble.Token] += int64(n)
		if i += n * st.size; n < maxLines {
			return i
		}
	}
}

// lines returns how many of the lines of block at i, at most most, have the layout
// apart from their values. text has some bytes behind those of the block.
func (s *stencil) lines(block, text []byte, i, most int) (n int) {
	most = min(most, (len(block)-i)/s.size)
	for ; n+4 <= most && s.match4(text[i:]); n += 4 {
		i += 4 * s.size
	}
	for ; n < most && s.match(text[i:]); n++ {
		i += s.size
	}
	return n
}

// epochClock reads seconds since 1970 whose digits stand at known places. It
// remembers the seconds of the stamp before, which are nearly always the same:
// their first eight bytes, the eight that end with the point, and the value in ns.
type epochClock struct{ head, tail, base uint64 }

// times reads the times of the lines from text[i:] on into stamps and returns how
// many it could.
func (s *stencil) times(text []byte, i int, stamps []int64, c *epochClock) (n int) {
	clock, step := *c, s.size
	fraction, nine := ^uint64(0), s.decimals == 9
	if s.decimals < 8 {
		fraction = 1<<(8*s.decimals) - 1
	}
	i += s.time
	for ; n < len(stamps); n++ {
		w := (*[24]byte)(text[i:])
		if binary.LittleEndian.Uint64(w[0:8]) != clock.head || binary.LittleEndian.Uint64(w[3:11]) != clock.tail {
			if !clock.read(w) {
				break
			}
		}
		t := (binary.LittleEndian.Uint64(w[11:19]) ^ numx.Zeros) & fraction
		at := clock.base + numx.Digits8(t)*10
		if nine {
			d := uint64(w[19] - '0')
			if d > 9 {
				break
			}
			at += d
		}
		if notDigits(t) != 0 || at == 0 {
			break
		}
		stamps[n] = int64(at)
		i += step
	}
	*c = clock
	return n
}

// read reads the seconds at the beginning of w. It returns false if they are no
// number, or beyond an int64.
func (c *epochClock) read(w *[24]byte) bool {
	head, tail := binary.LittleEndian.Uint64(w[0:8]), binary.LittleEndian.Uint64(w[3:11])
	t, d8, d9 := head^numx.Zeros, uint64(w[8]-'0'), uint64(w[9]-'0')
	v := numx.Digits8(t)
	if notDigits(t) != 0 || v >= 92233720 || d8 > 9 || d9 > 9 {
		return false
	}
	*c = epochClock{head, tail, v*1e11 + d8*1e10 + d9*1e9}
	return true
}

// names reads the ids of the lines from text[i:] on and returns how many it could,
// with their hashes.
func (s *stencil) names(text []byte, i int, hashes []uint64) (n int) {
	if len(hashes) == 0 {
		return 0
	}
	size, step := s.name, s.size
	i += s.id
	p := unsafe.Pointer(unsafe.SliceData(text[i : i+(len(hashes)-1)*step+size+8]))
	words, last := size&^7, uint64(1)<<(8*(size&7))-1
	for ; n < len(hashes); n++ {
		h, bad := assemble.HashSeed, uint64(0)
		for k := 0; k < words; k += 8 {
			x := word(p, k)
			bad |= notPlain(x)
			h = assemble.Mix(h, x)
		}
		x := word(p, words) & last
		if bad|notPlain(x|^last) != 0 { // bytes of ones are plain
			break
		}
		hashes[n] = assemble.Mix(assemble.Mix(h, x), uint64(size))
		p = unsafe.Add(p, step)
	}
	return n
}

const tops = 0x8080808080808080

// notDigits returns a number other than 0 if one of the bytes of t, text XORed
// with zeros, is no digit.
func notDigits(t uint64) uint64 { return (t + 0x7676767676767676 | t) & tops }

// notPlain returns a number other than 0 if one of the bytes of x is a quote, a
// backslash or a control character. With bit 1 flipped, a quote comes right behind
// the control characters, and nothing else does.
func notPlain(x uint64) uint64 {
	const ones = 0x0101010101010101
	low, escape := x^ones*2, x^ones*'\\'
	return ((low-ones*('"'-1))&^low | (escape-ones)&^escape) & tops
}
