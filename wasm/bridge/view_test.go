package bridge

import (
	"encoding/binary"
	"math"
	"os"
	"testing"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/formats/source"
)

// TestView holds what comes through the bridge to what the session shows.
func TestView(t *testing.T) {
	sample, err := os.ReadFile("../../testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	e := newEngine()
	if a := ask(t, e, []source.Input{{Source: source.FromBytes("a", sample)}}, "op", "open", "session", "1"); a.head["type"] != "result" {
		t.Fatal(a.head)
	}
	f, err := query.ParseFilter("prompt_tokens > 300")
	if err != nil {
		t.Fatal(err)
	}
	views := []struct {
		p     analyzer.Viewport
		pairs []string
	}{
		{analyzer.Viewport{Kind: "columns", Columns: []string{"ttft", "status", "request_id", "parts"}}, []string{"columns", "ttft", "columns", "status", "columns", "request_id,parts"}},
		{analyzer.Viewport{Kind: "requests", Columns: []string{"e2e"}, Sort: "e2e", Desc: true, Offset: 3, Limit: 9}, []string{"columns", "e2e", "sort", "e2e", "desc", "true", "offset", "3", "limit", "9"}},
		{analyzer.Viewport{Kind: "series", XBins: 20, TokenTimes: true, From: 5e8, To: 4e9}, []string{"buckets", "20", "tokens", "true", "from_ns", "500000000", "to_ns", "4000000000"}},
		{analyzer.Viewport{Kind: "request", Row: 7}, []string{"row", "7"}},
		{analyzer.Viewport{Kind: "ecdf", Metric: "ttft", Limit: 40}, []string{"metric", "ttft", "points", "40"}},
	}
	for _, v := range views {
		want, err := e.sessions["1"].s.View(t.Context(), &query.Query{Filter: f}, v.p)
		if err != nil {
			t.Fatal(err)
		}
		a := ask(t, e, nil, append([]string{"op", "view", "session", "1", "filter", "prompt_tokens > 300", "kind", v.p.Kind}, v.pairs...)...)
		columns, _ := a.head["columns"].([]any)
		if len(columns) != len(want.List) || a.head["type"] != "result" {
			t.Errorf("%s: %v", v.p.Kind, a.head)
			continue
		}
		for i, c := range columns {
			head, own := c.(map[string]any), want.List[i]
			at, n := int(head["at"].(float64)), int(head["n"].(float64))
			if head["name"] != own.Name || (head["type"] == "text") != own.Text || n != len(own.Floats)+len(own.Codes) || at%8 != 0 {
				t.Errorf("%s: column %v of %d", v.p.Kind, head, len(own.Floats))
				continue
			}
			for k := range n {
				if own.Text {
					if got := int32(binary.LittleEndian.Uint32(a.body[at+4*k:])); got != own.Codes[k] {
						t.Errorf("%s: %s[%d] = %d, want %d", v.p.Kind, own.Name, k, got, own.Codes[k])
					}
				} else if got := math.Float64frombits(binary.LittleEndian.Uint64(a.body[at+8*k:])); got != own.Floats[k] && (got == got || own.Floats[k] == own.Floats[k]) {
					t.Errorf("%s: %s[%d] = %v, want %v", v.p.Kind, own.Name, k, got, own.Floats[k])
				}
			}
		}
		if fields, _ := a.head["fields"].([]any); len(fields) != len(want.Fields) {
			t.Errorf("%s: %d fields, want %d", v.p.Kind, len(fields), len(want.Fields))
		}
	}
	for _, pairs := range [][]string{{"kind", "requests", "limit", "-1"}, {"kind", "requests", "offset", "x"}, {"kind", "columns", "run", "99"}, {"kind", "heatmap", "xbins", "99999999999"}} {
		a := ask(t, e, nil, append([]string{"op", "view", "session", "1"}, pairs...)...)
		if a.head["code"] != usage {
			t.Errorf("%q: %v", pairs, a.head)
		}
	}
}
