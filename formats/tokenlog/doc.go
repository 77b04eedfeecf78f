// Package tokenlog reads servescope's own log format, for servers and clients
// that no other format fits. It is JSON lines: UTF-8 text, one JSON object per
// line, as every language writes it with its standard library. There are two
// shapes: a whole request per line, and an event per line.
//
// # A request per line (tokenlog)
//
// Write a line when a request ends. The plainest line that gives every metric:
//
//	{"request_id":"r1","arrival":1764428000.25,"prompt_tokens":512,"output_tokens":3,"token_timestamps":[1764428000.431902,1764428000.443617,1764428000.455371]}
//
// Times are seconds since 1970 in decimal. They are read exactly, to the
// nanosecond, as they are written: print them with as many decimals as the clock
// has (six or nine), not through a number type that rounds.
//
//	arrival            when the request came in; see "Sides"
//	token_timestamps   when each chunk that carries at least one generated token
//	                   was sent or received, the first one included; [] for none.
//	                   Out of order they are sorted, with a diagnostic
//	prompt_tokens      tokens of the prompt
//	output_tokens      tokens generated, by the engine's count
//	request_id         any text or number; optional
//
// From these follow TTFT (first token − arrival), E2E, TPOT, the gaps between
// chunks, throughput and concurrency. What is left out is unknown, and so are
// the figures that need it; nothing is guessed.
//
// More keys say more. All are optional:
//
//	{"request_id":"r2","side":"client","clock":"monotonic","scheduled_send":98.5,"sent":100,"first_event":100.005,"token_timestamps":[100.214,100.23],"chunk_tokens":[1,4],"output_tokens":5,"finish_reason":"stop","model":"m-8b","stream":true}
//
// Tokens:
//
//	chunk_tokens        tokens of each chunk, where chunks carry several
//	                    (speculative decoding, multi-step); as many as chunks.
//	                    A chunk of 0 tokens is an event, not a token
//	chunk_gaps          seconds between consecutive chunks, instead of
//	                    token_timestamps; write first_token beside it
//	first_token         stamps, for sources that have no list. Beside
//	last_token          token_timestamps they are not needed, and those count
//	first_event         first data event, such as a chunk with a role and no text:
//	                    it is not a token and must not be in token_timestamps
//	first_answer_token  first token behind the reasoning
//	token_kind          kind of the first token: content, reasoning, tool,
//	                    refusal, audio
//
// Stages, as stamps (the server's view of TTFT is taken apart by them):
//
//	scheduled_send      when the client meant to send
//	sent, received      when the request left the client, reached the server;
//	                    arrival is one of them
//	dispatched          the frontend handed the request to the engine
//	queued, admitted    it entered the scheduler's queue; was taken up
//	prefill_start       its first forward pass began
//	prefill_done        its last forward pass of the prompt ended (prefill_end
//	                    is the same)
//	finished            the response ended
//
// Durations that the source measured itself: d_client_wait, d_proxy, d_input,
// d_ingress, d_queue, d_prefill, d_kv_transfer, d_decode_queue, d_first_decode,
// d_egress, d_mm, d_stall, d_decode, in steps of d_resolution; and resolution, the
// step of the record's clock. Time that several stages share and nothing separates is d_merged, with
// the stages' names joined by + in merged_leaves (input+ingress); d_merged_2 and
// merged_leaves_2 hold another such time.
//
// Counts: attempt, choice, n_choices, cached_tokens (of these cached_device,
// cached_host, cached_storage, cached_remote), reasoning_tokens, client_tokens
// (of the content, by a client's tokenizer), first_chunk_tokens, max_tokens (what was asked for),
// preemptions, mm_items, mm_tokens, spec_drafted, spec_accepted, verify_steps.
// output_tokens_source says who counted output_tokens: server (if left out),
// client, chunks or requested.
//
// Names: parent_id, join_group, engine, model, replica, tenant, lora.
//
// Outcome:
//
//	error               text or object; not null, false or empty: the request
//	                    failed. Only its class is kept (error_class): the
//	                    identifier before a colon, or the object's type, class,
//	                    name or code
//	finish_reason       stop, length, …; abort, aborted, cancelled: aborted
//	abort_phase         where it was then: client, queue, prefill or decode
//	status              ok, failed, aborted, empty, open or head_missing, where
//	                    the above does not say it
//	stream              true or false
//	beam_search         true: decoded by beam search, so that it has no TPOT
//
// These keys are the columns of the requests table. Any other key is skipped with
// its value, however long, and never kept: prompts and outputs may stand in the
// log, they do not leave it. If a key occurs twice, the later one counts.
//
// # An event per line (tokenlog-events)
//
// Write a line when something happens. The events of all requests may be
// interleaved:
//
//	{"ts":1764428000.25,"request_id":"r1","event":"arrival","prompt_tokens":512}
//	{"ts":1764428000.252,"request_id":"r1","event":"queued"}
//	{"ts":1764428000.301,"request_id":"r1","event":"admitted"}
//	{"ts":1764428000.431902,"request_id":"r1","event":"token"}
//	{"ts":1764428000.443617,"request_id":"r1","event":"token","tokens":2}
//	{"ts":1764428000.4437,"request_id":"r1","event":"finish","output_tokens":3,"finish_reason":"stop"}
//
// ts, request_id and event are required; with these three first, in any one
// order, lines are read fastest. The events:
//
//	arrival            the request came in
//	dispatched, queued, admitted, prefill_start, prefill_done, first_event
//	                   as the keys above; of several, the earliest counts
//	token              a chunk with at least one token. tokens: how many, 1 if
//	                   left out (0: a first_event); kind: content (if left out),
//	                   reasoning, tool, refusal or audio
//	finish             the request ended
//	error              it failed; error: as above
//	abort              it was cancelled
//
// Every event may carry keys of the other shape, but no lists; of several, the
// last counts. finish, error and abort end a request: an event behind them is
// skipped, with a diagnostic, except that an arrival begins another attempt
// under the same id. Token events may be out of order; they are sorted by ts.
//
// Token events of a request with several choices (n > 1) state their choice, from
// 0 on: each choice is a sequence, and a row of its own, with the arrival, the
// stages and the end of its request. A finish, error or abort that states a choice
// ends that one, and its output_tokens are those of that one; the request ends
// when all n_choices have, if it states these, else when all that have begun have.
// One that states none ends the request; its output_tokens are those of all
// choices together, and the tokens of each are counted from its token events.
//
// A request without an arrival (on the sides engine, prefill and decode: without
// an arrival or queued) is head_missing: the log begins behind its beginning. One
// without an end is open. Both are kept and counted, and are in no latency.
//
// Any number of requests may be open at a time. Those that do not fit a quarter
// of --memory go to temporary files, which are gone when the log has been read;
// the report is the same. Without a place for such files (in a browser) the older
// half is then given up as open, with a diagnostic (request_expired). A request
// with more than 65 536 chunks, and more than there is memory for, has no gaps
// (gaps_dropped).
//
// # Units
//
// A stamp or duration in another unit than seconds has the unit in its key:
// arrival_ms, token_timestamps_us, ts_ns, d_queue_ms. Numbers are decimal, with
// an exponent if need be, and are rounded half to even beyond the nanosecond.
// They may stand in quotes.
//
// Unknown is null, or the key is left out. NaN and Infinity are read as null,
// with a diagnostic; so are stamps of 0 and -1, negative counts and durations of
// -1, which some tools write for "unknown". On the clocks run and request, 0 is
// a time like any other, and so is a scheduled_send of -1. A list with an
// unknown element is unknown as a whole: one missing stamp makes two gaps wrong.
//
// # Clocks
//
// All stamps of a record are on one clock, named by "clock":
//
//	wall               seconds since 1970 (if left out)
//	monotonic          a clock of one host that never goes back, such as
//	                   Python's perf_counter
//	run                seconds since the run began
//	request            seconds since each request began
//
// wall/HOST or monotonic/HOST names the host as well: stamps of different hosts
// are never subtracted from one another. Stamps that claim to be wall time but
// are below 10^9 seconds (2001) are read as monotonic, with a diagnostic, and no
// date is made of them.
//
// # Sides
//
// "side" says where the stamps were taken: server (if left out), client, proxy,
// engine, prefill or decode. arrival is the moment that side saw the request
// begin: sent on the client, received elsewhere. Log one request from two sides
// as two records, or in two files, under one request_id or one join_group:
// analyze --join links them.
//
// A record that does not state its side, clock, engine or model has those of the
// first record of the file (if that is within the first MiB).
//
// # How requests are counted
//
// Failed: it has an error. Aborted: it was cancelled. Empty: it ended without an
// error and is known to have no token, by an output_tokens of 0 or an empty list.
// Ok: any other that ended. A request without output_tokens has the sum of its
// chunk_tokens; without these one token per chunk is assumed and said so
// (output_tokens_source chunks). The requested length (max_tokens) is never
// taken for a count.
//
// Records of one request_id (or parent_id) with choices 0, 1, … are sequences of
// one request: it is counted once, its first token is the earliest of any choice,
// its tokens are the sum, its prompt is there once. Each has a TPOT and gaps of
// its own.
//
// Every line is counted: as a request or event, as blank, or as skipped with a
// diagnostic that names the first such line (bad_json, truncated_record,
// not_a_request, wrong_shape, line_too_long beyond 64 MiB, …). Two objects glued
// together on one line are two records.
package tokenlog
