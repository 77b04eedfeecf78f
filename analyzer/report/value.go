package report

import "servescope/analyzer/unit"

// NotFinite is the reason of a value that turned out as NaN or infinite: these
// never leave the product.
const NotFinite = "not_finite"

// Value is one number or null with the reason why. In JSON it is
// {"value":1.5,"unit":"tokens/s"} or {"value":null,"reason":"not_recorded"}.
type Value struct {
	Known  bool
	V      float64
	Int    int64 // the exact value where Whole
	Whole  bool  // V is Int rounded to a float64: stamps need more than its 53 bits
	Unit   unit.Unit
	Reason string // set when not Known
	Note   string // caveat, or empty
}

// Known returns a value that is known; NaN and infinities become null.
func Known(v float64, u unit.Unit) Value {
	if !finite(v) {
		return Null(NotFinite)
	}
	return Value{Known: true, V: v, Unit: u}
}

// KnownInt returns a whole value that is known exactly, such as a stamp.
func KnownInt(v int64, u unit.Unit) Value {
	return Value{Known: true, V: float64(v), Int: v, Whole: true, Unit: u}
}

// Null returns a value that is unknown, with the reason code.
func Null(reason string) Value { return Value{Reason: reason} }

// Float returns the value and whether it is known.
func (v Value) Float() (float64, bool) { return v.V, v.Known && finite(v.V) }

// finite reports whether v is neither NaN nor infinite. The conversions keep a
// product that is handed in from being fused with the subtraction.
func finite(v float64) bool { return float64(v)-float64(v) == 0 }

// knownValue is the JSON form of a number that is known.
type knownValue struct {
	Value any       `json:"value"`          // the number, in unit
	Unit  unit.Unit `json:"unit,omitempty"` // base unit; absent: none
	Note  string    `json:"note,omitempty"` // caveat
}

// nullValue is the JSON form of a number that is unknown.
type nullValue struct {
	Value  *float64 `json:"value"`          // always null
	Reason string   `json:"reason"`         // code of the reason
	Note   string   `json:"note,omitempty"` // caveat
}

// form implements former.
func (v Value) form() any {
	switch {
	case !v.Known:
		return nullValue{nil, v.Reason, v.Note}
	case v.Whole:
		return knownValue{v.Int, v.Unit, v.Note}
	case !finite(v.V):
		return nullValue{nil, NotFinite, v.Note}
	}
	return knownValue{v.V, v.Unit, v.Note}
}

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) { return Marshal(v) }
