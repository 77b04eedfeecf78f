package tabletest_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"servescope/analyzer/render/parquet"
	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"
)

// duckdb runs statements in DuckDB and returns the rows of each, numbers as
// json.Number. It skips the test when the npm package of tools/duckdb is not
// installed, unless SERVESCOPE_REQUIRE_DUCKDB=1.
func duckdb(t *testing.T, sql ...string) [][]map[string]any {
	t.Helper()
	if runtime.GOOS == "js" {
		t.Skip("a browser starts no processes")
	}
	dir, err := filepath.Abs(filepath.Join("..", "..", "..", "tools", "duckdb"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules", "@duckdb", "node-api")); err != nil {
		if os.Getenv("SERVESCOPE_REQUIRE_DUCKDB") == "1" {
			t.Fatalf("DuckDB is not installed, run npm ci in %s", dir)
		}
		t.Skipf("DuckDB is not installed, run npm ci in %s", dir)
	}
	cmd := exec.Command("node", append([]string{"query.mjs"}, sql...)...)
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		t.Fatalf("%v: %s", err, stderr.Bytes())
	}
	d := json.NewDecoder(bytes.NewReader(out))
	d.UseNumber()
	var rows [][]map[string]any
	if err := d.Decode(&rows); err != nil {
		t.Fatalf("%v in %.200s", err, out)
	}
	return rows
}

// selectAll reads every column of a file, timestamps as microseconds.
func selectAll(tab *table.Table, path string) string {
	var columns []string
	for _, f := range tab.Fields {
		if f.Type == trace.Time {
			columns = append(columns, fmt.Sprintf(`epoch_us("%s") AS "%s"`, f.Name, f.Name))
		} else {
			columns = append(columns, `"`+f.Name+`"`)
		}
	}
	return "SELECT " + strings.Join(columns, ", ") + " FROM read_parquet('" + path + "')"
}

// same compares a value from DuckDB with what was exported.
func same(got, want any) bool {
	switch want := want.(type) {
	case int64:
		n, ok := got.(json.Number)
		v, err := n.Int64()
		return ok && err == nil && v == want
	case float64:
		n, ok := got.(json.Number)
		v, err := n.Float64()
		return ok && err == nil && v == want
	case []int64:
		list, ok := got.([]any)
		if !ok || len(list) != len(want) {
			return false
		}
		for i := range want {
			if !same(list[i], want[i]) {
				return false
			}
		}
		return true
	}
	return got == want
}

// TestP79DuckDB has DuckDB read every table: values, lists, nulls, and tables
// without rows with their full schema.
func TestP79DuckDB(t *testing.T) {
	dir := t.TempDir()
	var statements []string
	var want [][]tabletest.Row
	for _, f := range fixtures() {
		want = append(want, f.write(t, dir))
		path := filepath.Join(dir, f.name)
		statements = append(statements, selectAll(f.table(), path+".parquet"), "DESCRIBE SELECT * FROM read_parquet('"+path+".parquet')",
			"SELECT count(*) AS n FROM read_csv('"+path+".csv', header = true, all_varchar = true)")
	}
	types := map[trace.Type]string{trace.Int64: "BIGINT", trace.Float64: "DOUBLE", trace.Bool: "BOOLEAN", trace.Text: "VARCHAR",
		trace.Dict: "VARCHAR", trace.List: "BIGINT[]", trace.Time: "TIMESTAMP WITH TIME ZONE"}
	results := duckdb(t, statements...)
	for k, f := range fixtures() {
		rows, columns, csv := results[3*k], results[3*k+1], results[3*k+2]
		if len(rows) != len(want[k]) || !same(csv[0]["n"], int64(len(rows))) {
			t.Fatalf("%s: %d rows, %v in the CSV, want %d", f.name, len(rows), csv[0]["n"], len(want[k]))
		}
		for i, row := range want[k] {
			for name, v := range row {
				if !same(rows[i][name], v) {
					t.Fatalf("%s, row %d: %s is %#v, want %#v", f.name, i, name, rows[i][name], v)
				}
			}
		}
		fields := f.table().Fields
		if len(columns) != len(fields) {
			t.Errorf("%s has %d columns, want %d", f.name, len(columns), len(fields))
			continue
		}
		for i, column := range columns {
			if column["column_name"] != fields[i].Name || column["column_type"] != types[fields[i].Type] {
				t.Errorf("%s.%s is %v %v", f.name, fields[i].Name, column["column_name"], column["column_type"])
			}
		}
	}
}

// TestP77P78DuckDB: the exact key keeps its nanoseconds, durations need no
// timestamps, and comparisons see every value: no NaN hides rows.
func TestP77P78DuckDB(t *testing.T) {
	b := trace.NewBuilder(trace.Requests)
	for i, ttft := range []int64{12_500_000, 250_000_001, 400_000_000} {
		b.Int(trace.Sent, 1767225600123456789+int64(i))
		b.Int(trace.FirstToken, 1767225600123456789+int64(i)+ttft)
		b.EndRow()
	}
	b.Int(trace.Sent, 1767225600123456789)
	b.EndRow()
	var out bytes.Buffer
	w := parquet.NewWriter(&out, table.Requests(table.Options{}))
	if err := w.Write(b.Take(&trace.RunMeta{Label: "r", Clock: trace.Clock{Kind: trace.Wall}}, "f")); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "requests.parquet")
	if err := os.WriteFile(path, out.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	row := duckdb(t, `SELECT min(sent_ns) AS first, sum(ttft_ns)::BIGINT AS total, count(*) FILTER (WHERE ttft_ns > 100000000) AS slow,
		count(ttft_ns) AS known, max(ttft_ns) AS most, strftime(min(sent), '%Y-%m-%d %H:%M:%S.%f') AS day FROM read_parquet('`+path+`')`)[0][0]
	for name, want := range map[string]any{"first": int64(1767225600123456789), "total": int64(662_500_001), "slow": int64(2),
		"known": int64(3), "most": int64(400_000_000), "day": "2026-01-01 00:00:00.123456"} {
		if !same(row[name], want) {
			t.Errorf("%s is %v, want %v", name, row[name], want)
		}
	}
}
