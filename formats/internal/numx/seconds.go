package numx

import (
	"encoding/binary"
	"unsafe"
)

// window is how far behind a number's first byte the loops below may look.
const window = 64

// epoch reads one number of the form that epochs reads. n is 0 when it has
// another form.
func epoch(w *[32]byte) (ns int64, n int) {
	t := binary.LittleEndian.Uint64(w[0:8]) ^ zeros
	u := binary.LittleEndian.Uint64(w[11:19]) ^ zeros
	d8, d9 := uint64(w[8]-'0'), uint64(w[9]-'0')
	k := digits(u)
	high := parse8(t)
	if digits(t) != 8 || high >= 92233720 || d8 > 9 || d9 > 9 || k == 0 {
		return 0, 0
	}
	v := high*1e11 + d8*1e10 + d9*1e9
	if k == 8 {
		v += parse8(u) * 10
		if d := uint64(w[19] - '0'); d <= 9 {
			v += d
			k = 9
		}
	} else {
		v += parse8(u&(1<<(8*k)-1)) * 10
	}
	if c := w[(11+k)&31]; c-'0' <= 9 || c|0x20 == 'e' {
		return 0, 0
	}
	return int64(v), 11 + k
}

// layout is what stands behind the point of a number of epoch seconds, up to the
// next number: the decimals and the separator. The bytes of text XORed with want and
// ANDed with mask are the values of the digits, and zero elsewhere; more is added
// to them to find out: it lifts a byte above 127 that is no digit, or not what
// must stand there.
type layout struct {
	want, mask, more [2]uint64
	size             int // of the number and the separator

	comma int       // where a number of one decimal less has its comma; 0: these are not looked for
	fewer [4]stripe // by how many decimals less there are: none, one or two; the last has no bytes
}

// stripe is what a layout wants of the first word behind the point, and what
// stands in the way of that.
type stripe struct{ want, mask, more uint64 }

// layouts are those of one to nine decimals, with each separator.
var layouts = makeLayouts()

func makeLayouts() (all [10][2]layout) {
	for k := range all {
		for s, sep := range [...]string{",", ", "} {
			l := &all[k][s]
			l.size = 11 + k + len(sep)
			text := "000000000"[:k] + sep
			for i := range text {
				put := func(w *[2]uint64, c byte) { w[i/8] |= uint64(c) << (i % 8 * 8) }
				put(&l.want, text[i])
				put(&l.mask, 0xff)
				if text[i] == '0' {
					put(&l.more, 127-9)
				} else {
					put(&l.more, 127)
				}
			}
		}
	}
	for k := range all {
		for s := range all[k] {
			all[k][s].shorten(all[:k+1], s)
		}
	}
	return all
}

// shorten sets what is like l but for fewer decimals, of the layouts of up to as many,
// with separator s.
func (l *layout) shorten(all [][2]layout, s int) {
	k := len(all) - 1
	if k > 1 && l.size <= 11+8 { // in one word
		l.comma = 11 + k - 1
	}
	for less := range l.fewer {
		if l.fewer[less].more = tops; l.comma > 0 && less < min(k, 3) {
			o := &all[k-less][s]
			l.fewer[less] = stripe{o.want[0], o.mask[0], o.more[0]}
		}
	}
}

// epochs reads numbers of the form of epoch seconds, ten digits, a point and at
// most nine decimals, each followed by a comma, into dst as nanoseconds. It
// stops at the first number of another form and at the last of the list.
//
// The seconds are mostly those of the number before, and so is the layout: with
// that guess the place of the next number does not wait until the digits of this
// one are counted. One number with another layout changes nothing: where trailing
// zeros are not written, one in ten is shorter.
func epochs(dst []int64, b []byte, i int) (n, next int) {
	var l *layout
	var first, point, base uint64 // bytes 0 to 7 and 3 to 10 of the number before, and its seconds in ns
	odd := -1                     // the number that last had another layout
	mixed := false                // some numbers have less decimals than l
	for n < len(dst) && len(b)-i >= window {
		w := (*[window]byte)(b[i:])
		if f, p := binary.LittleEndian.Uint64(w[0:8]), binary.LittleEndian.Uint64(w[3:11]); f != first || p != point {
			t := f ^ zeros
			high, d8, d9 := parse8(t), uint64(w[8]-'0'), uint64(w[9]-'0')
			if digits(t) != 8 || high >= 92233720 || d8 > 9 || d9 > 9 || w[10] != '.' { // or beyond int64
				break
			}
			first, point, base = f, p, high*1e11+d8*1e10+d9*1e9
		}
		u := binary.LittleEndian.Uint64(w[11:19]) ^ zeros
		k := digits(u)
		v := base + parse8Tens(u&(1<<(8*k)-1))
		if k == 8 {
			if d := uint64(w[19] - '0'); d <= 9 {
				v += d
				k = 9
			}
		}
		if k == 0 || w[(11+k)&31] != ',' {
			break
		}
		own := &layouts[k][0]
		if w[(12+k)&31] == ' ' {
			own = &layouts[k][1]
		}
		if own != l && n-odd <= 1 { // so it was with the number before, or this is the first
			l, mixed = own, false
		} else if own != l {
			odd = n
		}
		dst[n] = int64(v)
		n++
		i += own.size
		if !mixed {
			done, at := l.read(dst[n:], b, i, first, point, base)
			n, i = n+done, at
			mixed = done > 0 && l.comma > 0 && len(b)-i >= window && b[i+l.comma] == ','
		}
		if mixed {
			done, at := l.either(dst[n:], b, i, first, point, base)
			n, i = n+done, at
		}
	}
	return n, i
}

// read reads numbers that are laid out so and whose bytes 0 to 7 and 3 to 10 are
// first and point, into dst; base is their seconds in ns. There are no calls in the
// loops, because a call would spill every register, nor is there anything in them
// that is not needed for nearly every number.
func (l *layout) read(dst []int64, b []byte, i int, first, point, base uint64) (n, next int) {
	text := unsafe.Pointer(unsafe.SliceData(b)) // without checks of bounds, a seventh faster
	size, last := l.size, len(b)-window
	want, mask, more := l.want[0], l.mask[0], l.more[0]
	if size <= 11+8 { // all that is behind the point is in one word
		for ; n < len(dst) && i <= last; n++ {
			w := (*[window]byte)(unsafe.Add(text, i))
			t := (binary.LittleEndian.Uint64(w[11:19]) ^ want) & mask
			if ((t+more)|t)&tops != 0 || binary.LittleEndian.Uint64(w[0:8]) != first || binary.LittleEndian.Uint64(w[3:11]) != point {
				break
			}
			dst[n] = int64(base + parse8Tens(t))
			i += size
		}
		return n, i
	}
	for ; n < len(dst) && i <= last; n++ {
		w := (*[window]byte)(unsafe.Add(text, i))
		t := (binary.LittleEndian.Uint64(w[11:19]) ^ want) & mask
		u := (binary.LittleEndian.Uint64(w[19:27]) ^ l.want[1]) & l.mask[1]
		if ((t+more)|t|(u+l.more[1])|u)&tops != 0 || binary.LittleEndian.Uint64(w[0:8]) != first || binary.LittleEndian.Uint64(w[3:11]) != point {
			break
		}
		dst[n] = int64(base + parse8Tens(t) + u) // u is the ninth digit
		i += size
	}
	return n, i
}

// either is read of numbers some of which have one decimal less, or two, as one in
// four of those that are written as short as a float64 allows. Which ones cannot be
// foreseen, so there is no branch on it.
func (l *layout) either(dst []int64, b []byte, i int, first, point, base uint64) (n, next int) {
	text := unsafe.Pointer(unsafe.SliceData(b))
	commas := unsafe.Add(text, l.comma-1) // where numbers of two decimals less have theirs
	last, size := len(b)-window, l.size
	for ; n < len(dst) && i <= last; n++ {
		c := (*[2]byte)(unsafe.Add(commas, i))
		one, two := 0, 0
		if c[1] == ',' {
			one = 1
		}
		if c[0] == ',' {
			two = 1
		}
		less := one + 2*two
		w, s := (*[window]byte)(unsafe.Add(text, i)), &l.fewer[less&3]
		t := (binary.LittleEndian.Uint64(w[11:19]) ^ s.want) & s.mask
		if ((t+s.more)|t)&tops != 0 || binary.LittleEndian.Uint64(w[0:8]) != first || binary.LittleEndian.Uint64(w[3:11]) != point {
			break
		}
		dst[n] = int64(base + parse8Tens(t))
		i += size - less
	}
	return n, i
}
