package torchtrace

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"

	"servescope/analyzer/diag"
)

// randomValue writes any JSON value in one of the ways in which it may be written.
func randomValue(r *rand.Rand, depth int) string {
	switch n := r.IntN(9); {
	case n == 0 && depth > 0:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, randomString(r)+randomSpace(r)+":"+randomSpace(r)+randomValue(r, depth-1))
		}
		return "{" + randomSpace(r) + strings.Join(parts, ","+randomSpace(r)) + "}"
	case n == 1 && depth > 0:
		var parts []string
		for range r.IntN(4) {
			parts = append(parts, randomValue(r, depth-1))
		}
		return "[" + strings.Join(parts, randomSpace(r)+",") + randomSpace(r) + "]"
	case n == 2:
		return []string{"true", "false", "null", "-0", "1e5", "12.50", "-3"}[r.IntN(7)]
	case n < 6:
		return randomString(r)
	}
	return fmt.Sprint(r.IntN(1_000_000))
}

func randomString(r *rand.Rand) string {
	var b strings.Builder
	b.WriteByte('"')
	for range r.IntN(20) {
		b.WriteString([]string{"a", " ", `\"`, `\\`, `\n`, "{", "}", "[", "]", ",", ":", "é", `\u00e9`, "correlation", "日", "x"}[r.IntN(16)])
	}
	return b.String() + `"`
}

func randomSpace(r *rand.Rand) string { return []string{"", "", " ", "\n  ", "\t\r\n"}[r.IntN(5)] }

// TestEventsAgainstJSON reads random events, in random pieces, and compares
// them with what encoding/json sees.
func TestEventsAgainstJSON(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for round := range 300 {
		var list []string
		for range 1 + r.IntN(12) {
			members := map[string]string{}
			for _, key := range []string{"ph", "cat", "name", "pid", "tid", "ts", "dur", "args", "id", "bp", "other"} {
				if r.IntN(5) > 0 {
					members[key] = randomValue(r, 2)
				}
			}
			if r.IntN(4) > 0 {
				members["ph"], members["ts"], members["dur"] = `"X"`, micros(r.Int64N(1e15)), micros(r.Int64N(1e6))
				members["args"] = fmt.Sprintf(`{"a":%s,%s"correlation":%s%d%s}`, randomValue(r, 2), randomSpace(r), randomSpace(r), r.IntN(1e6), `,"z":`+randomValue(r, 2))
			}
			var parts []string
			for key, value := range members { // in random order
				parts = append(parts, `"`+key+`"`+randomSpace(r)+":"+randomSpace(r)+value+randomSpace(r))
			}
			list = append(list, "{"+randomSpace(r)+strings.Join(parts, ",")+"}")
		}
		text := `{"head":` + randomValue(r, 3) + `,"traceEvents":[` + randomSpace(r) + strings.Join(list, ","+randomSpace(r)) + `],"tail":` + randomValue(r, 3) + "}"
		compareEvents(t, r, text)
		if t.Failed() {
			t.Fatalf("round %d: %s", round, text)
		}
	}
}

func compareEvents(t *testing.T, r *rand.Rand, text string) {
	var doc struct {
		TraceEvents []map[string]json.RawMessage
	}
	if err := json.Unmarshal([]byte(text), &doc); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	d := newDocument(newWindow(context.Background(), iotest.HalfReader(strings.NewReader(text)), 1+r.IntN(200)))
	i := 0
	d.diag = func(code string, _ diag.Severity, offset int64, msg, _ string) {
		t.Errorf("%s at %d: %s", code, offset, msg)
	}
	head := map[string]string{}
	d.header = func(key string, value []byte) { head[key] = string(value) }
	d.event = func(e *event, offset int64) {
		if text[offset] != '{' {
			t.Errorf("event %d at %d", i, offset)
		}
		want := doc.TraceEvents[i]
		i++
		for key, s := range map[string]span{"cat": e.cat, "name": e.name, "pid": e.pid, "tid": e.tid} {
			raw := string(want[key])
			if strings.HasPrefix(raw, "{") || strings.HasPrefix(raw, "[") {
				raw = ""
			}
			if got := string(d.s.b[s.from:s.to]); got != strings.Trim(raw, `"`) && `"`+got+`"` != raw {
				t.Errorf("%s is %q, want %q", key, got, raw)
			}
		}
		var ph string
		json.Unmarshal(want["ph"], &ph)
		if len(ph) == 1 && ph[0] < 0x80 && e.ph != ph[0] && !bytes.Contains(want["ph"], []byte(`\`)) {
			t.Errorf("ph is %q, want %q", e.ph, ph)
		}
		for key, got := range map[string]int64{"ts": e.ts, "dur": e.dur} {
			var n json.Number
			if json.Unmarshal(want[key], &n) == nil && len(want[key]) > 0 && want[key][0] != '"' && n != "" {
				if v := exact(t, n); v != got {
					t.Errorf("%s is %d, want %d", key, got, v)
				}
			}
		}
		var args struct{ Correlation *uint64 }
		if json.Unmarshal(want["args"], &args) == nil && args.Correlation != nil && (!e.hasCorr || e.corr != *args.Correlation) {
			t.Errorf("correlation is %d %v, want %d", e.corr, e.hasCorr, *args.Correlation)
		}
		if e.repaired {
			t.Error("nothing was to repair")
		}
	}
	d.read()
	if i != len(doc.TraceEvents) || d.damaged != 0 || d.lost {
		t.Errorf("%d events, want %d", i, len(doc.TraceEvents))
	}
	if head["head"] == "" || head["tail"] == "" {
		t.Errorf("header %q", head)
	}
}

// TestLargeValues: an event or a header value beyond the limit is skipped.
func TestLargeValues(t *testing.T) {
	k := kernelEvent("gemm", 0, 5, 0)
	huge := strings.Repeat(`x\"}`, (maxValue+1<<20)/4)
	for where, text := range map[string]string{
		"event":  `[` + k + `,{"ph":"X","name":"` + huge + `","args":{"a":[{}]}},` + k + `]`,
		"header": `{"big":{"a":["` + huge + `"]},"traceEvents":[` + k + `,` + k + `]}`,
		"end":    `[` + k + `,` + k + `,{"ph":"X","name":"` + huge,
	} {
		g := readText(t, text)
		code := map[string]string{"event": "event_too_large", "header": "header_too_large", "end": "truncated"}[where]
		if g.account.Parsed != 2 || g.diag(code) == nil {
			t.Errorf("%s: account %+v, diags %+v", where, g.account, g.diags)
		}
	}
}
