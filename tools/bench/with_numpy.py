"""Computes what bench.go asks of every contender as the benchmark of vLLM does:
json, lists and numpy. with_numpy.py SHAPE FILE prints the answers as one JSON
object.

calculate_metrics of vLLM's benchmark appends the figures of one request after the
other to lists, and gives each list to np.mean, np.std and np.percentile."""
import json
import sys

import numpy as np


def records(path):
    with open(path) as f:
        for line in f:
            r = json.loads(line)
            yield r["arrival"], r["token_timestamps"]


def events(path):
    open_requests = {}
    with open(path) as f:
        for line in f:
            e = json.loads(line)
            if e["event"] == "arrival":
                open_requests[e["request_id"]] = (e["ts"], [])
            elif e["event"] == "token":
                open_requests[e["request_id"]][1].append(e["ts"])
            elif e["event"] == "finish":
                yield open_requests.pop(e["request_id"])


def stamped(requests):
    """The arrival, TTFT, gaps and number of tokens of requests with stamps."""
    for arrival, stamps in requests:
        itl = [b - a for a, b in zip(stamps, stamps[1:])]
        yield arrival, stamps[0] - arrival, itl, len(stamps)


def bench(path):
    with open(path) as f:
        r = json.load(f)
    yield from zip(r["start_times"], r["ttfts"], r["itls"], r["output_lens"])


def metric(values):
    out = {"n": len(values), "mean": np.mean(values), "std": np.std(values)}
    for p in (50, 90, 99, 99.9):
        out[f"p{p:g}"] = np.percentile(values, p)
    return out


shape, path = sys.argv[1:]
ttfts, tpots, itls = [], [], []
tokens, begin, end = 0, float("inf"), float("-inf")
for arrival, ttft, itl, n in {"records": lambda p: stamped(records(p)), "events": lambda p: stamped(events(p)), "bench": bench}[shape](path):
    latency = ttft + sum(itl)
    tokens += n
    if n > 1:
        tpots.append((latency - ttft) / (n - 1))
    itls += itl
    ttfts.append(ttft)
    begin, end = min(begin, arrival), max(end, arrival + latency)
print(json.dumps({
    "ttft": metric(ttfts),
    "tpot": metric(tpots),
    "itl": metric(itls),
    "tokens": tokens,
    "tps": tokens / (end - begin),
    "version": "json + numpy " + np.__version__,
}))
