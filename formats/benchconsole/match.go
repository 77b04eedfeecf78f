package benchconsole

import (
	"bytes"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	maxLabel     = 61  // characters of a row's label
	maxText      = 200 // characters of a value
	maxArguments = 32  // settings of a command that are kept
)

// row splits a row of a table, "label: value", without spaces around it.
func row(line []byte) (label, text string, ok bool) {
	name, value, found := bytes.Cut(line, []byte(":"))
	rest := bytes.TrimSpace(value)
	if !found || len(name) == 0 || len(rest) == 0 || len(rest) == len(value) || !isSpace(value[0]) ||
		!isLetter(name[0]) && name[0] != '#' || bytes.IndexByte(name, '=') >= 0 ||
		utf8.RuneCount(name) > maxLabel || utf8.RuneCount(rest) > maxText {
		return "", "", false
	}
	return strings.ToValidUTF8(string(name), "\uFFFD"), strings.ToValidUTF8(string(rest), "\uFFFD"), true
}

// kept names the settings of a command that describe a run.
var kept = []string{"backend", "model", "dataset_name", "num_prompts", "request_rate", "max_concurrency", "random_input_len", "random_output_len", "burstiness"}

// argument finds the next "name=value" of a Python call from at on whose name is
// kept, and where to go on; next is -1 behind the last. A value in quotes keeps
// them; a longer one than maxText is cut.
func argument(line []byte, at int) (name, value string, next int) {
	for from := at; ; {
		i := bytes.IndexByte(line[at:], '=')
		if i < 0 {
			return "", "", -1
		}
		i += at
		at = i + 1
		start := i
		for start > from && (isLetter(line[start-1]) || line[start-1] == '_' || '0' <= line[start-1] && line[start-1] <= '9') {
			start--
		}
		name = string(line[start:i])
		if n := valueLength(line[at:]); n > 0 && slices.Contains(kept, name) {
			return name, string(line[at : at+n]), at + n
		}
	}
}

// valueLength returns the length of the value at the start of line.
func valueLength(line []byte) (n int) {
	if len(line) > 0 && line[0] == '\'' {
		end := bytes.IndexByte(line[1:], '\'')
		if end < 0 || utf8.RuneCount(line[1:1+end]) > maxText {
			return 0
		}
		return end + 2
	}
	for chars := 0; n < len(line) && chars < maxText && !strings.ContainsRune(",()' ", rune(line[n])); chars++ {
		_, size := utf8.DecodeRune(line[n:])
		n += size
	}
	return n
}

func isLetter(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' }

func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }
