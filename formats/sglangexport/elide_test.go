package sglangexport

import (
	stdjson "encoding/json"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	"servescope/formats/internal/json"
)

// TestElide: what is left are the same parameters without their long strings, for
// strings of all that makes quotes hard to find.
func TestElide(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	pieces := []string{`"`, `\`, "\n", "é", "x", " words ", `\"`, "日", "\u2028", `", "a": 1`, strings.Repeat("long ", 300)}
	text := func() string {
		var b strings.Builder
		for range r.IntN(12) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		return b.String()
	}
	elided := 0
	for range 2000 {
		in := map[string]any{"rid": text(), "text": text(), "n": 3.0, "input": []any{text(), text()}, "sampling_params": map[string]any{"stop": text(), "max_new_tokens": 5.0}}
		inner, _ := stdjson.Marshal(in)
		outer, _ := stdjson.Marshal(string(inner))
		outer = []byte(strings.NewReplacer(`\u0022`, `\"`).Replace(string(outer)))
		got := elide(nil, outer[1:len(outer)-1])
		var out map[string]any
		if err := stdjson.Unmarshal(json.Text(got), &out); err != nil {
			t.Fatalf("%v:\n%s\n%s", err, outer, got)
		}
		var drop func(v, by any) any
		drop = func(v, by any) any {
			switch v := v.(type) {
			case map[string]any:
				for k := range v {
					v[k] = drop(v[k], by.(map[string]any)[k])
				}
			case []any:
				for k := range v {
					v[k] = drop(v[k], by.([]any)[k])
				}
			case string:
				if b, _ := stdjson.Marshal(v); by == "" && len(b) > 800 {
					elided++
					return ""
				}
			}
			return v
		}
		if want := drop(in, out); !reflect.DeepEqual(out, want) {
			t.Fatalf("got %v\nwant %v", out, want)
		}
	}
	if elided < 1000 {
		t.Errorf("only %d strings were left out", elided)
	}
	for _, same := range []string{``, `{\"a\": \"b\"}`, strings.Repeat(`x\u0022`, 400), strings.Repeat(`\u005C`, 400)} {
		if got := elide(nil, []byte(same)); string(got) != same {
			t.Errorf("%.60q: %.60q", same, got)
		}
	}
	for _, odd := range []string{strings.Repeat(`\`, 2000), strings.Repeat(`"`, 2000), strings.Repeat(`\"`, 2000) + `\`, strings.Repeat("a", 3000)} {
		elide(nil, []byte(odd)) // must not panic
	}
}
