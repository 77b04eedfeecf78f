// Package rules has no code: its tests hold the whole source tree to the rules
// that make every part replaceable and every number the same everywhere.
//
//   - Imports point one way, from the faces to the core (imports_test.go).
//   - A package of the analyzer is no knot of files, and the methods of a type
//     stand together (filegraph_test.go).
//   - The core computes with + − × ÷ and Sqrt only and knows no clock, no
//     environment, no flags and no goroutine counts (source_test.go).
package rules
