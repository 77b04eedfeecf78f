// Runs statements in an in-memory DuckDB and prints, as JSON, an array with the
// rows of each: node query.mjs 'SELECT …' 'SELECT …'. A row is an object; 64-bit
// integers have all their digits, lists are arrays, timestamps text.
import { DuckDBInstance } from '@duckdb/node-api'

const instance = await DuckDBInstance.create(':memory:')
const connection = await instance.connect()
await connection.run("SET TimeZone = 'UTC'")

// JSON.stringify has no way to write a BigInt as a number, so rows are put
// together here.
function text(value) {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint') return value.toString()
  if (typeof value === 'number' || typeof value === 'boolean') return JSON.stringify(value)
  if (Array.isArray(value?.items)) return '[' + value.items.map(text).join(',') + ']'
  return JSON.stringify(String(value))
}

const results = []
for (const sql of process.argv.slice(2)) {
  const reader = await connection.runAndReadAll(sql)
  const names = reader.deduplicatedColumnNames()
  const rows = reader.getRows().map((row) =>
    '{' + row.map((value, i) => JSON.stringify(names[i]) + ':' + text(value)).join(',') + '}')
  results.push('[' + rows.join(',\n') + ']')
}
console.log('[' + results.join(',\n') + ']')
