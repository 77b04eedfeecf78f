// Package view makes the columns that charts are drawn from: of the requests of one run
// that a selection keeps, and of the engine's steps.
package view
