// Package analyzer answers questions about the logs of LLM servers. A Session calls the
// stages below and owns nothing else; each stage is a package that imports only those to
// its left:
//
//	dataset     what was read: inputs, runs, batches, links
//	load        inputs → Set
//	selection   Set, query → Selection
//	fold        Selection, kernels → states
//	assemble    states → report
//	view        Selection, viewport → columns for charts
//
// A query walks from left to right:
//
//	load.Open → Loader.Load → selection.Of → Runner.Run → assemble.CellsOf → assemble.Report
//
// Columns of requests stay in memory, packed or in a temporary file, so that a second
// query does not read again. Token lists (the gaps between chunks) are folded while they
// are read and kept only where they are small; else Loader.Reread reads the inputs again.
// Results do not depend on the number of workers, nor on where an input is cut for them:
// they are the same to the last byte.
//
// # Glossary
//
//   - input: a file, or a member of an archive, as the user gave it.
//   - job: a range of an input that one goroutine or remote reader reads.
//   - record: what an input says of one run: a result, or the log of one process.
//   - run: what a report tells of and compares: one record, or several under one label.
//   - slot: the number of a run in facts and states. It depends on which goroutine came
//     first, and nothing that is reported depends on it.
//   - batch: consecutive rows of one table, of one run and input.
//   - request: what a client asked for. A row is one attempt of it, of one choice, as one
//     side saw it.
//   - attempt: one try of a request. A retry is another one.
//   - choice: one of several answers to a request (n > 1).
//   - side: where a row was observed: client, proxy, server, engine, prefill, decode.
//   - clock: what stamps count from. Stamps of different clocks have no order.
//   - window: an equal part of the time of a run, by --window.
//   - group: the requests with equal values of the dimensions of --by.
//   - cell: the figures of a run, of a group, or of a window of one of these.
//   - kernel: what computes a part of a cell's figures.
//   - state: what a kernel knows after some rows. States merge, and travel as bytes.
//   - pass: one walk of kernels over all selected rows. What they learn (facts) may ask
//     for another pass.
//   - stage: one of the packages above.
package analyzer
