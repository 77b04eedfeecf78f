package tokenlog

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// TestDoc holds the specification to the code: every key and event is in it, and
// its examples are read without a diagnostic.
func TestDoc(t *testing.T) {
	file, err := os.ReadFile("doc.go")
	if err != nil {
		t.Fatal(err)
	}
	doc := string(file)
	word := func(s string) bool { return regexp.MustCompile(`\b` + regexp.QuoteMeta(s) + `\b`).MatchString(doc) }
	for _, f := range keys {
		if f != nil && !strings.HasSuffix(f.name, "_ms") && !strings.HasSuffix(f.name, "_us") && !strings.HasSuffix(f.name, "_ns") && !word(f.name) {
			t.Errorf("the key %s is not in the documentation", f.name)
		}
	}
	for _, name := range eventNames {
		if !word(name) {
			t.Errorf("the event %s is not in the documentation", name)
		}
	}
	for c, values := range trace.Requests.Fields {
		for _, v := range values.Values {
			if !word(v) {
				t.Errorf("%s: the value %s is not in the documentation", trace.Requests.Fields[c].Name, v)
			}
		}
	}
	var records, events []string
	for line := range strings.Lines(doc) {
		if text, ok := strings.CutPrefix(line, "//\t{"); ok {
			if strings.Contains(text, `"event":`) {
				events = append(events, "{"+text)
			} else {
				records = append(records, "{"+text)
			}
		}
	}
	for _, c := range []struct {
		format *formats.Format
		lines  []string
		rows   int
	}{{&Format, records, 2}, {&Events, events, 1}} {
		src := source.FromBytes("doc.go", []byte(strings.Join(c.lines, "")))
		rows, r := readAll(t, c.format, src, formats.Options{Workers: 1, Lists: true})
		if rows != c.rows || len(r.Diags().All()) != 0 {
			t.Errorf("%s: the examples give %d rows, want %d, and the diags %+v", c.format.Name, rows, c.rows, r.Diags().All())
		}
	}
}
