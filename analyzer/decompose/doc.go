// Package decompose splits times into stages: it says how much of a time to first
// token, or of the time per output token, each stage of serving took.
//
// A decomposition of a total is an ordered list of entries, each of a set of
// stages (leaves) and a time. Σ entries + residual = total, to the nanosecond,
// always. A stage is in exactly one of four states:
//
//	value    it has an entry of its own, which may be 0 or negative
//	merged   it shares an entry with other stages, because no source separates them
//	absent   there is no such stage here (no KV transfer in a unified engine)
//	null     unknown, with a reason; its time, if any, lies in the residual
//
// The residual is never part of a stage. Nothing is clamped: stamps that are out
// of order make negative entries. Figures that overlap an entry (memos) are
// shown beside it and never summed.
//
// # Time to first token
//
// The stages are those of trace.Leaves, in order of time, behind what lies
// outside of the server: network and client. Between neighbouring stages lie
// the boundaries, which rows stamp:
//
//	received · input · dispatched · ingress · queued · queue · admitted · prefill · prefill_end · egress · first_token
//
// There is one rule. Each pair of neighbouring known boundaries gives one entry,
// of all stages between them. Durations that the row states itself (d_queue,
// d_merged, …) go before what stamps would give, and are subtracted from the
// entry that they lie in. Boundaries stay where they are stamped, in order or
// not.
//
// The total depends on who saw the first token. For a server it begins with the
// receipt of the request; for an engine with the scheduler's queue; for a decode
// node with its queue, and the work of the prefill node lies inside. A client or a
// gateway does not see where the server's work begins and ends: time before the
// first and after the last boundary inside of the server is residual. Stages
// outside of the total are null(outside_total).
//
// Durations of several clocks may be added, but stamps of several clocks are never
// subtracted: TTFT of several rows of one request uses differences of totals only.
//
// # Time per output token
//
// An engine step of a profiler trace is an interval from the end of the step
// before to its own; eight classes tile it (trace.Steps), and roll up as
//
//	decode compute      compute
//	communication       communication, host transfer
//	scheduling          scheduling
//	framework overhead  sampling, launch wait, host execution
//
// Time in which the activity of the host is unknown is residual where ranges of the
// scheduler were recorded, and else one entry together with scheduling. TPOT of a
// run is weighted by its decode tokens: Σ g·A / Σ g over the steps, where g is the
// number of sequences that get a token and A the time that they waited since the
// step that gave them the previous token. Steps in between that only prefill are
// interference, a stage of scheduling. Without request ids, min(g before, g) of the
// g sequences of a step are assumed to have gone on through the steps in between,
// and the other sequences to have been prefilled last of all; the opposite
// assumption gives the other end of a range.
//
// For a single request whose tokens have stamps on the clock of the steps, the span
// from the first to the last token is the sum of the steps in between, up to
// delivery: the request's own steps with their parts, and the steps without the
// request, which are interference if they only prefill and a stall otherwise.
//
// Logs that state only the time inside of steps, or estimates of it, give steps by
// kind and batch size, and no TPOT. Shares of a profiled run belong to that run:
// they are never applied to the TPOT of another run.
package decompose
