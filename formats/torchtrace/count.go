package torchtrace

import "servescope/formats"

// verdict says how an event was used, or why it was not.
type verdict uint8

const (
	parsed verdict = iota
	noise
	diagnosed
)

// maxKinds is how many kinds of events are told apart.
const maxKinds = 64

// counts counts events by kind and verdict.
type counts struct {
	kinds    []kindCount
	verdicts [3]int64
}

type kindCount struct {
	name string
	n    int64
}

// phases names events that are not of the kind "complete".
var phases = [256]string{
	'M': "metadata", 's': "flow", 't': "flow", 'f': "flow", 'i': "instant", 'I': "instant", 'C': "counter",
	'B': "begin", 'E': "end", 'b': "async", 'n': "async", 'e': "async", 'N': "object", 'O': "object", 'D': "object",
}

// add counts an event: complete ones under their category, others under their
// phase. It looks at the kinds in order, of which there are few.
func (c *counts) add(ph byte, category []byte, v verdict) {
	c.verdicts[v]++
	if ph != 'X' {
		c.bump(phaseName(ph))
		return
	}
	for i := range c.kinds {
		if c.kinds[i].name == string(category) { // does not allocate
			c.kinds[i].n++
			return
		}
	}
	switch {
	case len(category) == 0:
		c.bump("no category")
	case len(c.kinds) < maxKinds:
		c.bump(shown(category))
	default:
		c.bump("other")
	}
}

func phaseName(ph byte) string {
	if name := phases[ph]; name != "" {
		return name
	}
	return "no phase"
}

func (c *counts) bump(name string) {
	for i := range c.kinds {
		if c.kinds[i].name == name {
			c.kinds[i].n++
			return
		}
	}
	c.kinds = append(c.kinds, kindCount{name, 1})
}

// account returns the account of a document with the given number of damaged
// events.
func (c *counts) account(damaged int64) formats.Account {
	a := formats.Account{
		Parsed: c.verdicts[parsed], Noise: c.verdicts[noise], Diagnosed: c.verdicts[diagnosed] + damaged,
		Kinds: make(map[string]int64),
	}
	a.Total = a.Parsed + a.Noise + a.Diagnosed
	for _, k := range c.kinds {
		a.Kinds[k.name] = k.n
	}
	if damaged > 0 {
		a.Kinds["damaged"] += damaged
	}
	return a
}
