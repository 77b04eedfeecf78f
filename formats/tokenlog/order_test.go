package tokenlog

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// columnsOf returns all columns of a row but its offset.
func columnsOf(b *trace.Batch, i int) string {
	var s strings.Builder
	for c := range trace.Offset {
		var v any
		ok := false
		switch trace.Requests.Fields[c].Type {
		case trace.Int64:
			v, ok = b.Ints(c).At(i)
		case trace.Bool:
			v, ok = b.Bools(c).At(i)
		case trace.Text:
			v, ok = b.Texts(c).At(i)
		case trace.Dict:
			if code, known := b.Dicts(c).At(i); known {
				v, ok = b.Dicts(c).Values[code], true
			}
		default:
			v, ok = b.Lists(c).At(i)
		}
		if ok {
			fmt.Fprintf(&s, "%s=%v ", trace.Requests.Fields[c].Name, v)
		}
	}
	return s.String()
}

// sortedRows reads an event log and returns its rows in an order of their own,
// and its diags by code.
func sortedRows(t *testing.T, text string, opt formats.Options) ([]string, map[string]diag.Diag) {
	t.Helper()
	opt.Lists = true
	r, err := Events.Open(context.Background(), source.FromBytes("log", []byte(text)), formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var rows []string
	for r.Next() {
		for i := range r.Batch().Rows {
			rows = append(rows, columnsOf(r.Batch(), i))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	slices.Sort(rows)
	diags := map[string]diag.Diag{}
	for _, d := range r.Diags().All() {
		diags[d.Code] = d
	}
	return rows, diags
}

// lines makes the events of one request in the order of time; the last one ends it.
func requestLines(r *rand.Rand, id int) (list []string) {
	at := 1764428000 + r.Float64()*10
	add := func(event, more string) {
		at += 0.001 + r.Float64()/10
		list = append(list, fmt.Sprintf(`{"ts":%.6f,"request_id":"r-%d","event":"%s"%s}`, at, id, event, more))
	}
	add("arrival", `,"prompt_tokens":17,"model":"m"`)
	for _, stage := range []string{"queued", "admitted", "prefill_start", "prefill_done", "first_event"} {
		if r.IntN(2) == 0 {
			add(stage, "")
		}
	}
	for range r.IntN(40) {
		more := ""
		if id%3 == 1 && r.IntN(2) == 0 {
			more = fmt.Sprintf(`,"tokens":%d`, 1+r.IntN(3))
		}
		if id%3 == 2 {
			more = `,"kind":"` + []string{"reasoning", "content", "tool"}[r.IntN(3)] + `"`
		}
		add("token", more)
	}
	if id%5 > 0 {
		add("finish", `,"finish_reason":"stop"`)
	}
	return list
}

// TestOrder: events of a request in any order before its end give the row that
// they give in the order of time; a diag counts the requests whose tokens had to
// be sorted.
func TestOrder(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 33))
	for range 20 {
		var inOrder, shuffled []string
		var pending [][]string
		for id := range 60 {
			list := requestLines(r, id)
			inOrder = append(inOrder, list...)
			list = slices.Clone(list)
			last := len(list)
			if id%5 > 0 {
				last--
			}
			r.Shuffle(last, func(i, j int) { list[i], list[j] = list[j], list[i] })
			pending = append(pending, list)
		}
		late := map[string]string{} // by request: the last token's line so far
		wrong := map[string]bool{}
		for len(pending) > 0 {
			k := r.IntN(len(pending))
			line := pending[k][0]
			shuffled = append(shuffled, line)
			if pending[k] = pending[k][1:]; len(pending[k]) == 0 {
				pending = slices.Delete(pending, k, k+1)
			}
			if strings.Contains(line, `"token"`) {
				_, id, _ := strings.Cut(line, `"request_id":`)
				id, _, _ = strings.Cut(id, ",")
				wrong[id] = wrong[id] || line < late[id]
				late[id] = line
			}
		}
		want, clean := sortedRows(t, strings.Join(inOrder, "\n"), formats.Options{})
		opt := formats.Options{Workers: 1 + r.IntN(3), Block: 1 + r.IntN(4000)}
		if r.IntN(2) == 0 {
			opt.Memory, opt.Scratch = 1<<(11+r.IntN(8)), t.TempDir()
		}
		got, diags := sortedRows(t, strings.Join(shuffled, "\n"), opt)
		for i := range max(len(want), len(got)) {
			if i >= len(want) || i >= len(got) || got[i] != want[i] {
				t.Fatalf("row %d of %d, want %d:\n%s\nwant\n%s", i, len(got), len(want), got[i], want[i])
			}
		}
		n := int64(0)
		for _, w := range wrong {
			if w {
				n++
			}
		}
		if _, ok := clean["late_token"]; ok || diags["late_token"].Count != n {
			t.Errorf("%d requests with late tokens, want %d", diags["late_token"].Count, n)
		}
		delete(diags, "late_token")
		for code, d := range diags {
			if d.Count != clean[code].Count {
				t.Errorf("%s: %d, in order %d", code, d.Count, clean[code].Count)
			}
		}
	}
}
