package benchresult

import (
	"strings"

	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

const (
	maxDepth  = 6
	maxValues = 1024
	maxText   = 200
)

// value is one scalar of an object.
type value struct {
	path, text string
	kind       json.Kind
}

// number returns a number in ns or another power of ten, exactly rounded once.
func (v *value) number(exp string) (float64, bool) {
	if v.kind != json.Number {
		return 0, false
	}
	text := v.text
	if exp != "" && !strings.ContainsAny(text, "eE") {
		text += exp
		exp = ""
	}
	f, n, ok := numx.ParseFloat([]byte(text))
	if !ok || n != len(text) {
		return 0, false
	}
	if exp != "" {
		scale, _, _ := numx.ParseFloat([]byte("1" + exp))
		f *= scale
	}
	return f, f-f == 0
}

// ns returns a number times 10^scale.
func (v *value) ns(scale int) (int64, bool) {
	n, length, ok := numx.Scaled([]byte(v.text), scale)
	return n, ok && v.kind == json.Number && length == len(v.text)
}

// object is one result.
type object struct {
	offset int64
	top    []string // names of its members
	values []value
	cut    bool
}

func (o *object) has(key string) bool {
	for _, k := range o.top {
		if k == key {
			return true
		}
	}
	return false
}

func (o *object) find(path string) *value {
	for i := range o.values {
		if o.values[i].path == path {
			return &o.values[i]
		}
	}
	return nil
}

// read reads the object at the cursor. What stands before a problem is kept.
func (o *object) read(c *json.Cursor) {
	*o = object{offset: c.Offset(), top: o.top[:0], values: o.values[:0]}
	o.members(c, "", 0)
	_, o.cut = c.Problem()
}

func (o *object) members(c *json.Cursor, prefix string, depth int) {
	for c.Open(); c.More(); {
		key := strings.ToValidUTF8(string(c.Key(128)), "\uFFFD")
		if _, bad := c.Problem(); bad {
			return
		}
		if depth == 0 && len(o.top) < maxValues {
			o.top = append(o.top, key)
		}
		o.member(c, prefix+key, depth)
	}
}

func (o *object) member(c *json.Cursor, path string, depth int) {
	keep := len(o.values) < maxValues
	switch k := c.Kind(); k {
	case json.Object:
		if depth < maxDepth {
			o.members(c, path+".", depth+1)
			return
		}
		c.Skip()
	case json.Array: // the first element of an array of scalars
		c.Open()
		if c.More() {
			if e := c.Kind(); e == json.Number || e == json.String {
				o.member(c, path+"[0]", depth)
			}
			c.Leave()
		}
	case json.String:
		if text := strings.ToValidUTF8(string(c.Text(maxText+1)), "\uFFFD"); keep && len(text) <= maxText {
			o.values = append(o.values, value{path, text, k})
		}
	case json.Number, json.Bool:
		if text := string(c.Literal()); keep && text != "" {
			o.values = append(o.values, value{path, text, k})
		}
	default:
		c.Skip()
	}
}
