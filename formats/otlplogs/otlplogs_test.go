package otlplogs

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// read returns the rows of a text as "sent finished status", in ms, and its account.
func read(t *testing.T, text string) (rows []string, a formats.Account) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			at := func(c trace.Col) string {
				v := b.Ints(c)
				if !v.Valid.Valid(i) || len(v.Values) == 0 {
					return "-"
				}
				return fmt.Sprint(v.Values[i] / 1e6)
			}
			status, _ := b.Dicts(trace.StatusCol).At(i)
			rows = append(rows, fmt.Sprint(at(trace.Sent), " ", at(trace.Finished), " ", trace.Requests.Fields[trace.StatusCol].Values[status]))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	a = r.Account()
	if a.Total != a.Parsed+a.Diagnosed+a.Noise {
		t.Errorf("%+v", a)
	}
	return rows, a
}

func event(ms int, span, name string) string {
	return fmt.Sprintf(`{"timeUnixNano":"%d000000","attributes":[{"key":"event.name","value":{"stringValue":%q}}],"traceId":"t","spanId":%q}`, ms, name, span)
}

func document(records ...string) string {
	return `{"resourceLogs":[{"resource":{},"scopeLogs":[{"scope":{},"logRecords":[` + strings.Join(records, ",") + "]}]}]}\n"
}

// TestCalls: the last message of the input before the answer is the beginning, and
// calls that overlap are told by their spans, over documents and layouts.
func TestCalls(t *testing.T) {
	const in, out = "gen_ai.user.message", "gen_ai.choice"
	events := []string{event(1, "a", in), event(3, "a", "gen_ai.tool.message"), event(2, "b", in), event(9, "b", out), event(20, "a", out), event(30, "c", in)}
	const want = "2 9 ok,3 20 ok,30 - open"
	one := document(events...)
	var each, snake string
	for _, e := range events {
		each += document(e)
	}
	snake = strings.NewReplacer("resourceLogs", "resource_logs", "scopeLogs", "scope_logs", "logRecords", "log_records", "timeUnixNano", "time_unix_nano", "spanId", "span_id", "stringValue", "string_value").Replace(one)
	for name, text := range map[string]string{"one": one, "each": each, "snake": snake, "array": "[" + strings.Trim(one, "\n") + "]", "pretty": strings.NewReplacer("{", "{\n", ",", ",\n").Replace(one), "glued": strings.ReplaceAll(each, "\n", "")} {
		rows, a := read(t, text)
		if got := strings.Join(rows, ","); got != want || a.Parsed != 6 {
			t.Errorf("%s: %s, want %s; %+v", name, got, want, a)
		}
	}
}

// TestManyOpen: calls without an end do not fill the memory, and none is lost.
func TestManyOpen(t *testing.T) {
	var text strings.Builder
	const n = maxOpen + 100
	for i := range n {
		text.WriteString(document(event(i+1, fmt.Sprint("s", i), "gen_ai.user.message")))
	}
	text.WriteString(document(event(n, "s0", "gen_ai.choice"), event(n, fmt.Sprint("s", n-1), "gen_ai.choice")))
	rows, _ := read(t, text.String())
	open := 0
	for _, r := range rows {
		if strings.HasSuffix(r, "- open") {
			open++
		}
	}
	if open != n-1 || len(rows) != n+1 {
		t.Errorf("%d rows, %d open", len(rows), open)
	}
}
