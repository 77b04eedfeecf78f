package render

import (
	"bytes"
	"encoding/json"
	"testing"
)

// TestIndent compares the layout with that of encoding/json.
func TestIndent(t *testing.T) {
	for _, text := range []string{
		`{}`, `[]`, `{"a":1}`, `[1,2,[],{},[[]],{"b":{"c":[null,true,-1e-9]}}]`, `"x"`,
		`{"t":"{\"a\":[1,2]}","u":"\\","v":"a,b:c","w":""}`, `[{"a":{}},{"b":[]}]`,
	} {
		var want bytes.Buffer
		if err := json.Indent(&want, []byte(text), "", "  "); err != nil {
			t.Fatal(err)
		}
		if got := indent([]byte(text)); string(got) != want.String() {
			t.Errorf("%s:\n%s\nwant\n%s", text, got, want.String())
		}
	}
}
