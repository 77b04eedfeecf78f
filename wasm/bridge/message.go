package bridge

import (
	"fmt"
	"net/url"
	"strconv"
)

// message is a decoded request: the values of each key in order.
type message url.Values

// decode parses the form encoding of URLs.
func decode(text []byte) (message, error) {
	m, err := url.ParseQuery(string(text))
	return message(m), err
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
