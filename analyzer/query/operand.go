package query

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
)

// class says how the values of an operand are written and compared.
type class uint8

const (
	integer  class = iota
	span           // a duration in ns
	stamp          // a point in time
	boolean        // true or false
	text           // texts of every kind
	metric         // a metric of the request, in ns
	fileName       // the name of the input
)

// operand is the thing that a name in a filter denotes.
type operand struct {
	name   string
	class  class
	col    trace.Col
	values []string // all possible texts, where the column fixes them
}

func classOf(f *trace.Field) class {
	switch {
	case f.Stamp:
		return stamp
	case f.Type == trace.Bool:
		return boolean
	case f.Type == trace.Text || f.Type == trace.Dict:
		return text
	case f.Unit == unit.Nanosecond:
		return span
	}
	return integer
}

// example returns a comparison with the operand, for messages.
func (o *operand) example() string {
	switch o.class {
	case integer:
		return o.name + " > 100"
	case span, metric:
		return o.name + " > 500ms"
	case stamp:
		return o.name + " >= 2026-01-31T14:05:00Z"
	case boolean:
		return o.name + " = true"
	}
	if len(o.values) > 0 {
		return o.name + " = " + o.values[0]
	}
	return o.name + " ~ part"
}

// compare returns the node that compares the operand with one value, or for =
// and != with several values.
func (o *operand) compare(op token, values []token) (node, error) {
	contains := op.text == "~"
	equality := op.text == "=" || op.text == "!="
	texts := o.class == text || o.class == fileName
	if texts && !contains && !equality {
		return nil, filterError(op.pos, "use = != or ~", "%s is a text and has no order", o.name)
	}
	if contains && !texts {
		return nil, filterError(op.pos, "write "+o.example(), "%s is not a text", o.name)
	}
	switch {
	case texts:
		return o.compareText(op, values)
	case o.class == boolean:
		if !equality {
			return nil, filterError(op.pos, "write "+o.example(), "%s is true or false", o.name)
		}
		return o.compareBool(op, values)
	}
	numbers := make([]int64, len(values))
	var wall bool
	for i, v := range values {
		n, isTime, err := o.number(v)
		if err != nil {
			return nil, err
		}
		if i > 0 && isTime != wall {
			return nil, filterError(v.pos, "list either times or offsets", "times and offsets have no common order")
		}
		numbers[i], wall = n, isTime
	}
	in, negate := spans(op.text, numbers)
	if o.class == metric {
		return newMeasure(o.name, op.text, numbers), nil
	}
	if o.class == stamp {
		return &stamps{ints{o.col, in, negate}, wall}, nil
	}
	return &ints{o.col, in, negate}, nil
}

// number parses a value of a numeric operand. isTime says that the value is an
// RFC 3339 time, which only stamps accept.
func (o *operand) number(v token) (n int64, isTime bool, err error) {
	if o.class == integer {
		n, err = strconv.ParseInt(v.text, 10, 64)
		if err != nil {
			err = filterError(v.pos, "write a whole number as in "+o.example(), "%s is a count, %s is not", o.name, quote(v.text))
		}
		return n, false, err
	}
	if o.class == stamp {
		if n, err = parseTime(v.text); err == nil {
			return n, true, nil
		}
	}
	if n, err = duration("", v.text); err == nil {
		return n, false, nil
	}
	if o.class == stamp {
		return 0, false, filterError(v.pos, "write "+o.example()+", or 30s since the origin of a clock that is not a wall clock", "%s is a point in time, %s is not", o.name, quote(v.text))
	}
	e := err.(*Error)
	return 0, false, filterError(v.pos, e.Fix, "%s is a time: %s", o.name, e.Msg)
}

func (o *operand) compareText(op token, values []token) (node, error) {
	n := &texts{operand: *o, contains: op.text == "~", negate: op.text == "!="}
	for _, v := range values {
		if len(o.values) > 0 && !n.contains && !slices.Contains(o.values, v.text) {
			return nil, filterError(v.pos, Suggest(v.text, o.values), "%s is never %s", o.name, quote(v.text))
		}
		n.want = append(n.want, v.text)
	}
	if n.contains {
		n.want[0] = lower(n.want[0])
	}
	return n, nil
}

func (o *operand) compareBool(op token, values []token) (node, error) {
	n := &bools{col: o.col}
	for _, v := range values {
		switch strings.ToLower(v.text) {
		case "true":
			n.yes = true
		case "false":
			n.no = true
		default:
			return nil, filterError(v.pos, "write "+o.example(), "%s is true or false, not %s", o.name, quote(v.text))
		}
	}
	if op.text == "!=" {
		n.yes, n.no = !n.yes, !n.no
	}
	return n, nil
}

// lower returns s with its ASCII letters in lower case.
func lower(s string) string {
	b := []byte(s)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
