package tabletest_test

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
)

// foreign are files that other programs write of requests: how each is made, what
// its first request says, worked out by hand from that, and which units must have
// been found, by which evidence.
var foreign = []struct{ file, sql, python, want, notes string }{
	{file: "parquet/duckdb", sql: `SELECT * FROM (VALUES
		('d1', TIMESTAMP '2026-03-01 10:00:00', TIMESTAMP '2026-03-01 10:00:00.25', INTERVAL 1340 MILLISECOND, 128::HUGEINT, {'model': 'm'}),
		('d2', TIMESTAMP '2026-03-01 10:00:00.1', TIMESTAMP '2026-03-01 10:00:00.35', INTERVAL 1 SECOND, NULL, {'model': 'm'}),
		('d3', TIMESTAMP '2026-03-01 10:00:00.2', NULL, NULL, NULL, NULL)) t(rid, arrived, first_token_at, took, completion_tokens, req)`,
		want: "d1 ok first=250 end=1340 out=128/d2 ok first=250 end=1000/d3 open", notes: "took: duration in ms/arrived: timestamp in us of no zone"},
	{file: "parquet/duckdb-lists", sql: `SELECT uuid AS id, ttft_ms, [20.5, 21]::DECIMAL(6,2)[] AS itl_ms, 3::UBIGINT AS output_tokens, "at" FROM (VALUES
		('00000000-0000-4000-8000-000000000001'::UUID, 85.25::DECIMAL(38,20), TIMESTAMPTZ '2026-03-01 10:00:00Z'),
		('00000000-0000-4000-8000-000000000002'::UUID, 90, TIMESTAMPTZ '2026-03-01 10:00:01Z')) t(uuid, ttft_ms, "at")`,
		want: "00000000-0000-4000-8000-000000000001 ok first=85.25 last=126.75 out=3 gaps=[20500000 21000000]/" +
			"00000000-0000-4000-8000-000000000002 ok first=90 last=131.5 out=3 gaps=[20500000 21000000]", notes: "at: timestamp in us of UTC/ttft_ms: the name says ms"},
	{file: "parquet/duckdb-events", sql: `SELECT * FROM (VALUES ('a', 'received', TIMESTAMP_NS '2026-03-01 10:00:00.000000001', NULL), ('b', 'received', '2026-03-01 10:00:00.1', NULL),
		('a', 'token', '2026-03-01 10:00:00.250000001', NULL), ('a', 'token', '2026-03-01 10:00:00.270000001', NULL), ('a', 'finished', '2026-03-01 10:00:00.300000001', 2),
		('b', 'error', '2026-03-01 10:00:01', 0)) t(request_id, event, ts, output_tokens)`,
		want: "a ok first=250 last=270 end=300 out=2 gaps=[20000000]/b failed end=900 out=0", notes: "ts: timestamp in ns of no zone"},
	{file: "parquet/duckdb-types", sql: `SELECT * FROM (VALUES
		(18446744073709551615::UBIGINT, 85::UTINYINT, 1340.5::FLOAT, 18446744073709551615::UBIGINT, 'm'::ENUM ('m', 'n'), [0.02, NULL]::DOUBLE[], NULL),
		(1, 70, 'NaN', 64, 'm', [], NULL), (2, 60, 'Infinity', NULL, NULL, NULL, NULL)) t(request_id, ttft_ms, latency_ms, output_tokens, model, itl_s, tpot_ms)`,
		want: "18446744073709551615 ok first=85 end=1340.5/1 ok first=70 last=70 out=64 gaps=[]/2 ok first=60", notes: "ttft_ms: the name says ms"},
	{file: "parquet/duckdb-empty", sql: `SELECT 'a' AS id, 85.0 AS ttft_ms WHERE false`, want: "", notes: ""},
	{file: "parquet/bigquery", python: `
pq.write_table(pa.table({"timestamp": pa.array([t, t + ms(10)], pa.timestamp("us", "UTC")),
  "jsonPayload": pa.array([{"requestId": "b1", "latency_ms": D("1340.5"), "ttft_ms": 85}, {"requestId": "b2", "latency_ms": None, "ttft_ms": 70}],
    pa.struct([("requestId", pa.string()), ("latency_ms", pa.decimal128(38, 9)), ("ttft_ms", pa.int64())])),
  "token_hash": pa.array([1, 2**64 - 1], pa.uint64()), "completion_tokens": pa.array([128, None], pa.int64())}), out)`,
		want: "b1 ok first=85 end=1340.5 out=128/b2 ok first=70", notes: "jsonPayload.latency_ms: the name says ms/timestamp: timestamp in us of UTC"},
	{file: "parquet/pandas", python: `
pd.DataFrame({"ts": pd.to_datetime(["2026-03-01 10:00:00.000", "2026-03-01 10:00:00.100500"]), "ttft_s": [0.0852, 0.07], "e2e_s": [1.3405, float("nan")],
  "completion_tokens": [128.0, float("nan")], "model": pd.Categorical(["m", "m"])}, index=[7, 9]).to_parquet(out)`,
		want: " ok first=85.2 end=1340.5 out=128/ ok first=70", notes: "ts: timestamp in us of no zone/e2e_s: the name says s"},
	{file: "parquet/polars", python: `
pl.DataFrame({"id": ["l1", "l2"], "start": [1772359200.125, 1772359201.0], "end": [1772359201.4655, 1772359202.0], "first_token": [1772359200.25, None],
  "usage": [{"prompt_tokens": 512, "completion_tokens": 128}, None]}).write_parquet(out)`,
		want: "l1 ok first=125 end=1340.5 in=512 out=128/l2 ok end=1000", notes: "start: times since 1970 in s"},
	{file: "parquet/pyarrow-codecs", python: `
pq.write_table(pa.table({"rid": ["c1", "c2", None], "start": pa.array(["2026-03-01T10:00:00Z", "2026-03-01T10:00:01Z", "2026-03-01T10:00:02Z"]),
  "ttft_s": pa.array([np.float16(0.5), None, np.float16(0.25)], pa.float16()), "e2e_ms": pa.array([D("1340.5"), D("700.25"), None], pa.decimal128(38, 20)),
  "itl_ms": pa.array([[D("20.5"), D("21")], None, []], pa.list_(pa.decimal128(20, 3))), "completion_tokens": pa.array([4000000000, None, 1], pa.uint32())}), out,
  compression={"rid": "brotli", "start": "lz4", "ttft_s": "gzip", "e2e_ms": "brotli", "itl_ms.list.element": "lz4", "completion_tokens": "snappy"}, use_dictionary=False,
  column_encoding={"rid": "DELTA_LENGTH_BYTE_ARRAY", "start": "DELTA_BYTE_ARRAY", "ttft_s": "BYTE_STREAM_SPLIT", "e2e_ms": "DELTA_BYTE_ARRAY", "itl_ms.list.element": "BYTE_STREAM_SPLIT",
  "completion_tokens": "DELTA_BINARY_PACKED"}, data_page_version="2.0")`,
		want:  "c1 ok first=500 last=541.5 end=1340.5 out=4000000000 gaps=[20500000 21000000]/c2 ok end=700.25/ ok first=250 last=250 out=1 gaps=[]",
		notes: "start: dates/e2e_ms: the name says ms/ttft_s: the name says s"},
	{file: "parquet/pyarrow-int96", python: `
pq.write_table(pa.table({"rid": ["s1", "s2"], "start": pa.array([t, t + ms(10)], pa.timestamp("ns")), "first_token_at": pa.array([t + ms(250), None], pa.timestamp("ns")),
  "latency_s": pa.array([1.5, 2.5], pa.float32()), "tags": pa.array([[("ttft_ms", "1")], []], pa.map_(pa.string(), pa.string()))}), out, use_deprecated_int96_timestamps=True, store_schema=False)`,
		want: "s1 ok first=250 end=1500/s2 ok end=2500", notes: "start: timestamp in ns of no zone/latency_s: the name says s"},
	{file: "arrow/pyarrow-views", python: `
import pyarrow.compute as pc
e = pa.table({"rid": pa.array([b"v1", b"v2", b"v1"], pa.binary_view()), "start": pa.array([t, t + ms(10), None], pa.timestamp("ms", "UTC")).dictionary_encode(),
  "ttft_s": pc.run_end_encode(pa.array([0.5, 0.5, 0.25], pa.float32())), "itl_ms": pa.array([[20, 21], None, []], pa.list_view(pa.uint16())),
  "tpot": pa.array([D("0.02"), None, None], pa.decimal64(9, 4)), "model": pc.run_end_encode(pa.array(["m", "m", None])),
  "token_times": pa.array([[0, 0]] * 3, pa.list_(pa.duration("ms"), 2))})
with pa.ipc.new_file(out, e.schema, options=pa.ipc.IpcWriteOptions(compression="zstd")) as w: w.write_table(e)`,
		want: "v1 ok first=500 last=541 out=3 gaps=[20000000 21000000]/v2 ok first=500/v1 ok first=250 last=250 out=1 gaps=[]", notes: "start: timestamp in ms of UTC/ttft_s: the name says s"},
	{file: "arrow/polars", python: `
pl.DataFrame({"request_id": ["p1", "p2", "p3"], "received_at": [t, t + ms(100.5), t + ms(200)], "latency": pl.Series([ms(1340.5), ms(700.25), None], dtype=pl.Duration("us")),
  "token_times": [[t + ms(85.2), t + ms(105.2), t + ms(126.2)], [t + ms(170.5)], []], "usage": [{"completion_tokens": 3}, {"completion_tokens": 1}, None],
  "model": pl.Series(["m", "m", "n"], dtype=pl.Categorical)}).write_ipc(out)`,
		want:  "p1 ok first=85.2 last=126.2 end=1340.5 out=3 gaps=[20000000 21000000]/p2 ok first=70 last=70 end=700.25 out=1 gaps=[]/p3 empty out=0 gaps=[]",
		notes: "latency: duration in us/token_times: timestamp in us of UTC"},
	{file: "arrow/polars-stream", python: `
pl.DataFrame({"rid": ["s1", "s2"], "sent": [t.replace(tzinfo=None), t.replace(tzinfo=None) + ms(10)], "token_times": [["2026-03-01T10:00:00.25Z", "2026-03-01T10:00:00.3Z"], None],
  "ttft_ms": [250.0, 300.0]}).write_ipc_stream(out, compression="lz4")`,
		want: "s1 ok first=250 last=300 out=2 gaps=[50000000]/s2 ok first=300", notes: "sent: timestamp in us of no zone/token_times: dates"},
	{file: "arrow/feather", python: `
pd.DataFrame({"ts": pd.to_datetime(["2026-03-01 10:00:00"]).tz_localize("America/Los_Angeles"), "latency": [np.float32(1.3405)], "output_tokens": [128], "none": [None],
  "day": [t.date()]}).to_feather(out)`,
		want: " ok end=1340.5 out=128", notes: "ts: timestamp in us of UTC/latency: can only be s"},
}

// rowsOf returns a line per request: its id, how it ended, times in ms from its
// begin on, tokens, and gaps in ns; and the notes of the run.
func rowsOf(t *testing.T, path string) (rows, notes []string) {
	t.Helper()
	return readRows(t, path, lineOf)
}

func readRows(t *testing.T, path string, lineOf func(*trace.Batch, int) string) (rows, notes []string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	src := source.FromBytes(path, data)
	head, err := formats.ReadHead(src)
	if err != nil {
		t.Fatal(err)
	}
	d, err := all.Set().Detect(head)
	if err != nil {
		t.Fatal(err)
	}
	r, err := d.Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		for i := range r.Batch().Rows {
			rows = append(rows, lineOf(r.Batch(), i))
		}
	}
	if r.Err() != nil || len(r.Runs()) != 1 {
		t.Fatal(r.Err(), r.Diags().All())
	}
	return rows, append(r.Runs()[0].Notes, r.Runs()[0].NoRequests)
}

func lineOf(b *trace.Batch, i int) string {
	id, _ := b.Texts(trace.RequestID).At(i)
	code, _ := b.Dicts(trace.StatusCol).At(i)
	out := fmt.Sprintf("%s %s", id, b.Dicts(trace.StatusCol).Values[code])
	start, ok := b.Ints(trace.Received).At(i)
	if !ok {
		start, ok = b.Ints(trace.Sent).At(i)
	}
	names := []string{"first", "last", "end"}
	for k, c := range []trace.Col{trace.FirstToken, trace.LastToken, trace.Finished} {
		if v, there := b.Ints(c).At(i); there && ok {
			out += fmt.Sprintf(" %s=%v", names[k], float64(v-start)/1e6)
		}
	}
	for k, c := range []trace.Col{trace.PromptTokens, trace.OutputTokens} {
		if v, there := b.Ints(c).At(i); there {
			out += fmt.Sprintf(" %s=%d", []string{"in", "out"}[k], v)
		}
	}
	if v, there := b.Lists(trace.ChunkGaps).At(i); there {
		out += fmt.Sprintf(" gaps=%d", v)
	}
	return out
}

func checkForeign(t *testing.T, path, want, evidence string) {
	t.Helper()
	rows, notes := rowsOf(t, path)
	if got := strings.Join(rows, "/"); got != want {
		t.Errorf("%s:\n got %s\nwant %s\n%s", path, got, want, strings.Join(notes, "\n"))
	}
	if evidence == "" {
		evidence = "the table has no rows: "
		notes = append(notes, `column "`+notes[len(notes)-1]+`"`)
	}
	for _, e := range strings.Split(evidence, "/") {
		name, why, _ := strings.Cut(e, ": ")
		found := false
		for _, n := range notes {
			found = found || strings.Contains(n, `column "`+name+`"`) && strings.Contains(n, why)
		}
		if !found {
			t.Errorf("%s: no note says of %s: %s\n%s", path, name, why, strings.Join(notes, "\n"))
		}
	}
}

// TestForeign reads tables of requests that DuckDB, pandas, pyarrow and Polars
// have written.
func TestForeign(t *testing.T) { checkFixtures(t, "") }

// checkFixtures checks the files of testdata whose names have one of some parts.
func checkFixtures(t *testing.T, parts ...string) {
	t.Helper()
	for _, f := range foreign {
		if !slices.ContainsFunc(parts, func(p string) bool { return strings.Contains(f.file, p) }) {
			continue
		}
		files, _ := filepath.Glob(filepath.Join("..", "..", "..", "testdata", "formats", f.file, "input.*"))
		if len(files) != 1 {
			t.Fatalf("%s: %d files", f.file, len(files))
		}
		checkForeign(t, files[0], f.want, f.notes)
	}
}

// TestP79Foreign: all-null columns, empty lists and tables without rows.
func TestP79Foreign(t *testing.T) { checkFixtures(t, "duckdb-types", "duckdb-empty", "arrow/feather") }

// TestP80Foreign: unsigned and wide numbers, dictionaries and lists.
func TestP80Foreign(t *testing.T) { checkFixtures(t, "duckdb-types", "bigquery", "duckdb-lists") }

// TestForeignDuckDB has DuckDB write its tables anew.
func TestForeignDuckDB(t *testing.T) {
	dir := t.TempDir()
	hows := []string{"", ", COMPRESSION zstd, PARQUET_VERSION V2", ", COMPRESSION gzip"}
	path := func(i, k int) string { return filepath.Join(dir, fmt.Sprintf("%d-%d.parquet", i, k)) }
	var statements []string
	for i, f := range foreign {
		for k, how := range hows {
			if f.sql != "" {
				statements = append(statements, fmt.Sprintf("COPY (%s) TO '%s' (FORMAT parquet%s)", f.sql, path(i, k), how))
			}
		}
	}
	duckdb(t, statements...)
	for i, f := range foreign {
		for k := range hows {
			if f.sql != "" {
				checkForeign(t, path(i, k), f.want, f.notes)
			}
		}
	}
}

const prelude = `import sys, datetime as dt
import numpy as np, pandas as pd, polars as pl, pyarrow as pa, pyarrow.parquet as pq
from decimal import Decimal as D
t = dt.datetime(2026, 3, 1, 10, tzinfo=dt.timezone.utc)
ms = lambda x: dt.timedelta(milliseconds=x)
`

// TestForeignDataFrames has pandas, pyarrow and Polars write their tables anew. Set
// SERVESCOPE_PYTHON to the Python that has them.
func TestForeignDataFrames(t *testing.T) {
	python := os.Getenv("SERVESCOPE_PYTHON")
	if python == "" || runtime.GOOS == "js" {
		t.Skip("SERVESCOPE_PYTHON names no Python with pandas, pyarrow and polars")
	}
	dir := t.TempDir()
	script := prelude
	for i, f := range foreign {
		if f.python != "" {
			script += fmt.Sprintf("out = sys.argv[1] + '/%d'\n%s\n", i, f.python)
		}
	}
	if out, err := exec.Command(python, "-c", script, dir).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	for i, f := range foreign {
		if f.python != "" {
			checkForeign(t, filepath.Join(dir, fmt.Sprint(i)), f.want, f.notes)
		}
	}
}
