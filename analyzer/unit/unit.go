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
	None       Unit = ""
	Nanosecond Unit = "ns"
	Token      Unit = "tokens"
	Request    Unit = "requests"
	Byte       Unit = "bytes"
	Ratio      Unit = "ratio"      // 1 is the whole; printed as a percentage
	PerSecond  Unit = "requests/s" // request rates
	TokenRate  Unit = "tokens/s"   // token rates
	NSPerToken Unit = "ns/token"   // TPOT and token latency
)
