package servebench

import (
	"bytes"

	"servescope/formats/internal/json"
)

// region is where an array of lists of gaps lies.
type region struct {
	present  bool
	from     int64 // offset behind the opening bracket
	to       int64 // offset behind the last complete entry
	n        int   // complete entries
	filled   int   // of these, lists that are not empty
	odd      bool  // some entry is no list of plain numbers
	flat     bool  // the entries are numbers
	complete bool

	inside, any bool // the scan is inside a list; the list has something in it
}

// region reads over the array that comes next. Once it proves long, it is left
// to several goroutines as far as its structure is plain.
func (x *index) region() region {
	x.c.Open()
	r := region{present: true, from: x.c.Offset(), to: x.c.Offset()}
	for long := false; ; {
		at := x.c.Offset()
		if !long && at-r.from >= longRegion*int64(x.block) {
			long = true
			if x.survey != nil && x.survey(&r) {
				continue
			}
		}
		w := x.c.Window()
		if len(w) == 0 {
			x.c.Cut()
			return r
		}
		n, more := r.scan(w, at)
		x.c.Advance(n)
		if !more {
			break
		}
	}
	if r.odd {
		x.slow(&r)
	} else {
		x.c.More() // leaves the array
	}
	r.complete = !x.cut()
	return r
}

// scan goes on over w, which begins at offset at, at the speed of IndexByte. It
// stops before the closing bracket, or where the plain structure ends.
func (r *region) scan(w []byte, at int64) (n int, more bool) {
	i := 0
	for i < len(w) {
		if r.inside {
			k := bytes.IndexByte(w[i:], ']')
			list := w[i:]
			if k >= 0 {
				list = w[i : i+k]
			}
			if bytes.IndexByte(list, '"') >= 0 || bytes.IndexByte(list, '[') >= 0 {
				r.odd = true
				return i, false
			}
			r.any = r.any || len(bytes.TrimLeft(list, " \t\r\n")) > 0
			if k < 0 {
				return len(w), true
			}
			i += k + 1
			r.close(at + int64(i))
			continue
		}
		switch w[i] {
		case ' ', '\t', '\r', '\n', ',':
			i++
		case '[':
			r.inside, r.any = true, false
			i++
		case ']':
			return i, false
		default:
			r.odd = true
			return i, false
		}
	}
	return i, true
}

func (r *region) close(end int64) {
	r.inside = false
	r.n++
	r.to = end
	if r.any {
		r.filled++
	}
}

// slow counts the rest of an array whose entries are not all plain lists.
func (x *index) slow(r *region) {
	if r.inside {
		x.c.Enter()
		if !x.c.Leave() {
			return
		}
		r.any = true
		r.close(x.c.Offset())
	}
	for x.c.More() {
		k := x.c.Kind()
		if !x.c.Skip() {
			return
		}
		r.any = k == json.Array
		r.flat = r.flat || k == json.Number
		r.close(x.c.Offset())
	}
}
