"""Writes one table of requests in as many ways as the tools at hand know: types,
encodings and compressions of pandas, pyarrow, Polars and DuckDB. Each file is named
after what it holds (stamps, spans or gaps) and how it is written."""

import datetime as dt
import json
import os
import sys
from decimal import Decimal as D

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.feather as feather
import pyarrow.ipc as ipc
import pyarrow.parquet as pq

out = sys.argv[1]
N = 300
T = 1772359200  # 2026-03-01T10:00:00Z


def null(k, n, v):
    return [None if i % k == n else x for i, x in enumerate(v)]


ids = null(17, 9, [f"r{i}" + (' é"\U0001f600,\n' if i % 7 == 3 else "") for i in range(N)])
model = null(19, 3, ["n" if i % 2 else "m" for i in range(N)])
arrival = [T + 7 * i for i in range(N)]
ttft = null(11, 5, [1 + i % 3 for i in range(N)])
e2e = null(23, 7, [5 + i % 4 for i in range(N)])
tokens = null(13, 7, [10 + i for i in range(N)])
gaps = null(29, 4, [[20 + k for k in range(i % 5)] for i in range(N)])
add = lambda at, d: [None if x is None else a + x for a, x in zip(at, d)]
first, end = add(arrival, ttft), add(arrival, e2e)
scaled = lambda v, n: [None if x is None else x * n for x in v]
each = lambda v, f: [None if x is None else f(x) for x in v]
base = {"request_id": pa.array(ids), "model": pa.array(model), "output_tokens": pa.array(tokens, pa.int64())}

# Every way to write points in time: name of the unit in the name of the column,
# and what makes an array of Unix seconds.
at_type = lambda t, n: lambda v: pa.array(scaled(v, n), pa.int64()).cast(t)
stamps = {}
for unit, n in ("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9):
    for zone in None, "UTC", "America/New_York", "+05:30":
        stamps[f"timestamp {unit} {zone}".replace("/", "-")] = at_type(pa.timestamp(unit, zone), n)
    stamps[f"int64 {unit}"] = at_type(pa.int64(), n)
    stamps[f"uint64 {unit}"] = at_type(pa.uint64(), n)
    stamps[f"dictionary {unit}"] = lambda v, n=n: pa.array(scaled(v, n), pa.int64()).dictionary_encode()
stamps["date64"] = at_type(pa.timestamp("ms"), 10**3)
stamps["int32 s"] = at_type(pa.int32(), 1)
stamps["uint32 s"] = at_type(pa.uint32(), 1)
stamps["float64 s"] = lambda v: pa.array(v, pa.float64())
stamps["decimal64(18,6)"] = lambda v: pa.array(each(v, D), pa.decimal64(18, 6))
for p, s in (18, 6), (38, 9), (30, 0):
    stamps[f"decimal128({p},{s})"] = lambda v, p=p, s=s: pa.array(each(v, D), pa.decimal128(p, s))
stamps["decimal256(60,9)"] = lambda v: pa.array(each(v, D), pa.decimal256(60, 9))
iso = lambda x: dt.datetime.fromtimestamp(x, dt.timezone.utc).isoformat()
for name, t in ("string", pa.string()), ("large_string", pa.large_string()), ("string_view", pa.string_view()), (
    "binary", pa.binary()), ("large_binary", pa.large_binary()), ("binary_view", pa.binary_view()), ("fixed binary", pa.binary(25)):
    stamps[name] = lambda v, t=t: pa.array(each(v, lambda x: iso(x) if pa.types.is_string(t) or pa.types.is_large_string(t) or t == pa.string_view() else iso(x).encode()), t)
stamps["dictionary of strings"] = lambda v: pa.array(each(v, iso)).dictionary_encode()
stamps["dictionary of timestamps"] = lambda v: pa.array(scaled(v, 1000), pa.timestamp("ms", "UTC")).dictionary_encode()
stamps["run ends"] = lambda v: pc.run_end_encode(pa.array(scaled(v, 1000), pa.timestamp("ms", "UTC")))

spans = {}
for unit, n in ("s", 1), ("ms", 10**3), ("us", 10**6), ("ns", 10**9):
    spans[f"duration {unit}"] = ("", at_type(pa.duration(unit), n))
    spans[f"int64 {unit}"] = ("_" + unit, at_type(pa.int64(), n))
for t in pa.int8(), pa.uint8(), pa.int16(), pa.uint16(), pa.int32(), pa.uint32(), pa.uint64(), pa.float32(), pa.float64():
    spans[f"{t} s"] = ("_s", lambda v, t=t: pa.array(v, t))
spans["halffloat s"] = ("_s", lambda v: pa.array(each(v, np.float16), pa.float16()))
for t, unit, n in (pa.time32("s"), "s", 1), (pa.time32("ms"), "ms", 10**3), (pa.time64("us"), "us", 10**6), (pa.time64("ns"), "ns", 10**9):
    spans[f"time {unit}"] = ("", lambda v, t=t, n=n: pa.array(scaled(v, n), pa.int64() if "64" in str(t) else pa.int32()).cast(t))
for t in pa.decimal32(7, 3), pa.decimal64(12, 3), pa.decimal128(20, 6), pa.decimal128(38, 20), pa.decimal256(50, 3):
    spans[str(t)] = ("_s", lambda v, t=t: pa.array(each(v, D), t))
spans["strings"] = ("", lambda v: pa.array(each(v, lambda x: f"{x}s")))
spans["dictionary of floats"] = ("_s", lambda v: pa.array(v, pa.float64()).dictionary_encode())
spans["dictionary of int8"] = ("_s", lambda v: pa.array(v, pa.int8()).dictionary_encode())
spans["dictionary of decimals"] = ("_s", lambda v: pa.array(each(v, D), pa.decimal128(20, 3)).dictionary_encode())
spans["dictionary of durations"] = ("", lambda v: pa.array(scaled(v, 1000), pa.duration("ms")).dictionary_encode())
spans["run ends"] = ("_s", lambda v: pc.run_end_encode(pa.array(v, pa.float32())))

lists = {}
for t in pa.int8(), pa.uint16(), pa.int32(), pa.int64(), pa.uint64(), pa.float32(), pa.float64():
    lists[f"list<{t}>"] = lambda v, t=t: pa.array(v, pa.list_(t))
    lists[f"large_list<{t}>"] = lambda v, t=t: pa.array(v, pa.large_list(t))
lists["list_view"] = lambda v: pa.array(v, pa.list_view(pa.int64()))
lists["large_list_view"] = lambda v: pa.array(v, pa.large_list_view(pa.float32()))
lists["list<half>"] = lambda v: pa.array(each(v, lambda l: [np.float16(x) for x in l]), pa.list_(pa.float16()))
for t in pa.decimal64(12, 3), pa.decimal128(20, 3), pa.decimal128(38, 20), pa.decimal256(50, 3):
    lists[f"list<{t}>"] = lambda v, t=t: pa.array(each(v, lambda l: [D(x) for x in l]), pa.list_(t))
lists["list<duration ms>"] = lambda v: pa.array(v, pa.list_(pa.duration("ms")))
lists["list<dictionary>"] = lambda v: pa.ListArray.from_arrays(pa.array([0] + list(np.cumsum([len(l or []) for l in v])), pa.int32()),
    pa.array([x for l in v for x in l or []], pa.int64()).dictionary_encode(), mask=pa.array([l is None for l in v]))
lists["text"] = lambda v: pa.array(each(v, str))

def attempt(file, write):
    """The tools write not all that there is; what they do not is said and left out."""
    try:
        write(f"{out}/{file}")
    except BaseException as e:  # Polars panics
        print(f"not written: {file}: {str(e).splitlines()[0][:150]}")
        if os.path.exists(f"{out}/{file}"):
            os.remove(f"{out}/{file}")


def stream(t, codec):
    def write(path):
        with ipc.new_stream(path, t.schema, options=ipc.IpcWriteOptions(compression=codec)) as w:
            w.write_table(t, max_chunksize=100)
    return write


def arrow(name, t):
    attempt(f"{name} feather.arrow", lambda path: feather.write_feather(t, path, compression="uncompressed"))
    for codec in "lz4", "zstd":
        attempt(f"{name} stream {codec}.arrow", stream(t, codec))


def tables():
    for name, f in stamps.items():
        yield f"stamps {name}", pa.table(base | {"arrived_at": f(arrival), "first_token_at": f(first), "finished_at": f(end)})
    start = pa.array(scaled(arrival, 1000), pa.timestamp("ms", "UTC"))
    for name, (suffix, f) in spans.items():
        yield f"spans {name}", pa.table(base | {"arrived_at": start, "ttft" + suffix: f(ttft), "latency" + suffix: f(e2e)})
    for name, f in lists.items():
        column = "itl" if "duration" in name else "itl_ms"
        yield f"gaps {name}", pa.table(base | {"arrived_at": start, "ttft_s": pa.array(ttft, pa.int64()), column: f(gaps)})


columns = {"arrived_at": arrival, "request_id": ids, "model": model, "output_tokens": tokens}
for kind, more in ("stamps", {"first_token_at": first, "finished_at": end}), ("spans", {"ttft_s": ttft, "latency_s": e2e}), ("gaps", {"ttft_s": ttft, "itl_ms": gaps}):
    with open(f"{out}/{kind}.jsonl", "w") as f:
        for row in zip(*(columns | more).values()):
            f.write(json.dumps(dict(zip(columns | more, row))) + "\n")

every = list(tables())
for name, t in every:
    arrow(name, t)
    if "run ends" in name:
        continue  # of Arrow alone: pandas dies of it
    attempt(f"{name} pyarrow.parquet", lambda path: pq.write_table(t, path))
    attempt(f"{name} pyarrow plain v2.parquet", lambda path: pq.write_table(t, path, use_dictionary=False, compression="zstd", data_page_version="2.0",
        row_group_size=100, write_batch_size=7, data_page_size=64))
    if "duration" not in name:  # which without the schema of Arrow are numbers
        attempt(f"{name} pyarrow bare.parquet", lambda path: pq.write_table(t, path, store_schema=False, dictionary_pagesize_limit=64, write_batch_size=13, data_page_size=200))
    attempt(f"{name} polars.parquet", lambda path: pl.from_arrow(t).write_parquet(path, row_group_size=64))
    attempt(f"{name} polars.arrow", lambda path: pl.from_arrow(t).write_ipc(path))
    attempt(f"{name} polars stream.arrow", lambda path: pl.from_arrow(t).write_ipc_stream(path, compression="zstd"))
    attempt(f"{name} pandas.parquet", lambda path: t.to_pandas().to_parquet(path))

some = "stamps timestamp ns UTC", "stamps string", "stamps int32 s", "spans float s", "spans decimal128(38, 20)", "spans halffloat s", "spans int64 us", "gaps list<float>", "gaps list<int64>"
for name, t in every:
    if name not in some:
        continue
    for codec in "none", "snappy", "gzip", "brotli", "lz4", "zstd":
        for version in "1.0", "2.0":
            attempt(f"{name} {codec} {version}.parquet", lambda path: pq.write_table(t, path, compression=codec, data_page_version=version, data_page_size=100, write_batch_size=20, row_group_size=150))
        attempt(f"{name} polars {codec}.parquet", lambda path: pl.from_arrow(t).write_parquet(path, compression=codec.replace("none", "uncompressed")))
    for encoding in "PLAIN", "DELTA_BINARY_PACKED", "DELTA_LENGTH_BYTE_ARRAY", "DELTA_BYTE_ARRAY", "BYTE_STREAM_SPLIT":
        columns = {}
        for f in t.schema:
            path = f.name + ".list.element" if pa.types.is_list(f.type) else f.name
            try:
                pq.write_table(pa.table({f.name: t[f.name]}), pa.BufferOutputStream(), use_dictionary=False, column_encoding={path: encoding})
                columns[path] = encoding
            except Exception:
                columns[path] = "PLAIN"
        attempt(f"{name} {encoding}.parquet", lambda path: pq.write_table(t, path, use_dictionary=False, column_encoding=columns, data_page_size=300))

t = dict(every)[some[0]]
attempt("stamps int96.parquet", lambda path: pq.write_table(t, path, use_deprecated_int96_timestamps=True))
nested = pa.table({"request": pa.StructArray.from_arrays([t[c].combine_chunks() for c in t.column_names], names=t.column_names)})
attempt("stamps nested.parquet", lambda path: pq.write_table(nested, path))
arrow("stamps nested", nested)

try:
    import duckdb
except ImportError:
    sys.exit()
for name, t in every:
    if "run ends" in name:
        continue
    con = duckdb.connect()
    con.execute("SET TimeZone='UTC'")
    for how in "", ", COMPRESSION zstd, PARQUET_VERSION V2", ", COMPRESSION lz4_raw, ROW_GROUP_SIZE 128", ", COMPRESSION brotli":
        def copy(path):
            con.register("t", t)
            con.execute(f"COPY (SELECT * FROM t) TO '{path}' (FORMAT parquet{how})")
        attempt(f"{name} duckdb{how.replace(',', '')}.parquet", copy)
