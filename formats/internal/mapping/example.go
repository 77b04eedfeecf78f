package mapping

import (
	"strings"

	"servescope/formats/internal/column"
)

// example is the option that makes the column that is most likely one the latency
// of requests, or "" where no column has numbers. Which unit it has is for the
// caller to say.
func (s *sample) example() string {
	best, score := -1, 0
	for i := range s.profiles {
		if n := s.likely(i); n > score {
			best, score = i, n
		}
	}
	if best < 0 {
		return ""
	}
	text := about[e2e].name + "=" + s.names[best]
	if score < sureSpan {
		text += ":UNIT"
	}
	text = option(text)
	if score < sureSpan {
		text += " with UNIT s, ms, us or ns"
	}
	return text
}

// option is the option that gives assignments, as a shell reads it.
func option(assignments ...string) string {
	text := strings.Join(assignments, ",")
	if strings.ContainsAny(text, " \"'$&;()|<>*?[]{}#~!`\\") {
		text = "'" + strings.ReplaceAll(text, "'", `'\''`) + "'"
	}
	return "--map " + text
}

// assign is the assignment of a column, in a unit or none, to a role.
func assign(r role, column string, u unit) string {
	text := about[r].name + "=" + column
	if u != noUnit {
		text += ":" + unitNames[u]
	}
	return text
}

const sureSpan = 3 // its type is a duration

// likely tells how likely a column holds a latency: 0 not at all.
func (s *sample) likely(i int) int {
	p := &s.profiles[i]
	if len(s.names[i]) > 60 || strings.ContainsAny(s.names[i], ",\n\r") {
		return 0
	}
	for r := noRole + 1; r < roles; r++ {
		if match(r, p.joined, p.levels) >= 0 {
			return 0 // it is something else
		}
	}
	if f := p.typed; f != nil {
		switch {
		case f.Kind == column.Int && f.Step > 0:
			if p.kept(span) {
				return sureSpan
			}
			return 0
		case f.Kind == column.Float || f.Kind == column.Text && f.Number || f.Scale > 0:
			return 2
		case f.Kind == column.Int:
			return 1
		}
		return 0
	}
	switch {
	case !p.most(p.numbers) || p.low <= 0 || p.epoch() != noUnit:
		return 0
	case p.low == p.high && p.numbers > 2: // a version, a level
		return 0
	case p.whole < p.numbers || p.named != noUnit:
		return 2
	}
	return 1
}
