// Package dataset holds what was read of the inputs of an analysis: the inputs with
// their line accounts, the runs, the resident batches of requests, steps and
// collectives, and the links between rows. A Set is made once and read-only
// afterwards; every later stage takes it as a value.
package dataset
