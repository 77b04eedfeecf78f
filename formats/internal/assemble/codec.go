package assemble

import (
	"encoding/binary"
)

// codec writes or reads what goes to a temporary file: the same code does both,
// so that the two cannot differ. Texts that are read share the codec's bytes.
type codec struct {
	b       []byte
	reading bool
	bad     bool // what was read is not what was written
}

func (c *codec) int(v *int64) {
	if !c.reading {
		c.b = binary.AppendVarint(c.b, *v)
		return
	}
	x, n := binary.Varint(c.b)
	if n <= 0 {
		c.bad, c.b, n, x = true, nil, 0, 0
	}
	*v, c.b = x, c.b[n:]
}

// number writes or reads an integer of any size.
func number[T ~int8 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~int](c *codec, v *T) {
	x := int64(*v)
	c.int(&x)
	*v = T(x)
}

func (c *codec) bool(v *bool) {
	var x int64
	if *v {
		x = 1
	}
	c.int(&x)
	*v = x != 0
}

func (c *codec) text(v *[]byte) {
	n := len(*v)
	number(c, &n)
	switch {
	case !c.reading:
		c.b = append(c.b, *v...)
	case n < 0 || n > len(c.b):
		c.bad, c.b, *v = true, nil, nil
	default:
		*v, c.b = c.b[:n], c.b[n:]
	}
}

// fields writes or reads further columns. text returns the text of a span that is
// written, keep the span of a text that is read.
func (c *codec) fields(list []Field, text func(Span) []byte, keep func([]byte) Span) []Field {
	n := len(list)
	number(c, &n)
	for i := 0; i < n && !c.bad; i++ {
		var f Field
		var s []byte
		if !c.reading {
			if f = list[i]; f.Text {
				s = text(f.Span)
			}
		}
		number(c, &f.Col)
		c.bool(&f.Text)
		if f.Text {
			c.text(&s)
		} else {
			c.int(&f.Int)
		}
		if c.reading {
			if f.Text {
				f.Span = keep(s)
			}
			list = append(list, f)
		}
	}
	return list
}

// event writes or reads an event, with the offset of its line and its id.
func (c *codec) event(ev *Event, offset *int64, id *[]byte) {
	number(c, &ev.Hash)
	number(c, offset)
	c.text(id)
	number(c, &ev.Kind)
	number(c, &ev.At)
	c.bool(&ev.Timed)
	number(c, &ev.Tokens)
	number(c, &ev.Sort)
	number(c, &ev.Choice)
}

// use writes or reads how an id has been used.
func (c *codec) use(u *use) {
	number(c, &u.hash)
	number(c, &u.check)
	number(c, &u.n)
	c.int(&u.start)
}

// list writes or reads a list. It reports false where there is no memory for it;
// what stands behind the list can be read nevertheless.
func (c *codec) list(p *nodes, l *list) (fits bool) {
	fits = true
	var values []int64
	if !c.reading {
		values = p.appendTo(nil, l)
	}
	n := len(values)
	number(c, &n)
	for i := 0; i < n && !c.bad; i++ {
		var v int64
		if !c.reading {
			v = values[i]
		}
		c.int(&v)
		fits = fits && (!c.reading || p.push(l, v))
	}
	return fits
}

// request writes or reads an open request, without its further choices. It reports
// false where there is no memory for its lists, which are lost then.
func (c *codec) request(p *nodes, q *open) (fits bool) {
	d := q.detail
	var buf [idLen + restLen]byte
	id := q.name(&buf)
	c.text(&id)
	number(c, &q.hash)
	if c.reading {
		q.setName(id)
	}
	c.int(&q.last)
	number(c, &q.chunks)
	number(c, &q.flags)
	for _, v := range []*int64{&d.offset, &d.first, &d.answer, &d.reasoning, &d.kindAt, &d.ended} {
		c.int(v)
	}
	number(c, &d.tokenKind)
	number(c, &d.set)
	for i := range d.stages {
		c.int(&d.stages[i])
	}
	c.bool(&d.own)
	number(c, &d.status)
	d.fields = c.fields(d.fields, d.text, d.keepText)
	gaps := c.list(p, &q.gaps)
	counts := c.list(p, &d.counts)
	if fits = gaps && counts; !fits {
		p.drop(&q.gaps)
		p.drop(&d.counts)
		q.flags |= noMemory
	}
	return fits
}
