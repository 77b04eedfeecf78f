// Package fold runs kernels over the requests and steps that a selection keeps: in as many
// passes as the kernels ask for, over resident rows or over inputs that are read again, on
// several goroutines, with states that are merged in the end.
package fold
