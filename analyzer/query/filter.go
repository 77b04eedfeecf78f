package query

import (
	"math"
	"strings"

	"servescope/analyzer/trace"
)

// Limits of an expression, so that hostile texts cannot exhaust the stack.
const (
	maxFilter = 64 << 10 // bytes
	maxDepth  = 100      // nested parentheses and negations
)

// Filter is a parsed --filter expression. It is immutable and safe for
// concurrent use. An Evaluator applies it.
type Filter struct {
	text  string
	root  node
	names []string
}

// String returns the expression as it was written.
func (f *Filter) String() string { return f.text }

// Names returns the names in the expression, in order and with repetitions:
// columns of the requests table, Metrics, and file.
func (f *Filter) Names() []string { return f.names }

// ParseFilter parses an expression; see the package comment for the language.
func ParseFilter(text string) (*Filter, error) {
	if len(text) > maxFilter {
		return nil, errorf("--filter", "shorten it", "the expression is longer than 64 KiB")
	}
	tokens, err := lex(text)
	if err != nil {
		return nil, err
	}
	p := parser{tokens: tokens}
	root, err := p.or(0)
	if err != nil {
		return nil, err
	}
	if t := p.tokens[0]; t.kind != end {
		return nil, filterError(t.pos, "join comparisons with and, or", "unexpected %s", quote(t.text))
	}
	return &Filter{strings.TrimSpace(text), root, p.names}, nil
}

// parser is a recursive-descent parser over the remaining tokens.
type parser struct {
	tokens []token
	names  []string // names of the operands so far
}

func (p *parser) next() token {
	t := p.tokens[0]
	if t.kind != end {
		p.tokens = p.tokens[1:]
	}
	return t
}

// skip consumes the next token if it is the given keyword.
func (p *parser) skip(keyword string) bool {
	if !p.tokens[0].is(keyword) {
		return false
	}
	p.next()
	return true
}

func (p *parser) or(depth int) (node, error) {
	n, err := p.and(depth)
	for err == nil && p.skip("or") {
		var right node
		right, err = p.and(depth)
		n = &logic{n, right, true}
	}
	return n, err
}

func (p *parser) and(depth int) (node, error) {
	n, err := p.unary(depth)
	for err == nil && p.skip("and") {
		var right node
		right, err = p.unary(depth)
		n = &logic{n, right, false}
	}
	return n, err
}

func (p *parser) unary(depth int) (node, error) {
	t := p.tokens[0]
	if depth > maxDepth {
		return nil, filterError(t.pos, "simplify it", "the expression is nested deeper than %d levels", maxDepth)
	}
	if p.skip("not") {
		n, err := p.unary(depth + 1)
		return &not{n}, err
	}
	if t.kind != open {
		return p.comparison()
	}
	p.next()
	n, err := p.or(depth + 1)
	if err != nil {
		return nil, err
	}
	if t := p.next(); t.kind != shut {
		return nil, filterError(t.pos, "close it with )", "a parenthesis is never closed")
	}
	return n, nil
}

// comparison parses NAME op VALUE, NAME [not] in (…) and NAME is [not] null.
func (p *parser) comparison() (node, error) {
	name := p.next()
	switch {
	case name.kind == end:
		return nil, filterError(name.pos, "write a comparison such as status = ok", "the expression ends early")
	case name.kind != word:
		return nil, filterError(name.pos, "write a comparison such as status = ok", "unexpected %s", quote(name.text))
	}
	o, err := lookup(name)
	if err != nil {
		return nil, err
	}
	p.names = append(p.names, o.name)
	t := p.next()
	switch {
	case t.is("is"):
		negate := p.skip("not")
		if t := p.next(); !t.is("null") {
			return nil, filterError(t.pos, "write is null or is not null", "unexpected %s", quote(t.text))
		}
		return &null{o, negate}, nil
	case t.is("in"):
		return p.in(o, "=")
	case t.is("not"):
		if t := p.next(); !t.is("in") {
			return nil, filterError(t.pos, "write not in (…)", "unexpected %s", quote(t.text))
		}
		return p.in(o, "!=")
	case t.kind == operator:
		v := p.next()
		if v.kind != word && v.kind != quoted {
			return nil, filterError(v.pos, "write a value after "+t.text, "%s is compared with nothing", name.text)
		}
		return o.compare(t, []token{v})
	}
	return nil, filterError(t.pos, "compare it as in "+o.example(), "%s stands alone", name.text)
}

// in parses the values of an "in" list, as equality (=) or inequality (!=).
func (p *parser) in(o operand, op string) (node, error) {
	t := p.next()
	if t.kind != open {
		return nil, filterError(t.pos, "write in (a, b)", "in needs a list in parentheses")
	}
	var values []token
	for {
		v := p.next()
		if v.kind != word && v.kind != quoted {
			return nil, filterError(v.pos, "write in (a, b)", "a value is missing")
		}
		values = append(values, v)
		switch t := p.next(); t.kind {
		case comma:
		case shut:
			return o.compare(token{operator, op, t.pos}, values)
		default:
			return nil, filterError(t.pos, "write in (a, b)", "the list is never closed")
		}
	}
}

// spans returns the closed intervals that match a comparison with the values,
// or with negate the intervals that do not match.
func spans(op string, values []int64) (in [][2]int64, negate bool) {
	v := values[0]
	switch op {
	case "<":
		if v == math.MinInt64 {
			return nil, false
		}
		return [][2]int64{{math.MinInt64, v - 1}}, false
	case "<=":
		return [][2]int64{{math.MinInt64, v}}, false
	case ">":
		if v == math.MaxInt64 {
			return nil, false
		}
		return [][2]int64{{v + 1, math.MaxInt64}}, false
	case ">=":
		return [][2]int64{{v, math.MaxInt64}}, false
	}
	for _, v := range values {
		in = append(in, [2]int64{v, v})
	}
	return in, op == "!="
}

// lookup returns the operand for a name.
func lookup(name token) (operand, error) {
	if name.text == "file" {
		return operand{name: "file", class: fileName}, nil
	}
	if m, ok := metricNamed(name.text); ok {
		return operand{name: m, class: metric}, nil
	}
	if c, ok := trace.Requests.Lookup(name.text); ok {
		f := &trace.Requests.Fields[c]
		if f.Type == trace.List {
			return operand{}, filterError(name.pos, "filter by a metric of the request instead: tpot, e2e", "%s is a list", f.Name)
		}
		return operand{name: f.Name, class: classOf(f), col: c, values: f.Values}, nil
	}
	names := append([]string{"file"}, Metrics...)
	for _, f := range trace.Requests.Fields {
		names = append(names, f.Name)
	}
	fix := Suggest(name.text, names)
	if strings.HasPrefix(fix, "one of") { // the table is long
		fix = "`servescope define requests` lists the columns"
	}
	return operand{}, filterError(name.pos, fix, "unknown column %s", quote(name.text))
}

// Evaluator returns an evaluator of the filter. m computes the metrics.
func (f *Filter) Evaluator(m MetricColumn) *Evaluator { return &Evaluator{root: f.root, metrics: m} }
