// Package sglmeta makes a row of the requests table of what SGLang tells about
// one request: the meta_info of its answer, as request logs, metric exports and
// saved responses hold it, and the parameters it was sent with.
//
//	m.Reset()
//	m.Set([]byte("finish_reason.type"), []byte("length")) // of meta_info
//	m.Param([]byte("stream"), []byte("true"))             // of the request
//	m.Row(builder, note)
//	builder.EndRow()
//
// Keys of nested dictionaries are joined by points. Values are given as text,
// without quotes; null, None and NaN count as absent, and so do keys that are
// not in the tables of this package. Prompts and outputs need not be passed.
//
// # What the stamps are
//
// Since v0.5.10 meta_info has the stamps of all stages in epoch seconds; fields.go
// lists each field with the versions that write it. Before, some are missing, and
// before v0.5.5 there is e2e_latency at most. A generation is told from the fields
// themselves, never from a version that is claimed:
//
//	G4  v0.5.12+           api_server_dispatch_finish_ts, no prefill_launch_latency
//	G3  v0.5.10–11         the same with prefill_launch_latency
//	G2  v0.5.5.post2–0.5.9 request_sent_to_scheduler_ts
//	G1  v0.5.5–.post1      request_scheduled_ts or response_sent_ts
//
// Rows are on the wall clock, in steps of 238 ns: the stamps are float64 seconds
// since the epoch. A value below 10^9 s in a stamp is one of
// time.perf_counter, seconds since the host's boot: such stamps make a row on the
// monotonic clock if they are all there is, and are left out otherwise.
//
// The first chunk is the first token of a streamed request only: otherwise the
// scheduler sends a chunk at the end, or every 50 tokens. The stamp of the finish
// is that of the chunk with the last token, so it is last_token too; SGLang's own
// decode_throughput is (completion_tokens-1) over the time between the two.
package sglmeta
