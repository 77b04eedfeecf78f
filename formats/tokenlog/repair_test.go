package tokenlog

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// rowsOf reads a text with a format: its rows as describe writes them, and its
// diagnostics.
func rowsOf(t *testing.T, f *formats.Format, text string, describe func(b *trace.Batch, i int) string) (rows []string, diags []diag.Diag) {
	t.Helper()
	r, err := f.Open(context.Background(), source.FromBytes("log", []byte(text)), formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		for i := range r.Batch().Rows {
			rows = append(rows, describe(r.Batch(), i))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return rows, r.Diags().All()
}

// TestUnsortedStamps: token stamps out of order are sorted, with their counts, in
// both shapes alike.
func TestUnsortedStamps(t *testing.T) {
	const records = `{"request_id":"u","arrival":100,"clock":"run","output_tokens":7,"token_timestamps":[103,101,102],"chunk_tokens":[4,1,2]}`
	const events = `{"ts":100,"request_id":"u","event":"arrival","clock":"run"}
{"ts":103,"request_id":"u","event":"token","tokens":4}
{"ts":101,"request_id":"u","event":"token","tokens":1}
{"ts":102,"request_id":"u","event":"token","tokens":2}
{"ts":103,"request_id":"u","event":"finish","output_tokens":7}
`
	const want = "101000000000 103000000000 [1000000000 1000000000] [1 2 4] 1"
	for f, text := range map[*formats.Format]string{&Format: records, &Events: events} {
		rows, diags := rowsOf(t, f, text, func(b *trace.Batch, i int) string {
			first, _ := b.Ints(trace.FirstToken).At(i)
			last, _ := b.Ints(trace.LastToken).At(i)
			gaps, _ := b.Lists(trace.ChunkGaps).At(i)
			tokens, _ := b.Lists(trace.ChunkTokens).At(i)
			k, _ := b.Ints(trace.FirstChunkTokens).At(i)
			return fmt.Sprint(first, last, gaps, tokens, k)
		})
		if len(rows) != 1 || rows[0] != want {
			t.Errorf("%s: %q, want %q", f.Name, rows, want)
		}
		if len(diags) != 1 || diags[0].Code != "late_token" || diags[0].Count != 1 {
			t.Errorf("%s: diags %+v", f.Name, diags)
		}
	}
	rows, diags := rowsOf(t, &Format, `{"arrival":1,"first_token":2,"chunk_gaps":[3,-1],"clock":"run"}`, func(b *trace.Batch, i int) string {
		gaps, _ := b.Lists(trace.ChunkGaps).At(i)
		return fmt.Sprint(gaps)
	})
	if rows[0] != "[3000000000 -1000000000]" || !strings.Contains(fmt.Sprint(diags), "token_order") {
		t.Errorf("gaps %q, diags %+v: what are said to be gaps stay as they are", rows, diags)
	}
}

// TestWrongUnit: a time since 1970 in milliseconds under a key in seconds is told
// from other numbers that are too large, and the right key is named.
func TestWrongUnit(t *testing.T) {
	const rest = `,"output_tokens":2}`
	for text, want := range map[string]string{
		`{"arrival":1764428000123`:              "wrong_unit: name the key arrival_ms",
		`{"received":1764428000123456`:          "wrong_unit: name the key received_us",
		`{"arrival":1764428000123456789`:        "wrong_unit: name the key arrival_ns",
		`{"token_timestamps":[1764428000123.5]`: "wrong_unit: name the key token_timestamps_ms",
		`{"arrival_ms":1764428000123000000`:     "out_of_range: ",
		`{"arrival":99999999999999999999999`:    "out_of_range: ",
		`{"d_queue":1764428000123`:              "out_of_range: ",
		`{"cached_tokens":99999999999999999999`: "out_of_range: ",
	} {
		_, diags := rowsOf(t, &Format, text+rest, func(*trace.Batch, int) string { return "" })
		found := false
		for _, d := range diags {
			found = found || strings.HasPrefix(d.Code+": "+d.Fix, want)
		}
		if !found {
			t.Errorf("%s: %+v, want %s", text, diags, want)
		}
	}
}

// TestRepeatedEvents: a log that was appended to itself says so, and another
// attempt under the same id does not.
func TestRepeatedEvents(t *testing.T) {
	const one = `{"ts":100,"request_id":"a","event":"arrival","clock":"run"}
{"ts":101,"request_id":"a","event":"token"}
{"ts":102,"request_id":"a","event":"finish"}
`
	later := strings.ReplaceAll(one, `"ts":10`, `"ts":11`)
	for text, want := range map[string]int64{one + one + one: 2, one + later: 0, one + later + one: 0, one + strings.ReplaceAll(one, `"a"`, `"b"`): 0} {
		rows, diags := rowsOf(t, &Events, text, func(*trace.Batch, int) string { return "" })
		var got int64
		for _, d := range diags {
			if d.Code == "duplicate_request" {
				got = d.Count
			}
		}
		if got != want || len(rows) != strings.Count(text, "arrival") {
			t.Errorf("%d rows, %d are said to be there twice, want %d: %+v", len(rows), got, want, diags)
		}
	}
}
