package tokenlog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

// describeChoice is a row in short: choice, status, arrival, stamps of the
// tokens, tokens, and the end.
func describeChoice(b *trace.Batch, i int) string {
	id, _ := b.Texts(trace.RequestID).At(i)
	number := func(c trace.Col) string {
		if v, ok := b.Ints(c).At(i); ok {
			return fmt.Sprint(v / 1e9)
		}
		return "-"
	}
	count := func(c trace.Col) string {
		if v, ok := b.Ints(c).At(i); ok {
			return fmt.Sprint(v)
		}
		return "-"
	}
	status, _ := b.Dicts(trace.StatusCol).At(i)
	gaps, _ := b.Lists(trace.ChunkGaps).At(i)
	var list []string
	for _, g := range gaps {
		list = append(list, fmt.Sprint(g/1e9))
	}
	return fmt.Sprintf("%s/%s %s: %s, %s +%s; prompt %s, %s tokens, end %s", id, count(trace.Choice), trace.Requests.Fields[trace.StatusCol].Values[status],
		number(trace.Received), number(trace.FirstToken), strings.Join(list, "+"), count(trace.PromptTokens), count(trace.OutputTokens), number(trace.Finished))
}

// TestChoices: token events that state a choice are of a sequence of their own,
// which has the arrival, the prompt and the end of its request.
func TestChoices(t *testing.T) {
	const clock = `,"clock":"run"`
	event := func(at int, name, more string) string {
		return fmt.Sprintf(`{"ts":%d,"request_id":"r","event":"%s"%s}`+"\n", at, name, more)
	}
	arrival := event(10, "arrival", clock+`,"prompt_tokens":5,"n_choices":2`)
	tokens := event(11, "token", `,"choice":0`) + event(12, "token", `,"choice":1,"tokens":3`) + event(13, "token", `,"choice":0`) + event(15, "token", `,"choice":1`)
	for _, c := range []struct{ name, text, want string }{
		{"one end; its count is that of all", arrival + tokens + event(16, "finish", `,"output_tokens":6`),
			"r/0 ok: 10, 11 +2; prompt 5, 2 tokens, end 16|r/1 ok: 10, 12 +3; prompt 5, 4 tokens, end 16"},
		{"ends of their own", arrival + tokens + event(14, "finish", `,"choice":0,"output_tokens":2`) + event(17, "finish", `,"choice":1,"output_tokens":5`),
			"r/0 ok: 10, 11 +2; prompt 5, 2 tokens, end 14|r/1 ok: 10, 12 +3; prompt 5, 5 tokens, end 17"},
		{"one failed", arrival + tokens + event(16, "error", `,"choice":1`) + event(17, "finish", ""),
			"r/0 ok: 10, 11 +2; prompt 5, 2 tokens, end 17|r/1 failed: 10, 12 +3; prompt 5, 4 tokens, end 16"},
		{"failed as a whole", arrival + tokens + event(16, "error", ""),
			"r/0 failed: 10, 11 +2; prompt 5, 2 tokens, end 16|r/1 failed: 10, 12 +3; prompt 5, 4 tokens, end 16"},
		{"open", arrival + tokens + event(16, "finish", `,"choice":0`),
			"r/0 ok: 10, 11 +2; prompt 5, 2 tokens, end 16|r/1 open: 10, 12 +3; prompt 5, 4 tokens, end -"},
		{"the beginning is missing", event(12, "token", `,"choice":1`+clock) + event(13, "token", `,"choice":1`) + event(16, "finish", ""),
			"r/0 head_missing: -, - +; prompt -, - tokens, end 16|r/1 head_missing: -, - +1; prompt -, - tokens, end 16"},
		{"not stated is choice 0", arrival + event(11, "token", "") + event(12, "token", `,"choice":1`) + event(13, "token", "") + event(16, "finish", ""),
			"r/0 ok: 10, 11 +2; prompt 5, 2 tokens, end 16|r/1 ok: 10, 12 +; prompt 5, 1 tokens, end 16"},
		{"only one choice", event(10, "arrival", clock) + event(11, "token", `,"choice":0`) + event(13, "finish", `,"choice":0,"output_tokens":4`),
			"r/0 ok: 10, 11 +; prompt -, 4 tokens, end 13"},
		{"arrives again", arrival + tokens + strings.ReplaceAll(arrival, "10", "20") + event(21, "finish", ""),
			"r/0 open: 10, 11 +2; prompt 5, 2 tokens, end -|r/1 open: 10, 12 +3; prompt 5, 4 tokens, end -|r/- empty: 20, - +; prompt 5, 0 tokens, end 21"},
	} {
		rows, diags := rowsOf(t, &Events, c.text, describeChoice)
		if got := strings.Join(rows, "|"); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s\n%+v", c.name, got, c.want, diags)
		}
	}
}

// TestChoicesInterleaved compares with the model that wrote the log, the events
// of many requests mixed.
func TestChoicesInterleaved(t *testing.T) {
	r := rand.New(rand.NewPCG(41, 42))
	type line struct {
		at   int
		text string
	}
	var lines []line
	var want []string
	for i := range 3000 {
		at := 1 + r.IntN(1000)
		event := func(at int, name, more string) {
			lines = append(lines, line{at, fmt.Sprintf(`{"ts":%d,"request_id":"a rather long name of request %d","event":"%s","clock":"run"%s}`+"\n", at, i, name, more)})
		}
		choices := 1 + r.IntN(4)
		event(at, "arrival", "")
		end := at
		for choice := range choices {
			t := at + 1 + r.IntN(20)
			row := fmt.Sprintf("a rather long name of request %d/%d ok: %d, %d +", i, choice, at, t)
			var gaps []string
			n := 1 + r.IntN(30)
			for k := range n {
				if k > 0 {
					gap := 1 + r.IntN(9)
					t += gap
					gaps = append(gaps, fmt.Sprint(gap))
				}
				event(t, "token", fmt.Sprintf(`,"choice":%d`, choice))
			}
			end = max(end, t)
			want = append(want, row+strings.Join(gaps, "+")+fmt.Sprintf("; prompt -, %d tokens", n))
		}
		event(end+1, "finish", "")
	}
	slices.SortStableFunc(lines, func(a, b line) int { return a.at - b.at })
	var text strings.Builder
	for _, l := range lines {
		text.WriteString(l.text)
	}
	rows, diags := rowsOf(t, &Events, text.String(), describeChoice)
	for i := range rows {
		rows[i], _, _ = strings.Cut(rows[i], ", end")
	}
	slices.Sort(rows)
	slices.Sort(want)
	if !slices.Equal(rows, want) {
		for i := range rows {
			if i >= len(want) || rows[i] != want[i] {
				t.Fatalf("%d rows, want %d; %d is\n %s, want\n %s, %+v", len(rows), len(want), i, rows[i], want[i], diags)
			}
		}
		t.Fatalf("%d rows, want %d", len(rows), len(want))
	}
}
