// Package selection applies a query to a dataset.Set: which rows it keeps, and in which
// group. It knows the range that the query leaves of each clock of a run.
package selection
