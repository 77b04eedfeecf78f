package all

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"unicode/utf8"

	"servescope/formats"
	"servescope/formats/source"
)

// outcome is what reading a source gives.
type outcome struct {
	format  string
	rows    int
	account formats.Account
}

func outcomeOf(t *testing.T, name string, data []byte) (o outcome, within bool) {
	t.Helper()
	var src formats.Source = source.FromBytes(name, data)
	head, err := formats.ReadHead(src)
	if err != nil {
		t.Fatal(err)
	}
	found, err := Set().Detect(head)
	inner, of, within := source.Within(Set(), src, head, found, err)
	if within {
		src, found, err = inner, of, nil
	}
	if err != nil {
		return o, false
	}
	r, err := found.Format.Open(t.Context(), src, formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(name, err)
	}
	defer r.Close()
	for o.format = found.Format.Name; r.Next(); {
		o.rows += r.Batch().Rows
	}
	if r.Err() != nil {
		t.Fatal(name, r.Err())
	}
	o.account = r.Account()
	return o, within
}

// TestWithin: the lines of any format are read alike on their own and within the records
// of a log collector, as JSON and as a table.
func TestWithin(t *testing.T) {
	names, err := filepath.Glob("../../testdata/formats/*/*/input.jsonl")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	seen := make(map[string]bool)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		lines := bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
		objects := true
		var list, table bytes.Buffer
		rows := csv.NewWriter(&table)
		rows.Write([]string{"timestamp", "message", "logStream"})
		for i, line := range lines {
			objects = objects && json.Valid(line) && bytes.HasPrefix(line, []byte(`{"`))
			text, _ := json.Marshal(string(line) + "\n")
			list.WriteString(`{"logStream":"app","timestamp":1796047501120,"message":` + string(text) + "}\n")
			rows.Write([]string{"1796047501120", string(line) + "\n", "app"})
			if i == 0 {
				list.WriteString(`{"logStream":"app","timestamp":1796047501121,"message":"listening on :8080\n"}` + "\n")
			}
		}
		rows.Flush()
		want, within := outcomeOf(t, name, data)
		if !objects || within || want.format == "" || want.format == "columns" {
			continue
		}
		if got, _ := outcomeOf(t, name, list.Bytes()); got.format != want.format || got.rows != want.rows || got.account.Parsed != want.account.Parsed || got.account.Total != want.account.Total+1 {
			t.Errorf("%s within records: %+v, want %+v", name, got, want)
		}
		if got, _ := outcomeOf(t, name, table.Bytes()); got.format != want.format || got.rows != want.rows || got.account.Parsed != want.account.Parsed || got.account.Diagnosed != want.account.Diagnosed {
			t.Errorf("%s within a table: %+v, want %+v", name, got, want)
		}
		seen[want.format] = true
	}
	if len(seen) < 8 {
		t.Errorf("only %v", seen)
	}
}

// TestLoki: lines of any format are read alike on their own and in an answer of Loki's
// HTTP API, which has the newest first.
func TestLoki(t *testing.T) {
	names, err := filepath.Glob("../../testdata/formats/*/*/input.*")
	if err != nil || len(names) == 0 {
		t.Fatal(names, err)
	}
	seen := make(map[string]int)
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		format := filepath.Base(filepath.Dir(filepath.Dir(name)))
		if f, err := Set().Lookup(format); err != nil || f.Shape == formats.Blocks || !utf8.Valid(data) || bytes.IndexByte(data, '\r') >= 0 || data[len(data)-1] != '\n' || seen[format] > 3 {
			continue
		}
		want, within := outcomeOf(t, name, data)
		if within || want.format != format {
			continue
		}
		seen[format]++
		lines := strings.Split(strings.TrimSuffix(string(data), "\n"), "\n")
		values := make([][2]string, len(lines))
		for i, line := range lines {
			values[len(lines)-1-i] = [2]string{fmt.Sprint(1796047501123000000 + i), line}
		}
		text, _ := json.Marshal(values)
		answer := `{"status":"success","data":{"resultType":"streams","result":[{"stream":{"app":"llm"},"values":` + string(text) + `}],"stats":{"summary":{}}}}`
		got, within := outcomeOf(t, "x.json", []byte(answer))
		if !within || !reflect.DeepEqual(got, want) {
			t.Errorf("%s: within %v, %+v, want %+v", name, within, got, want)
		}
	}
	for _, format := range []string{"vllmlog", "sglanglog", "logfmt", "columns", "tokenlog", "tokenlog-events", "promtext", "accesslog"} {
		if seen[format] == 0 {
			t.Errorf("no case of %s", format)
		}
	}
}

// TestTextWithin: lines of pairs are read alike within records, as JSON and as a table.
func TestTextWithin(t *testing.T) {
	for _, name := range []string{"slog", "printed", "events", "lists-errors"} {
		data, err := os.ReadFile("../../testdata/formats/logfmt/" + name + "/input.log")
		if err != nil {
			t.Fatal(err)
		}
		want, _ := outcomeOf(t, name, data)
		var list, table bytes.Buffer
		rows := csv.NewWriter(&table)
		rows.Write([]string{"@timestamp", "@message"})
		for line := range strings.Lines(string(data)) {
			text, _ := json.Marshal(line)
			list.WriteString(`{"kubernetes":{"pod":"p"},"log":` + string(text) + "}\n")
			rows.Write([]string{"2026-03-01 10:00:00.000", strings.TrimSuffix(line, "\n")})
		}
		rows.Flush()
		for _, wrapped := range [][]byte{list.Bytes(), table.Bytes()} {
			if got, within := outcomeOf(t, "x", wrapped); !within || !reflect.DeepEqual(got, want) {
				t.Errorf("%s: within %v, %+v, want %+v of\n%s", name, within, got, want, wrapped[:200])
			}
		}
	}
	// A log of objects that say something with pairs is one of objects.
	if got, within := outcomeOf(t, "x", []byte(`{"time":"2026-03-01T10:00:00Z","request_id":"a","ttft_ms":5,"duration":"1s","msg":"INFO request_id=b ttft_ms=1 duration=2s"}`+"\n")); within || got.format != "columns" || got.rows != 1 {
		t.Errorf("within %v %+v", within, got)
	}
}
