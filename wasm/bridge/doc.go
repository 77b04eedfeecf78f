// Package bridge is the core behind messages: what the page asks and what it is
// told. The core in a browser's worker, the native engine of the command and the
// tests answer with one Engine, and so with the same bytes.
//
// # Requests
//
// A request is a text in the form encoding of URLs, UTF-8:
//
//	op=run&session=1&filter=prompt_tokens+%3E+1000&slo=ttft%3D500ms
//
// The key op names what is asked; the rest are its arguments, those of a query in
// the spelling of the command's flags:
//
//	describe                      formats, metrics, definition sets and columns
//	open     session, format,     opens the files that come with the request
//	         label…, join, align, under a number that the caller chooses
//	         year…, tz…
//	run      session, QUERY       a report
//	view     session, QUERY,      columns for a chart, see analyzer.View
//	         run, kind, …
//	export   session, QUERY, what a file
//	close    session
//	parse    order                the rows of a range of the file that comes with the
//	                              request, for another engine: see Remotely
//	states   fold, drop           what has been folded of these ranges
//
// QUERY is filter, from, to, window, by, trim, slo, aborts, definition,
// percentiles and replicas.
//
// # Answers
//
// An answer is a head, which is a JSON object, and a body of bytes. The key type
// of the head is one of
//
//	progress  done, total (bytes of the pass, -1: unknown); any number of these. With
//	          a body, a report of rows of the rows, of which there are of (-1: unknown)
//	part      a part of a stream or a file, which the result ends
//	result    the last of a call that succeeds
//	error     the last of one that fails: code, message, hint, and flag or formats
//
// The body of a run is the report as JSON, that of an export the file, that of a
// view its columns: little-endian float64 or int32 each, at the offsets of the
// head, which are multiples of 8.
package bridge
