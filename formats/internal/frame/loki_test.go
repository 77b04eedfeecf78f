package frame

import (
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// TestAnswer: lines of the streams of an answer come in the order of their times, those of
// one time in the order in which they were written, whichever direction was asked for.
func TestAnswer(t *testing.T) {
	const head = `{"status":"success","data":{"resultType":"streams","result":[`
	for name, c := range map[string]struct {
		text, want string
		whole      bool
	}{
		"backward, of two streams": {head + `{"stream":{"pod":"a\"]"},"values":[["30","e"],["20","d"],["20","c"],["10","a"]]},` +
			`{"stream":{},"values":[["15","b \"q\" \u00e9\n"]]}],"stats":{"values":[["1","no"]],"x":{"result":[1]}}}}` + "\n", "a\nb \"q\" é\nc\nd\ne\n", true},
		"forward, with metadata": {head + `{"stream":{"level":"info"},"values":[["10","a",{"trace_id":"values"}],["10","b",{}]]}]}}`, "a\nb\n", true},
		"written over lines":     {"{\n \"status\": \"success\",\n \"data\": {\n  \"resultType\": \"streams\",\n  \"result\": [\n   {\"stream\": {\n }, \"values\": [\n[\n\"10\", \"a\\tb\"\n]\n]}\n]}\n}\n", "a\tb\n", true},
		"two answers":            {head + `{"stream":{},"values":[["20","b"]]}]}}` + "\n" + head + `{"stream":{},"values":[["10","a"]]}]}}`, "a\nb\n", true},
		"nothing":                {head + `]}}`, "", true},
		"no values":              {head + `{"stream":{},"values":[]}]}}`, "", true},
		"cut in a line":          {head + `{"stream":{},"values":[["10","a"],["20","b`, "a\n", false},
		"cut behind a line":      {head + `{"stream":{},"values":[["10","a"],["20","b"`, "a\nb\n", false},
		"no strings":             {head + `{"stream":{},"values":[["10","a"],[20,5],["30","c"]]}]}}`, "a\n", false},
		"not closed":             {head + `{"stream":{},"values":[["10","a"]]`, "a\n", false},
	} {
		if !Answers([]byte(c.text)) {
			t.Errorf("%s: not known", name)
		}
		a, whole, err := ReadAnswer(strings.NewReader(c.text), 1<<20)
		if err != nil || whole != c.whole {
			t.Errorf("%s: whole %v %v", name, whole, err)
		}
		if got, err := io.ReadAll(iotest.OneByteReader(a)); string(got) != c.want || err != nil {
			t.Errorf("%s: %q %v, want %q", name, got, err, c.want)
		}
		for n := range len(c.text) {
			if a, whole, err := ReadAnswer(strings.NewReader(c.text), int64(n)); err != nil || whole || len(a.lines) > strings.Count(c.want, "\n") {
				t.Errorf("%s: of %d bytes %d lines, whole %v %v", name, n, len(a.lines), whole, err)
			}
		}
	}
	for _, text := range []string{"", "{}", `{"status":"success","data":{"resultType":"matrix","result":[]}}`, `[` + head, "x" + head} {
		if Answers([]byte(text)) {
			t.Errorf("%q is known", text)
		}
	}
}
