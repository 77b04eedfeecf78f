// Package mapping reads tables of requests whose columns have names of their own.
//
// What a column means, its role, is inferred from its name, and the unit of times
// from the type, the name and the values: a timestamp of a columnar file states
// its unit, epoch times are told by their magnitude, dates by their form,
// durations from what they would mean in each unit. Where two units can be true
// the reader asks instead of guessing. Everything that was inferred is a note of
// the run, with its evidence, and Options.Map overrides it.
//
// Records are requests, with stamps or latencies and counts, and perhaps lists of
// the times of tokens or the gaps between these; or events of requests: an id, a
// name, a time.
package mapping
