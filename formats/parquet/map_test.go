//go:build !js

package parquet

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/arrow"
	"servescope/formats/source"
)

// script writes one table of requests whose attributes are a map, as each of three tools
// has such: a map, or a list of keys and values, of which the value is a text or a group
// of a member per type.
const script = `
import sys, pyarrow as pa, pyarrow.parquet as pq, pyarrow.feather as ft, polars as pl, duckdb
d = sys.argv[1]
n = 3000
def attrs(i):
    if i % 11 == 0: return None
    if i % 13 == 0: return []
    out = [("gen_ai.request.model", "m-%d" % (i % 3)), ("quoted \"key\"\n", None if i % 2 else "\\ \"x\" é")]
    if i % 5: out.append(("gen_ai.usage.output_tokens", str(10 + i % 90)))
    return out
ids, lat, maps = ["r%d" % i for i in range(n)], [500.0 + i for i in range(n)], [attrs(i) for i in range(n)]
t = pa.table({"id": ids, "latency_ms": lat, "attributes": pa.array(maps, pa.map_(pa.string(), pa.string()))})
pq.write_table(t, d + "/pyarrow-map.parquet", data_page_size=700, row_group_size=1100, use_dictionary=["id"], write_batch_size=64)
pq.write_table(t, d + "/pyarrow-map-v2.parquet", data_page_version="2.0", compression="zstd", data_page_size=2000, write_batch_size=50)
ft.write_feather(t, d + "/pyarrow-map.arrow", compression="lz4", chunksize=700)
kv = pa.list_(pa.struct([("key", pa.string()), ("value", pa.struct([("string_value", pa.string()), ("int_value", pa.int64()), ("double_value", pa.float64())]))]))
def typed(m):
    if m is None: return None
    return [{"key": k, "value": None if v is None else {"int_value": int(v)} if v.isdigit() else {"string_value": v}} for k, v in m]
g = pa.table({"id": ids, "latency_ms": lat, "attributes": pa.array([typed(m) for m in maps], kv)})
pq.write_table(g, d + "/groups.parquet", data_page_size=900, write_batch_size=100)
ft.write_feather(g, d + "/groups.arrow", compression="zstd")
p = pl.DataFrame({"id": ids, "latency_ms": lat, "attributes": [None if m is None else [{"key": k, "value": v} for k, v in m] for m in maps]},
    schema={"id": pl.String, "latency_ms": pl.Float64, "attributes": pl.List(pl.Struct({"key": pl.String, "value": pl.String}))})
p.write_parquet(d + "/polars-list.parquet", row_group_size=900)
p.write_ipc(d + "/polars-list.arrow")
c = duckdb.connect()
c.execute("COPY (SELECT id, latency_ms, attributes FROM t) TO '%s/duckdb-map.parquet' (FORMAT parquet, ROW_GROUP_SIZE 2048)" % d)
`

// TestMaps reads what DuckDB, Polars and pyarrow write as maps.
func TestMaps(t *testing.T) {
	python := os.Getenv("SERVESCOPE_PYTHON")
	if python == "" {
		python = "python3"
	}
	if err := exec.Command(python, "-c", "import pyarrow, polars, duckdb").Run(); err != nil {
		t.Skip("there is no Python with pyarrow, Polars and DuckDB: ", err)
	}
	dir := t.TempDir()
	if out, err := exec.Command(python, "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	names, _ := filepath.Glob(dir + "/*.*")
	if len(names) != 8 {
		t.Fatal(names)
	}
	for _, name := range names {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		f := Format
		if filepath.Ext(name) == ".arrow" {
			f = arrow.Format
		}
		src := source.FromBytes(filepath.Base(name), data)
		readMaps(t, f, src)
		if list, ask, err := f.Learn(src, nil); ask != "" || err != nil || len(list) != 4 {
			t.Error(name, list, ask, err)
		}
	}
}

// readMaps reads the rows that the script has written, and compares them with what it says
// of each.
func readMaps(t *testing.T, f formats.Format, src formats.Source) {
	t.Helper()
	r, err := f.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	i := 0
	for r.Next() {
		b := r.Batch()
		for k := range b.Rows {
			id, _ := b.Texts(trace.RequestID).At(k)
			end, _ := b.Ints(trace.Finished).At(k)
			model := ""
			if code, ok := b.Dicts(trace.Model).At(k); ok {
				model = b.Dicts(trace.Model).Values[code]
			}
			out, counted := b.Ints(trace.OutputTokens).At(k)
			want := fmt.Sprintf("r%d %d", i, (500+i)*1e6)
			if there := i%11 != 0 && i%13 != 0; there {
				want += " m-" + strconv.Itoa(i%3)
				if i%5 != 0 {
					want += " " + strconv.Itoa(10+i%90)
				}
			}
			got := fmt.Sprintf("%s %d", id, end)
			if model != "" {
				got += " " + model
			}
			if counted {
				got += fmt.Sprintf(" %d", out)
			}
			if got != want {
				t.Fatalf("%s: row %d is %s, want %s; %v", src.Name(), i, got, want, r.Runs()[0].Notes)
			}
			i++
		}
	}
	if a := r.Account(); r.Err() != nil || i != 3000 || a.Parsed != 3000 || a.Diagnosed != 0 {
		t.Errorf("%s: %d rows, %+v, %v %v", src.Name(), i, a, r.Err(), r.Diags().All())
	}
}
