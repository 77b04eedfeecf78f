"""Reads exported tables with pandas, pyarrow, Polars and Spark and compares
every value with what was exported: check.py FOLDER [READER…].

The folder holds NAME.parquet, NAME.arrow, NAME.arrows and NAME.csv beside
NAME.json: {"fields": [{"name", "type", "unit"}], "rows": [{column: value}]}.
Prints one line per file and reader; exits 1 when a value differs and 3 when a
reader is not installed.
"""

import csv
import datetime
import json
import math
import pathlib
import sys

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)


def plain(value, field):
    """A reader's value as JSON has it: timestamps as integers in their unit."""
    if value is None:
        return None
    kind = field["type"]
    if kind == "time":
        if hasattr(value, "value") and not isinstance(value, datetime.datetime):
            value = value.value
        if isinstance(value, datetime.datetime):
            if value.tzinfo is None:
                value = value.replace(tzinfo=datetime.timezone.utc)
            delta = value - EPOCH
            return (delta.days * 86400 + delta.seconds) * 10**6 + delta.microseconds
        return int(value)
    if kind == "list":
        return [int(v) for v in value]
    if kind == "int":
        if isinstance(value, float):
            raise TypeError(f"{field['name']}: an integer became the float {value!r}")
        return int(value)
    if kind == "float":
        value = float(value)
        if not math.isfinite(value):
            raise TypeError(f"{field['name']}: {value!r}")
        return value
    if kind == "bool":
        return bool(value)
    return str(value)


def compare(name, rows, want):
    """Rows are dictionaries by column; says where the first one differs."""
    fields = want["fields"]
    if len(rows) != len(want["rows"]):
        raise AssertionError(f"{len(rows)} rows, want {len(want['rows'])}")
    for i, (got, expected) in enumerate(zip(rows, want["rows"])):
        for field in fields:
            column = field["name"]
            value = plain(got[column], field)
            wanted = expected[column]
            if field["type"] == "float" and wanted is not None:
                wanted = float(wanted)
            if value != wanted or type(value) is not type(wanted):
                raise AssertionError(f"row {i}, {column}: {value!r}, want {wanted!r}")


def columns(names, want):
    expected = [f["name"] for f in want["fields"]]
    if list(names) != expected:
        raise AssertionError(f"columns {list(names)}, want {expected}")


def pyarrow_table(path):
    import pyarrow
    import pyarrow.ipc
    import pyarrow.parquet

    if path.suffix == ".parquet":
        return pyarrow.parquet.read_table(path)
    with pyarrow.OSFile(str(path)) as source:
        if path.suffix == ".arrow":
            return pyarrow.ipc.open_file(source).read_all()
        return pyarrow.ipc.open_stream(source).read_all()


def read_pyarrow(path, want):
    table = pyarrow_table(path)
    columns(table.column_names, want)
    table.validate(full=True)
    # to_pylist needs pandas for nanoseconds only; the default is microseconds.
    return table.to_pylist()


def read_pandas(path, want):
    import pandas

    if path.suffix == ".parquet":
        frame = pandas.read_parquet(path)  # as most people do: integers must survive
    elif path.suffix == ".csv":
        types = {"int": "Int64", "float": "Float64", "bool": "boolean"}
        frame = pandas.read_csv(path, keep_default_na=False, na_values={f["name"]: [""] for f in want["fields"] if f["type"] in types},
                                dtype={f["name"]: types.get(f["type"], "str") for f in want["fields"]})
        columns(frame.columns, want)
        return csv_rows(frame.to_dict("records"), path, want)
    else:
        frame = pyarrow_table(path).to_pandas()
    columns(frame.columns, want)
    return [{c: missing(v) for c, v in row.items()} for row in frame.to_dict("records")]


def csv_rows(rows, path, want):
    """Rows of a CSV: texts that are absent cannot be told from empty ones by a
    data frame, so that both count as the same here."""
    kinds = {f["name"]: f["type"] for f in want["fields"]}
    expected = want["rows"]
    out = []
    for i, row in enumerate(rows):
        new = {}
        for name, value in row.items():
            value = missing(value)
            kind = kinds[name]
            if kind == "text" and (value is None or value == ""):
                value = expected[i][name] if expected[i][name] in (None, "") else value
            elif value == "":
                value = None
            if value is not None and kind == "list":
                value = json.loads(value)
            if value is not None and kind == "time":
                value = datetime.datetime.fromisoformat(value)
            new[name] = value
        out.append(new)
    return out


def missing(value):
    import pandas

    if isinstance(value, (list, dict)) or hasattr(value, "__len__") and not isinstance(value, str):
        return list(value)
    return None if value is None or pandas.isna(value) else value


def read_polars(path, want):
    import polars

    if path.suffix == ".parquet":
        frame = polars.read_parquet(path)
    elif path.suffix == ".arrow":
        frame = polars.read_ipc(path)
    elif path.suffix == ".csv":
        frame = polars.read_csv(path, infer_schema=False)
        columns(frame.columns, want)
        convert = {"int": int, "float": float, "bool": lambda s: {"true": True, "false": False}[s]}
        rows = frame.rows(named=True)
        for row in rows:
            for f in want["fields"]:
                v = row[f["name"]]
                if v is not None and v != "" and f["type"] in convert:
                    row[f["name"]] = convert[f["type"]](v)
        return csv_rows(rows, path, want)
    else:
        frame = polars.read_ipc_stream(path)
    columns(frame.columns, want)
    return frame.rows(named=True)


_spark = None


def read_spark(path, want):
    global _spark
    from pyspark.sql import SparkSession

    if _spark is None:
        _spark = (SparkSession.builder.master("local[1]").config("spark.ui.enabled", "false")
                  .config("spark.sql.session.timeZone", "UTC").getOrCreate())
        _spark.sparkContext.setLogLevel("ERROR")
    frame = _spark.read.parquet(str(path))
    columns(frame.columns, want)
    # Python datetimes lose nothing here, but go through the local zone: cast.
    for f in want["fields"]:
        if f["type"] == "time":
            frame = frame.withColumn(f["name"], __import__("pyspark").sql.functions.expr(f"unix_micros({f['name']})"))
    return [row.asDict() for row in frame.collect()]


READERS = {
    "pyarrow": (read_pyarrow, [".parquet", ".arrow", ".arrows"]),
    "pandas": (read_pandas, [".parquet", ".arrow", ".arrows", ".csv"]),
    "polars": (read_polars, [".parquet", ".arrow", ".arrows", ".csv"]),
    "spark": (read_spark, [".parquet"]),
}


def main(folder, names):
    failed = absent = False
    for reader in names or READERS:
        read, suffixes = READERS[reader]
        for expected in sorted(pathlib.Path(folder).glob("*.json")):
            want = json.loads(expected.read_text())
            for suffix in suffixes:
                path = expected.with_suffix(suffix)
                if not path.exists():
                    continue
                try:
                    compare(path.name, read(path, want), want)
                except ImportError as e:
                    print(f"{reader}: not installed ({e})")
                    absent = True
                    break
                except Exception as e:
                    print(f"{reader}: {path.name}: {type(e).__name__}: {str(e)[:500]}")
                    failed = True
                else:
                    print(f"{reader}: {path.name}: {len(want['rows'])} rows, {len(want['fields'])} columns as written")
    return 1 if failed else 3 if absent else 0


if __name__ == "__main__":
    csv.field_size_limit(1 << 30)
    sys.exit(main(sys.argv[1], sys.argv[2:]))
