// Package load reads inputs into a dataset.Set: it finds the format of each input, cuts
// inputs into jobs, reads these on several goroutines or by remote readers, and keeps the
// rows. A Sink may take the requests on the way. Reread is the one way to read again.
package load
