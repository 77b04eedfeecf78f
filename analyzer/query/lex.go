package query

import "strings"

// kind is the kind of a token of the filter language.
type kind uint8

const (
	end kind = iota
	word
	quoted
	operator // = != < <= > >= ~
	open
	shut
	comma
)

// token is one token; pos is its byte offset in the text.
type token struct {
	kind kind
	text string
	pos  int
}

// is reports whether the token is the given keyword.
func (t token) is(keyword string) bool { return t.kind == word && strings.EqualFold(t.text, keyword) }

// lex splits text into tokens. The last token is end.
func lex(text string) ([]token, error) {
	var out []token
	for i := 0; i < len(text); {
		switch c := text[i]; {
		case c == ' ' || c == '\t' || c == '\n' || c == '\r':
			i++
		case c == '(':
			out, i = append(out, token{open, "(", i}), i+1
		case c == ')':
			out, i = append(out, token{shut, ")", i}), i+1
		case c == ',':
			out, i = append(out, token{comma, ",", i}), i+1
		case c == '"' || c == '\'':
			n := strings.IndexByte(text[i+1:], c)
			if n < 0 {
				return nil, filterError(i, "close it with "+string(c), "the quote %c is never closed", c)
			}
			out, i = append(out, token{quoted, text[i+1 : i+1+n], i}), i+n+2
		case strings.IndexByte("=!<>~", c) >= 0:
			n := len(text[i:]) - len(strings.TrimLeft(text[i:], "=!<>~"))
			op := text[i : i+n]
			if op == "==" { // as most languages write it
				op = "="
			}
			if !strings.Contains(" = != < <= > >= ~ ", " "+op+" ") {
				return nil, filterError(i, "the operators are = != < <= > >= ~", "unknown operator %s", quote(op))
			}
			out, i = append(out, token{operator, op, i}), i+n
		default:
			n := strings.IndexAny(text[i:], " \t\r\n(),=!<>~\"'")
			if n < 0 {
				n = len(text) - i
			}
			out, i = append(out, token{word, text[i : i+n], i}), i+n
		}
	}
	return append(out, token{end, "", len(text)}), nil
}

// filterError returns an error at byte offset pos of a filter.
func filterError(pos int, fix, format string, args ...any) error {
	return errorf("--filter", fix, "column %d: "+format, append([]any{pos + 1}, args...)...)
}
