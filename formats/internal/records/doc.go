// Package records reads files that hold one object after the other: JSON lines, objects
// glued together on a line or printed over several, elements of an array, captures of
// event streams ("data: {…}"), rows of comma-separated values, and lines of text between
// them. A record that breaks off costs itself and no other.
//
// There are two readers. OpenLines is for records that stand alone, a line each: ranges
// of a file are read on several goroutines, and a Parser makes rows of one object at a
// time. Open is for records whose meaning may depend on those before: one goroutine reads
// them in order, and a Fold makes rows of what it has seen. Fields hold the values of
// one object, by the paths of a table.
package records
