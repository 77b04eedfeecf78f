package shapes

import (
	"bytes"
	"encoding/json"
	"io"
	"strings"
	"testing"
)

// TestOTLP reads generated spans with encoding/json.
func TestOTLP(t *testing.T) {
	for name, write := range map[string]func(io.Writer, Config) error{"flat": OTLP, "tree": OTLPTree} {
		c := Config{Seed: 7, Count: 50, Tokens: 20, Open: 8}
		var text, again bytes.Buffer
		if err := write(&text, c); err != nil {
			t.Fatal(err)
		}
		if write(&again, c); !bytes.Equal(text.Bytes(), again.Bytes()) {
			t.Errorf("%s: the same seed gives other bytes", name)
		}
		requests, steps := 0, 0
		ended := make(map[string]bool) // roots
		for d := json.NewDecoder(&text); d.More(); {
			var line struct {
				ResourceSpans []struct {
					ScopeSpans []struct {
						Spans []struct{ Name, SpanID, ParentSpanID string }
					}
				}
			}
			if err := d.Decode(&line); err != nil {
				t.Fatal(err)
			}
			spans := line.ResourceSpans[0].ScopeSpans[0].Spans
			if len(spans) > spansPerLine {
				t.Errorf("%s: %d spans on a line", name, len(spans))
			}
			for _, s := range spans {
				if ended[s.ParentSpanID] {
					t.Fatalf("%s: %s stands behind its root", name, s.Name)
				}
				switch {
				case s.Name == "llm_request", strings.HasPrefix(s.Name, " Req "):
					requests++
					ended[s.SpanID] = true
				case s.Name == "decode_loop":
					steps++
				}
			}
		}
		if requests != c.Count || (name == "tree") != (steps > 500) {
			t.Errorf("%s: %d requests, %d steps", name, requests, steps)
		}
	}
}
