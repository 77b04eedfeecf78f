"""Computes with Polars what bench.go asks of every contender: with_polars.py
SHAPE FILE THREADS prints the answers as one JSON object."""
import json
import os
import sys

shape, path, threads = sys.argv[1:]
os.environ["POLARS_MAX_THREADS"] = threads
import polars as pl  # noqa: E402  reads the number of threads once


def records():
    log = pl.read_ndjson(path, schema={"arrival": pl.Float64, "token_timestamps": pl.List(pl.Float64)})
    t = pl.col("token_timestamps")
    per_request = log.select("arrival", first=t.list.first(), last=t.list.last(), n=t.list.len())
    return per_request, log.select(g=t.explode().diff()), log.select(t.list.len()).to_series()


def events():
    log = pl.read_ndjson(path, schema={"ts": pl.Float64, "request_id": pl.String, "event": pl.String})
    tokens = log.filter(pl.col("event") == "token").group_by("request_id").agg(pl.col("ts").sort())
    arrivals = log.filter(pl.col("event") == "arrival").select("request_id", arrival="ts")
    log = tokens.join(arrivals, on="request_id")
    t = pl.col("ts")
    per_request = log.select("arrival", first=t.list.first(), last=t.list.last(), n=t.list.len())
    return per_request, log.select(g=t.explode().diff()), log.select(t.list.len()).to_series()


def bench():
    lists = {"start_times": pl.List(pl.Float64), "ttfts": pl.List(pl.Float64), "output_lens": pl.List(pl.Int64), "itls": pl.List(pl.List(pl.Float64))}
    log = pl.read_ndjson(path, schema=lists).explode(*lists)
    first = pl.col("start_times") + pl.col("ttfts")
    per_request = log.select(arrival="start_times", first=first, last=first + pl.col("itls").list.sum(), n="output_lens")
    return per_request, log.select(g=pl.col("itls").explode()), None


def metric(x):
    f = {"n": pl.len(), "mean": x.mean(), "std": x.std(ddof=0)}
    return f | {f"p{100 * q:g}": x.quantile(q, "linear") for q in (0.5, 0.9, 0.99, 0.999)}


def figures(frame, x):
    frame = frame.select(x=x).drop_nulls()
    return frame.select(**metric(pl.col("x"))).row(0, named=True)


per_request, gaps, lengths = {"records": records, "events": events, "bench": bench}[shape]()
if lengths is not None:  # differences of one long column: the first of each request is none
    gaps = gaps.with_row_index("i")
    starts = lengths.cum_sum().shift(1, fill_value=0)
    inner = pl.Series("inner", [True]).new_from_index(0, gaps.height).scatter(starts, False)
    gaps = gaps.filter(inner)
tokens, span = per_request.select(pl.col("n").sum(), span=pl.col("last").max() - pl.col("arrival").min()).row(0)
print(json.dumps({
    "ttft": figures(per_request, pl.col("first") - pl.col("arrival")),
    "tpot": figures(per_request.filter(pl.col("n") > 1), (pl.col("last") - pl.col("first")) / (pl.col("n") - 1)),
    "itl": figures(gaps, pl.col("g")),
    "tokens": tokens,
    "tps": tokens / span,
    "version": "Polars " + pl.__version__,
}))
