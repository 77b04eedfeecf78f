package report

// Compiled is schema.json, for tests that import the analyzer.
var Compiled = compiled
