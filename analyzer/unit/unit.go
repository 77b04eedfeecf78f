// Package unit names the base units of every number in the product, parses
// what users write ("500ms") into them exactly, and scales them when printed.
//
// Values are kept in base units everywhere (nanoseconds, tokens, 1/s); only a
// renderer for people scales. Machine outputs are never scaled.
package unit

// Unit is the name of a base unit as it appears in JSON and column metadata.
type Unit string

// The base units. A value without dimension has the unit None.
const (
	None        Unit = ""
	Nanosecond  Unit = "ns"
	Microsecond Unit = "us" // exported timestamps only
	Token       Unit = "tokens"
	Request     Unit = "requests"
	Byte        Unit = "bytes"
	Ratio       Unit = "ratio"      // 1 is the whole; printed as a percentage
	PerSecond   Unit = "requests/s" // request rates
	TokenRate   Unit = "tokens/s"   // token rates
	NSPerToken  Unit = "ns/token"   // TPOT and token latency
)

// Step is one way to print a unit: values of at least From in base units may
// be divided by Factor and followed by Symbol.
type Step struct {
	Symbol string  `json:"symbol"`
	Factor float64 `json:"factor"`
	From   float64 `json:"from"`
}

// Steps lists the steps of each unit, smallest first. Text, Markdown and the
// page share this table. A unit that is missing here is printed unscaled.
// Callers must not change it.
var Steps = map[Unit][]Step{
	Nanosecond: {
		{"ns", 1, 0}, {"µs", 1e3, 1e3}, {"ms", 1e6, 1e6}, {"s", 1e9, 1e9},
		{"min", 60e9, 600e9}, {"h", 3600e9, 7200e9},
	},
	NSPerToken: {
		{"ns/tok", 1, 0}, {"µs/tok", 1e3, 1e3}, {"ms/tok", 1e6, 1e6}, {"s/tok", 1e9, 1e9},
	},
	Byte: {
		{"B", 1, 0}, {"KiB", 1 << 10, 1 << 10}, {"MiB", 1 << 20, 1 << 20},
		{"GiB", 1 << 30, 1 << 30}, {"TiB", 1 << 40, 1 << 40},
	},
	Token:     {{"tok", 1, 0}, {"k tok", 1e3, 1e5}, {"M tok", 1e6, 1e7}, {"G tok", 1e9, 1e10}},
	Request:   {{"req", 1, 0}},
	TokenRate: {{"tok/s", 1, 0}, {"k tok/s", 1e3, 1e5}, {"M tok/s", 1e6, 1e7}},
	PerSecond: {{"req/s", 1, 0}, {"k req/s", 1e3, 1e5}},
	Ratio:     {{"%", 0.01, 0}},
}
