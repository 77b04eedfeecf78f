package json

// class maps a byte to the kind of the value it begins; other bytes are Broken.
var class = [256]Kind{
	'{': Object, '[': Array, '"': String, 't': Bool, 'f': Bool, 'n': Null,
	'-': Number, '0': Number, '1': Number, '2': Number, '3': Number, '4': Number, '5': Number,
	'6': Number, '7': Number, '8': Number, '9': Number, 'N': Number, 'I': Number, 'i': Number,
}

// blank marks white space; between marks what may also stand between
// documents: commas and closing brackets of joined or cut arrays, byte order
// marks, record separators (RFC 7464), and the NULs of a preallocated file.
var blank, between [256]bool

// bare marks the bytes of numbers and literal names.
var bare [256]bool

func init() {
	for _, b := range []byte(" \t\r\n") {
		blank[b] = true
	}
	between = blank
	for _, b := range []byte(",]\xEF\xBB\xBF\x1e\x00") {
		between[b] = true
	}
	for b := range bare {
		lower := b | 0x20
		bare[b] = b >= '0' && b <= '9' || lower >= 'a' && lower <= 'z' || b == '+' || b == '-' || b == '.'
	}
	for b := range class {
		if class[b] == EOF {
			class[b] = Broken
		}
	}
}

// token skips white space and returns the next byte without consuming it.
func (c *Cursor) token() (byte, bool) {
	if c.broken {
		return 0, false
	}
	skip := &blank
	if c.depth == 0 {
		skip = &between
	}
	for {
		for c.pos < c.end {
			b := c.buf[c.pos]
			if !skip[b] {
				return b, true
			}
			c.pos++
		}
		if !c.fill() {
			return 0, false
		}
	}
}

// Kind returns the kind of the next value and consumes nothing but white space.
func (c *Cursor) Kind() Kind {
	b, ok := c.token()
	switch {
	case ok && class[b] == Broken:
		c.fail("this is no JSON value")
		return Broken
	case ok:
		return class[b]
	case c.broken:
		return Broken
	case c.depth > 0:
		c.truncated()
		return Broken
	}
	return EOF
}

// Open enters the object or array that comes next. It reports false, and skips
// nothing, when another value comes next.
func (c *Cursor) Open() bool {
	switch c.Kind() {
	case Object, Array:
		return c.push()
	}
	return false
}

// push enters the container whose opening byte is next.
func (c *Cursor) push() bool {
	if !c.enter(c.buf[c.pos] + 2) { // '[' + 2 is ']', '{' + 2 is '}'
		return false
	}
	c.pos++
	return true
}

// enter opens a container that closing ends.
func (c *Cursor) enter(closing byte) bool {
	if c.depth == MaxDepth {
		return c.fail("values are nested too deeply")
	}
	c.stack[c.depth] = closing
	c.depth++
	c.first = true
	return true
}

// pop leaves the container whose closing byte is next.
func (c *Cursor) pop() bool {
	if c.depth == 0 || c.stack[c.depth-1] != c.buf[c.pos] {
		return c.fail("the closing bracket does not match")
	}
	c.depth--
	c.pos++
	c.first = false
	return true
}

// More goes to the next member of the container entered last. It reports false
// after the last one, having left the container.
func (c *Cursor) More() bool {
	b, ok := c.token()
	if ok && !c.first && b != ']' && b != '}' {
		if b != ',' {
			return c.fail("a comma is missing")
		}
		c.pos++
		b, ok = c.token()
	}
	if !ok {
		return c.truncated()
	}
	if b == ']' || b == '}' {
		c.pop()
		return false
	}
	c.first = false
	return true
}

// Leave skips the rest of the container entered last and leaves it.
func (c *Cursor) Leave() bool { return c.skipTo(c.depth - 1) }

// Key reads the name of the next member of an object and its colon. Names are
// cut at max bytes. After a problem it returns nil.
func (c *Cursor) Key(max int) []byte {
	if b, ok := c.token(); !ok || b != '"' {
		if !ok {
			c.truncated()
		}
		c.fail("a member name is missing")
		return nil
	}
	key := c.Text(max)
	if c.broken {
		return nil
	}
	b, ok := c.next(&key)
	switch {
	case !ok:
		c.truncated()
	case b != ':':
		c.fail("a colon is missing")
	default:
		c.pos++
		return key
	}
	return nil
}

// next is token for callers that hold a slice of the buffer: it moves the
// slice to scratch memory before white space crosses the buffer's end.
func (c *Cursor) next(held *[]byte) (byte, bool) {
	for c.pos < c.end {
		if b := c.buf[c.pos]; !blank[b] {
			return b, true
		}
		c.pos++
	}
	if len(*held) > 0 && (len(c.scratch) == 0 || &(*held)[0] != &c.scratch[0]) {
		c.scratch = append(c.scratch[:0], *held...)
		*held = c.scratch
	}
	return c.token()
}

// maxLiteral is the longest number or literal name that is kept.
const maxLiteral = 1 << 10

// Literal reads a number, true, false or null and returns its text as written.
// One that is longer than a kibibyte may be returned cut. After a problem, and
// where another value comes next, it returns nil.
func (c *Cursor) Literal() []byte {
	if k := c.Kind(); k != Number && k != Bool && k != Null {
		return nil
	}
	start := c.pos
	for c.pos < c.end && bare[c.buf[c.pos]] {
		c.pos++
	}
	if c.pos < c.end {
		return c.buf[start:c.pos]
	}
	c.scratch = append(c.scratch[:0], c.buf[start:min(c.pos, start+maxLiteral)]...)
	for c.fill() {
		for c.pos < c.end && bare[c.buf[c.pos]] {
			c.pos++
		}
		c.scratch = append(c.scratch, c.buf[:min(c.pos, maxLiteral-len(c.scratch))]...)
		if c.pos < c.end {
			return c.scratch
		}
	}
	if c.depth > 0 { // the rest of the digits may be missing
		c.truncated()
		return nil
	}
	return c.scratch
}
