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
}

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
	return all
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
	odd := -1 // the number that last had another layout
	for n < len(dst) && len(b)-i >= window {
		w := (*[window]byte)(b[i:])
		t := binary.LittleEndian.Uint64(w[0:8]) ^ zeros
		high, d8, d9 := parse8(t), uint64(w[8]-'0'), uint64(w[9]-'0')
		u := binary.LittleEndian.Uint64(w[11:19]) ^ zeros
		k := digits(u)
		if digits(t) != 8 || high >= 92233720 || d8 > 9 || d9 > 9 || w[10] != '.' || k == 0 { // or beyond int64
			break
		}
		base := high*1e11 + d8*1e10 + d9*1e9
		v := base + parse8Tens(u&(1<<(8*k)-1))
		if k == 8 {
			if d := uint64(w[19] - '0'); d <= 9 {
				v += d
				k = 9
			}
		}
		if w[(11+k)&31] != ',' {
			break
		}
		own := &layouts[k][0]
		if w[(12+k)&31] == ' ' {
			own = &layouts[k][1]
		}
		if own != l && n-odd <= 1 { // so it was with the number before, or this is the first
			l = own
		} else if own != l {
			odd = n
		}
		dst[n] = int64(v)
		n++
		i += own.size
		done, at := l.read(dst[n:], b, i, binary.LittleEndian.Uint64(w[0:8]), binary.LittleEndian.Uint64(w[3:11]), base)
		n, i = n+done, at
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
