// Package query describes what a user asks: which requests, which window of
// time, which groups, and which definitions. It parses the texts of the command
// line. The page and the worker use the same syntax.
//
// # Filters
//
// A filter keeps the requests for which an expression is true:
//
//	prompt_tokens > 1000 and status = ok
//	ttft > 500ms or e2e >= 2s
//	model ~ llama and not tenant in (batch, "load test")
//	cached_tokens is null
//
// A comparison is NAME OPERATOR VALUE. NAME is a column of the requests table
// (`servescope define requests` lists them), file (the name of the input), or a
// metric of single requests: ttft, ttft.client, tpot, e2e and the others of
// [Metrics], computed under the definition of the query.
//
// The operators are = != < <= > >= and ~. For texts, ~ means "contains",
// without regard to the case of ASCII letters, and the order operators do not
// exist. NAME in (a, b, c) is true when NAME equals one of the values.
//
// Values are written as they are, or in '…' or "…" where they hold spaces,
// commas, parentheses or operators. Durations need a unit: 500ms, 2s, 1m30s.
// A stamp such as sent is compared with an RFC 3339 time, and then only rows
// on a wall clock can match; or with a duration since the origin of the row's
// clock, and then only rows on other clocks can match: stamps of different
// clocks have no order.
//
// Comparisons are combined with not, and, or (binding in this order) and
// parentheses. Keywords may be written in any case.
//
// A request with several choices is one request. Its start stamps are the
// earliest and its end stamps the latest of any choice, its counts of output
// tokens are sums, and its ttft ends at the earliest first token. A value that
// each choice has, such as tpot or finish_reason, keeps the request if one
// choice matches.
//
// # Null
//
// A comparison with an unknown value is false for every operator: none of ttft
// > 500ms, ttft <= 500ms and ttft != 500ms keeps a request without a first
// token. A negation turns false into true: not ttft > 500ms keeps it. NAME is
// null and NAME is not null test for unknown values directly.
//
// # Time
//
// An instant is an RFC 3339 time (2026-01-31T14:05:00Z), epoch seconds
// (1769868300.25), or an offset from the first request of each run (+30s). Runs
// on clocks other than wall clocks accept offsets only. A request belongs to an
// interval [from, to) by its send, or by its arrival if sends are not recorded.
package query
