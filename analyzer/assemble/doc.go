// Package assemble makes a report of the final states of kernels: its cells, limits and
// notes, what came of a join, the audit of what producers claim, and interim reports while
// a pass goes on.
package assemble
