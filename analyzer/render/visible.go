package render

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// maxMarks is how many combining marks may follow a letter before the rest is
// spelled out: a stack of thousands covers the lines above it.
const maxMarks = 2

// Visible returns s with everything a terminal would act on, or not show at
// all, spelled out: control characters, escape sequences, bidirectional
// overrides, zero-width characters, line separators, invalid UTF-8.
func Visible(s string) string { return visible(s) }

func visible(s string) string {
	var b strings.Builder
	marks := 0
	for i := 0; i < len(s); {
		r, n := utf8.DecodeRuneInString(s[i:])
		switch {
		case r == utf8.RuneError && n == 1:
			b.WriteString(`\x` + strconv.FormatUint(uint64(s[i])|0x100, 16)[1:])
		case unicode.In(r, unicode.Mn, unicode.Me):
			if marks++; marks > maxMarks {
				b.WriteString(escaped(r))
			} else {
				b.WriteRune(r)
			}
		case strconv.IsPrint(r):
			marks = 0
			b.WriteRune(r)
		default:
			b.WriteString(escaped(r))
		}
		i += n
	}
	return b.String()
}

// escaped spells r out as in a Go string: \n, \x1b, \u202e.
func escaped(r rune) string {
	q := strconv.QuoteRuneToASCII(r)
	return q[1 : len(q)-1]
}

// columns returns how many terminal columns the visible text s takes: two for
// wide East Asian characters and emoji, none for combining marks.
func columns(s string) int {
	n := 0
	for _, r := range s {
		n += runeColumns(r)
	}
	return n
}

func runeColumns(r rune) int {
	switch {
	case r < 0x300:
		return 1
	case unicode.In(r, unicode.Mn, unicode.Me):
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// shorten returns s cut in the middle to at most limit columns (at least 3).
func shorten(s string, limit int) string {
	if limit = max(limit, 3); columns(s) <= limit {
		return s
	}
	head, tail := limit/2, limit-limit/2-1
	runes := []rune(s)
	i, used := 0, 0
	for used+runeColumns(runes[i]) <= head {
		used += runeColumns(runes[i])
		i++
	}
	j, used := len(runes), 0
	for used+runeColumns(runes[j-1]) <= tail {
		j--
		used += runeColumns(runes[j])
	}
	for j < len(runes) && runeColumns(runes[j]) == 0 { // marks of a letter that is gone
		j++
	}
	return string(runes[:i]) + "…" + string(runes[j:])
}

// wrap breaks s at spaces into lines of at most limit columns; longer words stand
// alone on their line.
func wrap(s string, limit int) []string {
	var lines []string
	line, used := "", 0
	for _, word := range strings.Fields(s) {
		n := columns(word)
		if used > 0 && used+1+n > limit {
			lines = append(lines, line)
			line, used = "", 0
		}
		if used > 0 {
			line += " "
			used++
		}
		line += word
		used += n
	}
	return append(lines, line)
}
