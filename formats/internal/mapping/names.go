package mapping

import (
	"strings"
	"unicode"
)

// splitName splits the name of a column into lower-case words joined by _, whatever its
// style (ttft_ms, ttftMs, TTFT (ms), $request_time), and cuts the unit off its end.
// levels are the offsets at which the levels of nesting begin.
func splitName(name string) (joined string, levels []int, u unit) {
	var b strings.Builder
	runes := []rune(name)
	fresh := true
	levels = append(levels, 0)
	for i, r := range runes {
		if !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			fresh = true
			if r == '.' && b.Len() > 0 {
				levels = append(levels, b.Len()+1)
			}
			continue
		}
		if upper(r) && r > '9' && i > 0 && (lower(runes[i-1]) || i+1 < len(runes) && lower(runes[i+1]) && upper(runes[i-1]) && !plural(runes[i+1:])) {
			fresh = true
		}
		if fresh && b.Len() > 0 {
			b.WriteByte('_')
		}
		fresh = false
		b.WriteRune(unicode.ToLower(r))
	}
	joined = b.String()
	if k := strings.LastIndexByte(joined, '_'); k > 0 {
		if u = unitOf(joined[k+1:]); u != noUnit && u < written {
			joined = strings.TrimSuffix(joined[:k], "_in")
		} else {
			u = noUnit
		}
	}
	return joined, levels, u
}

// upper reports whether a letter is a capital. A digit counts as one: E2E.
func upper(r rune) bool { return r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' }

// lower reports whether a letter is a small one.
func lower(r rune) bool { return r >= 'a' && r <= 'z' }

// plural reports whether the letters behind a capital are the s of a plural: ITLs.
func plural(rest []rune) bool {
	return rest[0] == 's' && (len(rest) == 1 || !lower(rest[1]) && !upper(rest[1]))
}

// outerNames are levels and first words that say only that a request follows: request.id,
// llm_model.
const outerNames = " request req llm response resp usage metrics metric timing timings timestamps stats data attributes attrs fields payload body json_payload http server openai gen_ai log record source context extra meta metadata "

// matchName returns how well a name fits a role: 0 is the best name of the role, -1 is no
// fit.
func matchName(r role, joined string, levels []int) int {
	best := -1
	from := 0
	for n, level := range levels {
		if level > len(joined) {
			break
		}
		if n > 0 {
			from = level
		}
		rest := joined[min(from, len(joined)):]
		for dropped := 0; ; dropped++ {
			k := strings.Index(roleInfo[r].names, " "+rest+" ")
			plain := n == 0 || strings.Contains(rest, "_") || r == ttft || r == gaps || r == tpot || isOuter(joined[:from])
			if k >= 0 && rest != "" && plain && (best < 0 || k+1000*(n+dropped) < best) {
				best = k + 1000*(n+dropped)
			}
			first, after, more := strings.Cut(rest, "_")
			if !more || !strings.Contains(outerNames, " "+first+" ") {
				break
			}
			rest = after
		}
	}
	return best
}

// isOuter reports whether all levels of a prefix are among outerNames.
func isOuter(prefix string) bool {
	prefix = strings.Trim(prefix, "_")
	for prefix != "" {
		if strings.Contains(outerNames, " "+prefix+" ") {
			return true
		}
		first, rest, _ := strings.Cut(prefix, "_")
		if !strings.Contains(outerNames, " "+first+" ") {
			return false
		}
		prefix = rest
	}
	return true
}
