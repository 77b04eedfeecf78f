// Package decompose takes times apart: it says which stages of serving a time
// to first token, or the time per output token, went into.
//
// A decomposition of a total is an ordered list of entries, each of a set of
// stages (leaves) and a time. Σ entries + residual = total, to the nanosecond,
// always. A stage is in exactly one of four states:
//
//	value    it has an entry of its own, which may be 0 or negative
//	merged   it shares an entry with others, for no source separates them
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
// What is in the total depends on whose first token it is: at a server, all from
// its receipt on; at an engine, from the scheduler's queue to the first token;
// at a decode node the same, with the other node's work inside. A client or a
// gateway does not see where the server's work begins and ends: what lies
// before the first and behind the last boundary inside of the server is
// residual. Stages outside of the total are null(outside_total).
//
// Durations may be added across clocks, stamps are not: TTFT of several rows of
// one request takes differences of totals only.
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
// Time in which nothing is known of the host is residual where ranges of the
// scheduler were recorded, else one entry with scheduling. TPOT of a run is
// weighted by its decode tokens: Σ g·A / Σ g over the steps, where g is how many
// sequences get a token and A how long they waited since the step that gave them
// the one before. Steps that only prefill in between are interference, a stage of
// scheduling. Without request ids it is assumed that of the g sequences of a step
// min(g before, g) have gone on through these, and that the others were prefilled
// last of all; what the other assumption gives is the other end of a range.
//
// Of a single request, whose tokens have stamps on the clock of the steps, the
// span from the first to the last token is the sum of the steps in between, up to
// delivery: its own steps with their parts, and those without it, interference if
// they only prefill and else a stall.
//
// Logs that state the time inside of steps only, or estimates of it, give steps by
// kind and batch size, and no TPOT. Shares of a profiled run are those of that run:
// they are never put onto the TPOT of another.
package decompose
