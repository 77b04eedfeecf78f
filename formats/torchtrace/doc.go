// Package torchtrace reads the traces that the PyTorch profiler (Kineto) writes
// for workers of vLLM and SGLang, in Chrome's trace event format, and gives a
// row per engine step and rank: its interval on the device and the eight
// classes of time that tile the interval exactly. Communication kernels are
// rows of a table of their own.
//
// # The text
//
// A trace is one JSON document and may have gigabytes. It is never held: a
// schema-directed scanner (scan.go) goes over a window of it (window.go),
// knows the ten keys it wants and skips everything else string-aware. Events
// may have their keys in any order and layout. The walk over the document
// (document.go) repairs what real files get wrong: text that breaks off,
// trailing and missing commas, a bare array, raw control bytes, inf and nan,
// damaged events, each of which costs itself and is counted. Times are decimal
// microseconds and become ns by decimal arithmetic; the base time may stand
// anywhere, at the end of the file too, so times stay relative to it until the
// rows are made.
//
// # Memory
//
// The events of a step are known only at the end: launches and step ranges may
// stand behind the kernels, and CUPTI's buffers are not in order. Three ways were
// considered. Folding steps as they complete fails when launches come last. Two
// passes over the text double the work, and with compressed files the decompression
// too. The text is therefore read once, and a few numbers are kept of each event
// that counts, in sorted runs of differences in variable-length integers
// (store.go): 6 to 9 bytes per kernel or launch, about 1/100 of the text. Runs stay
// in memory up to half of Options.Memory, and go to a temporary file beyond that.
// Merging (merge.go) gives the events in the order of time without ever expanding
// the runs.
//
// Measured for a generated trace of 5.06 GB (5.4 million kernels, 3.6 million
// calls behind them, base time last): 95 MB are kept; the process takes 170 MiB
// at its peak without a temporary file and 75 MiB with one, at 600 to 800 MB of
// JSON per core-second (BenchmarkMemory, BenchmarkRead).
//
// # The analysis
//
// A first pass over the stored device events, in any order, finds each one's
// launching call by correlation id (launch.go) and through it the step: the
// last step range of the launching process that began at or before the call;
// never by time, because the device runs a step behind the host. The end of a
// step is the end of its last event, and an interval reaches from one end to
// the next (fold.go). A second pass, in the order of time, sweeps over each
// device and measures every interval (sweep.go). Where the device is idle, what
// the launching thread does decides (host.go).
//
// Steps, classes and memos are defined by package decompose; names and their
// meaning are tables (names.go).
package torchtrace
