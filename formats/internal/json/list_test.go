package json

import "testing"

func TestList(t *testing.T) {
	for text, want := range map[string]int{
		`{"data":[1]}`:                      9,
		`{"x":{"data":[1]},"data" : [ {"a"`: 28,
		`{"x":"\"data\":[","data":[`:        26,
		`{"data":null,"x":[2]}`:             -1,
		`{"data":{"data":[1]}}`:             -1,
		`{"x":{"data":[`:                    -1,
		`{"x" "data":[`:                     -1,
		`["data"]`:                          -1,
		`{`:                                 -1,
		``:                                  -1,
	} {
		if got := List([]byte(text), "data"); got != want {
			t.Errorf("%s: %d, want %d", text, got, want)
		}
	}
}
