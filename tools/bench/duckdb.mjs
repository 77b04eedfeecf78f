// Computes with DuckDB what bench.go asks of every contender:
// node duckdb.mjs SHAPE FILE THREADS prints the answers as one JSON object.
// DuckDB is the one that ../duckdb installs.
import { createRequire } from 'node:module'

const require = createRequire(new URL('../duckdb/package.json', import.meta.url))
const { DuckDBInstance } = require('@duckdb/node-api')
const [shape, file, threads] = process.argv.slice(2)
const instance = await DuckDBInstance.create(':memory:', { threads })
const connection = await instance.connect()

const literal = `'${file.replaceAll("'", "''")}'`
const figures = (x) => `count(${x})::DOUBLE, avg(${x}), stddev_pop(${x}), quantile_cont(${x}, [0.5, 0.9, 0.99, 0.999])`

async function row(sql) {
  const reader = await connection.runAndReadAll(sql)
  return reader.getRows()[0]
}

const metric = ([n, mean, std, q], i = 0) => ({ n, mean, std, p50: q.items[0], p90: q.items[1], p99: q.items[2], 'p99.9': q.items[3] })

// Each shape ends in a table per_request (arrival, first, last, n tokens) and a
// query of the gaps, in seconds.
const shapes = {
  records: {
    load: [
      `CREATE TABLE log AS SELECT arrival, token_timestamps AS t FROM read_json(${literal}, format = 'newline_delimited',
        maximum_object_size = 67108864, columns = {arrival: 'DOUBLE', token_timestamps: 'DOUBLE[]'})`,
      `CREATE VIEW per_request AS SELECT arrival, t[1] AS first, t[-1] AS last, len(t) AS n FROM log`,
    ],
    gaps: `SELECT unnest(t[2:]) - unnest(t[:-2]) AS g FROM log`,
  },
  events: {
    load: [
      `CREATE TABLE log AS SELECT * FROM read_json(${literal}, format = 'newline_delimited',
        columns = {ts: 'DOUBLE', request_id: 'VARCHAR', event: 'VARCHAR'})`,
      `CREATE TABLE lists AS SELECT min(ts) FILTER (event = 'arrival') AS arrival, list(ts ORDER BY ts) FILTER (event = 'token') AS t
        FROM log WHERE event IN ('arrival', 'token') GROUP BY request_id`,
      `CREATE VIEW per_request AS SELECT arrival, t[1] AS first, t[-1] AS last, len(t) AS n FROM lists`,
    ],
    gaps: `SELECT unnest(t[2:]) - unnest(t[:-2]) AS g FROM lists`,
  },
  bench: {
    load: [
      `CREATE TABLE log AS SELECT unnest(start_times) AS arrival, unnest(ttfts) AS ttft, unnest(output_lens) AS n, unnest(itls) AS g
        FROM read_json(${literal}, format = 'unstructured', maximum_object_size = 4294967295,
        columns = {start_times: 'DOUBLE[]', ttfts: 'DOUBLE[]', output_lens: 'BIGINT[]', itls: 'DOUBLE[][]'})`,
      `CREATE VIEW per_request AS SELECT arrival, arrival + ttft AS first, arrival + ttft + coalesce(list_sum(g), 0) AS last, n FROM log`,
    ],
    gaps: `SELECT unnest(g) AS g FROM log`,
  },
}

for (const sql of shapes[shape].load) await connection.run(sql)
const requests = await row(`SELECT ${figures('first - arrival')}, ${figures('(last - first) / (nullif(n, 1) - 1)')},
  sum(n)::DOUBLE, max(last) - min(arrival) FROM per_request`)
const gaps = await row(`SELECT ${figures('g')} FROM (${shapes[shape].gaps})`)
console.log(JSON.stringify({
  ttft: metric(requests.slice(0, 4)),
  tpot: metric(requests.slice(4, 8)),
  itl: metric(gaps),
  tokens: requests[8],
  tps: requests[8] / requests[9],
  version: 'DuckDB ' + (await row('SELECT version()'))[0].slice(1),
}))
