package render

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"

	"servescope/analyzer/report"
)

// sideBySide is two runs with hostile labels under two sets.
func sideBySide() *report.Definitions {
	d := &report.Definitions{Schema: report.DefinitionsSchema, Sets: []report.Definition{{Name: "default"}, {Name: "sglang"}}}
	for _, label := range []string{"a\x1b[31m|<b>`x`", strings.Repeat("long/", 40) + "name"} {
		d.Runs = append(d.Runs, report.DefinedRun{Label: label, Format: "test", Requests: report.Requests{Total: 2, OK: 2}, Metrics: []report.DefinedMetric{
			{Metric: "tpot", Title: "time per token", Unit: "ns/token", Rows: []report.DefinedRow{
				{Definition: "default", N: 2, Value: report.Known(1e7, "ns/token"), P50: report.Known(1e7, "ns/token"), P99: report.Known(2e7, "ns/token"), Formula: "a / b", Filled: "20 / 2 = 10 ms", Equal: true},
				{Definition: "sglang", Name: "T|P", N: 2, Value: report.Known(12.5e6, "ns/token"), P50: report.Null("no_token"), P99: report.Null("no_token"), Formula: "c / b", Filled: "25 / 2 = 12.50 ms",
					Differs: []string{"ends, \"later\"", strings.Repeat("and many more words ", 9)}, Notes: []string{"few_values: of few"}},
			}},
			{Metric: "ttft", Title: "time to first token", Unit: "ns", Rows: []report.DefinedRow{
				{Definition: "default", Value: report.Null("not_recorded"), P50: report.Null("not_recorded"), P99: report.Null("not_recorded"), Formula: "x"},
				{Definition: "sglang", Value: report.Null("not_recorded"), P50: report.Null("not_recorded"), P99: report.Null("not_recorded"), Formula: "x"},
			}},
		}})
	}
	return d
}

func TestDefinitionsText(t *testing.T) {
	var b bytes.Buffer
	if err := DefinitionsText(&b, sideBySide(), TextOptions{}); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if n := utf8.RuneCountInString(strings.TrimRight(line, "\n")); n > 80 {
			t.Errorf("%d columns: %s", n, line)
		}
	}
	for _, want := range []string{"default     10 ms/tok  20 / 2 = 10 ms\n", "sglang   12.50 ms/tok  \"T|P\": 25 / 2 = 12.50 ms; ends, \"later\";", "under every set\nno value  not recorded: ttft\n", "of few"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("there is no %q in\n%s", want, b.String())
		}
	}
	if strings.Contains(b.String(), "\x1b") {
		t.Error("an escape sequence of a label is printed")
	}
}

func TestDefinitionsMarkdown(t *testing.T) {
	var b bytes.Buffer
	if err := DefinitionsMarkdown(&b, sideBySide()); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(b.String()) {
		if strings.HasPrefix(line, "| sglang") && strings.Count(strings.ReplaceAll(line, `\|`, ""), "|") != 8 {
			t.Errorf("a row of other columns: %s", line)
		}
	}
	if strings.Contains(b.String(), "<b>") || !strings.Contains(b.String(), "| default | 10 ms/tok | 10 ms/tok | 20 ms/tok | 2 | 20 / 2 = 10 ms |") {
		t.Error(b.String())
	}
}

func TestDefinitionsCSVAndJSON(t *testing.T) {
	var b bytes.Buffer
	if err := DefinitionsCSV(&b, sideBySide()); err != nil {
		t.Fatal(err)
	}
	rows, err := csv.NewReader(&b).ReadAll()
	if err != nil || len(rows) != 1+2*2*2 {
		t.Fatalf("%d rows, %v", len(rows), err)
	}
	if r := rows[2]; r[1] != "tpot" || r[3] != "sglang" || r[5] != "2" || r[6] != "12500000" || r[7] != "" || r[10] != "false" || !strings.HasPrefix(r[13], `ends, "later"; and`) {
		t.Errorf("%q", r)
	}
	if r := rows[3]; r[6] != "" || r[9] != "not_recorded" {
		t.Errorf("%q", r)
	}
	b.Reset()
	if err := DefinitionsJSON(&b, sideBySide()); err != nil || !json.Valid(b.Bytes()) {
		t.Errorf("%v: %s", err, b.String())
	}
}
