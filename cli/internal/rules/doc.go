// Package rules has no code: its tests hold the whole source tree to the rules
// that make every part replaceable and every number the same everywhere.
//
//   - Imports point one way, from the faces to the core (imports_test.go).
//   - The core computes with + − × ÷ and Sqrt only and knows no clock, no
//     environment, no flags and no goroutine counts (source_test.go).
//   - Files and functions stay short (source_test.go).
package rules
