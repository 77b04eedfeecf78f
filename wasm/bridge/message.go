package bridge

import (
	"fmt"
	"strconv"
	"strings"
)

// message is a decoded request: the values of each key in order.
type message map[string][]string

// decode parses the form encoding of URLs. It takes what browsers make of
// URLSearchParams; anything else is an error.
func decode(text []byte) (message, error) {
	m := make(message)
	for pair := range strings.SplitSeq(string(text), "&") {
		if pair == "" {
			continue
		}
		key, value, _ := strings.Cut(pair, "=")
		k, err := unescape(key)
		if err != nil {
			return nil, err
		}
		v, err := unescape(value)
		if err != nil {
			return nil, err
		}
		m[k] = append(m[k], v)
	}
	return m, nil
}

// unescape decodes + and %XX.
func unescape(s string) (string, error) {
	if !strings.ContainsAny(s, "%+") {
		return s, nil
	}
	out := make([]byte, 0, len(s))
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '+':
			out = append(out, ' ')
		case '%':
			if i+3 > len(s) {
				return "", fmt.Errorf("the request ends within %q", s[i:])
			}
			b, err := strconv.ParseUint(s[i+1:i+3], 16, 8)
			if err != nil {
				return "", fmt.Errorf("the request holds %q", s[i:i+3])
			}
			out = append(out, byte(b))
			i += 2
		default:
			out = append(out, s[i])
		}
	}
	return string(out), nil
}

// text returns the value of a key, "" where it is missing.
func (m message) text(key string) string {
	if v := m[key]; len(v) > 0 {
		return v[0]
	}
	return ""
}

func (m message) yes(key string) bool { return m.text(key) == "true" }

// number returns the value of a key as a whole number, other where it is missing.
func (m message) number(key string, other int64) (int64, error) {
	text := m.text(key)
	if text == "" {
		return other, nil
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0, &failure{Code: usage, Flag: key, Message: fmt.Sprintf("%s is a whole number, %q is not", key, text)}
	}
	return n, nil
}
