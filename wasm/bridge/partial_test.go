package bridge

import (
	"bytes"
	"encoding/json"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"servescope/formats/source"
)

// TestPartialReports: while a file is read, reports of its first rows come with the
// progress, no more often than every quarter of a second of a clock that makes a
// step at each look, and the last answer is that without them.
func TestPartialReports(t *testing.T) {
	name := "../../testdata/sample/tokenlog.jsonl"
	sample, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	text := bytes.Repeat(sample, 200)
	const step = 100 * time.Millisecond
	var looks atomic.Int64
	e := newEngine()
	e.opt.Workers = 1
	e.opt.Now = func() time.Time { return present.Add(time.Duration(looks.Add(1)) * step) }
	ask(t, e, []source.Input{{Source: source.FromBytes(name, text)}}, "op", "open", "session", "1")
	var rows []float64
	var at []time.Duration
	var last []byte
	e.Call(t.Context(), []byte("op=run&session=1"), nil, func(head, body []byte) {
		var h map[string]any
		if err := json.Unmarshal(head, &h); err != nil {
			t.Fatal(err)
		}
		if last = body; h["type"] != "progress" || body == nil {
			return
		}
		var r struct {
			Runs  []struct{ Requests struct{ Total float64 } }
			Diags []struct{ Code string }
		}
		if err := json.Unmarshal(body, &r); err != nil || len(r.Runs) != 1 || len(r.Diags) != 1 || r.Diags[0].Code != "partial" {
			t.Fatalf("%v: %s", err, body)
		}
		if h["of"] != -1.0 || h["rows"] != r.Runs[0].Requests.Total {
			t.Errorf("%s comes with a report of %g requests", head, r.Runs[0].Requests.Total)
		}
		rows, at = append(rows, r.Runs[0].Requests.Total), append(at, time.Duration(looks.Load())*step)
	})
	if len(rows) < 2 {
		t.Fatalf("%d reports of parts", len(rows))
	}
	for i := 1; i < len(rows); i++ {
		if rows[i] <= rows[i-1] || at[i]-at[i-1] < partPace {
			t.Errorf("report %d is of %g rows after one of %g, %s later", i, rows[i], rows[i-1], at[i]-at[i-1])
		}
	}
	still := newEngine()
	ask(t, still, []source.Input{{Source: source.FromBytes(name, text)}}, "op", "open", "session", "1")
	if want := ask(t, still, nil, "op", "run", "session", "1").body; !bytes.Equal(last, want) {
		t.Error("the report differs with reports of parts before it")
	}
}
