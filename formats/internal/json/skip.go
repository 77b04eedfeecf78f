package json

// Skip consumes the next value, whatever it is and however long. It reports
// false after a problem or at the end.
func (c *Cursor) Skip() bool {
	switch c.Kind() {
	case String:
		c.pos++
		return c.skipString(0)
	case Object, Array:
		depth := c.depth
		return c.push() && c.skipTo(depth)
	case Number, Bool, Null:
		return c.Literal() != nil
	}
	return false
}

// skipTo skips until no more than depth containers are open.
func (c *Cursor) skipTo(depth int) bool {
	for c.depth > depth && !c.broken {
		i := structural(c.buf[c.pos:c.end])
		if i < 0 {
			c.pos = c.end
			if !c.fill() {
				c.truncated()
			}
			continue
		}
		c.pos += i
		switch c.buf[c.pos] {
		case '"':
			c.pos++
			c.skipString(0)
		case '{', '[':
			c.push()
		default:
			c.pop()
		}
	}
	return !c.broken
}

// skipString skips the rest of a string, and appends its first bytes to raw until that
// has keep bytes. It looks for quotes only; a quote is escaped when an odd number of
// backslashes stands before it.
func (c *Cursor) skipString(keep int) bool {
	escaped := false // the run of backslashes that ends the previous window is odd
	for start, from := c.pos, c.pos; ; {
		c.pos += quote(c.buf[c.pos:c.end])
		run := c.pos
		for run > start && c.buf[run-1] == '\\' {
			run--
		}
		odd := (c.pos-run)&1 == 1
		if run == start {
			odd = odd != escaped
		}
		if c.pos < c.end && odd {
			c.pos++
			start, escaped = c.pos, false
			continue
		}
		if room := keep - len(c.raw); room > 0 {
			c.raw = append(c.raw, c.buf[from:min(c.pos, from+room)]...)
		}
		if c.pos < c.end {
			c.pos++
			return true
		}
		escaped = odd
		if !c.fill() {
			return c.truncated()
		}
		start, from = c.pos, c.pos
	}
}
