package tokenlog

import (
	"encoding/binary"

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

// match reports whether the line at the beginning of b has the layout, apart
// from its values.
func (s *stencil) match(b []byte) bool {
	diff := uint64(0)
	for i := range s.windows {
		w := &s.windows[i]
		diff |= binary.LittleEndian.Uint64(b[w.at:])&w.mask ^ w.word
	}
	return diff == 0
}

// epochClock reads seconds since 1970 whose digits stand at known places. It
// remembers the first eight digits, which are nearly always the same.
type epochClock struct{ first, high uint64 }

// tokens reads lines that the stencil fits, from text[i:] on, and returns where
// the first one begins that it does not fit.
func (s *events) tokens(st *stencil, i int) int {
	text, end := s.parser.text, len(s.Text)
	list := s.Ticks
	first, high := s.clock.first, s.clock.high
	last := uint64(1)<<(8*(st.name&7)) - 1
	fraction := ^uint64(0)
	if st.decimals < 8 {
		fraction = 1<<(8*st.decimals) - 1
	}
	for i+st.size <= end && st.match(text[i:i+st.size+8]) {
		w := (*[24]byte)(text[i+st.time:])
		if x := binary.LittleEndian.Uint64(w[0:8]); x != first {
			t := x ^ numx.Zeros
			v := numx.Digits8(t)
			if notDigits(t) != 0 || v >= 92233720 {
				break // beyond an int64, or no number
			}
			first, high = x, v*1e11
		}
		d8, d9 := uint64(w[8]-'0'), uint64(w[9]-'0')
		t := (binary.LittleEndian.Uint64(w[11:19]) ^ numx.Zeros) & fraction
		if d8 > 9 || d9 > 9 || notDigits(t) != 0 {
			break
		}
		at := high + d8*1e10 + d9*1e9 + numx.Digits8(t)*10
		if st.decimals == 9 {
			d := uint64(w[19] - '0')
			if d > 9 {
				break
			}
			at += d
		}
		h, bad := assemble.HashSeed, uint64(0)
		id := i + st.id
		name := text[id : id+st.name+8]
		for ; len(name) >= 16; name = name[8:] {
			x := binary.LittleEndian.Uint64(name)
			bad |= notPlain(x)
			h = assemble.Mix(h, x)
		}
		x := binary.LittleEndian.Uint64(name) & last
		bad |= notPlain(x | ^last) // bytes of ones are plain
		if bad != 0 || at == 0 {
			break
		}
		h = assemble.Mix(assemble.Mix(h, x), uint64(st.name))
		list = append(list, assemble.MakeTick(h, int64(at), id, st.id, st.name))
		i += st.size
	}
	s.kinds[assemble.Token] += int64(len(list) - len(s.Ticks))
	s.Ticks = list
	s.clock = epochClock{first, high}
	return i
}

const tops = 0x8080808080808080

// notDigits returns a number other than 0 if one of the bytes of t, text XORed
// with zeros, is no digit.
func notDigits(t uint64) uint64 { return (t + 0x7676767676767676 | t) & tops }

// notPlain returns a number other than 0 if one of the bytes of x is a quote, a
// backslash or a control character.
func notPlain(x uint64) uint64 {
	const ones = 0x0101010101010101
	quote, escape := x^ones*'"', x^ones*'\\'
	return ((quote-ones)&^quote | (escape-ones)&^escape | (x-ones*' ')&^x) & tops
}
