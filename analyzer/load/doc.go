// Package load reads inputs into a dataset.Set: it finds the format of each input, cuts
// inputs into jobs, reads the jobs on several goroutines or by remote readers, and keeps
// the rows. A Sink may take the requests while they are read. Reread is the one way to
// read inputs again.
package load
