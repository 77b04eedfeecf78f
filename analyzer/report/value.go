package report

import (
	"encoding/json"

	"servescope/analyzer/unit"
)

// Value is one number or null with the reason why. In JSON it is
// {"value":1.5,"unit":"tokens/s"} or {"value":null,"reason":"not_recorded"}.
type Value struct {
	Known  bool
	V      float64
	Unit   unit.Unit
	Reason string // set when not Known
	Note   string // caveat, or empty
}

// Known returns a value that is known.
func Known(v float64, u unit.Unit) Value { return Value{Known: true, V: v, Unit: u} }

// Null returns a value that is unknown, with the reason code.
func Null(reason string) Value { return Value{Reason: reason} }

// MarshalJSON implements json.Marshaler.
func (v Value) MarshalJSON() ([]byte, error) {
	if !v.Known {
		return json.Marshal(struct {
			Value  *float64 `json:"value"`
			Reason string   `json:"reason"`
		}{nil, v.Reason})
	}
	return json.Marshal(struct {
		Value float64   `json:"value"`
		Unit  unit.Unit `json:"unit,omitempty"`
		Note  string    `json:"note,omitempty"`
	}{v.V, v.Unit, v.Note})
}

// MarshalJSON implements json.Marshaler: a metric without values is
// {"value":null,"reason":…} with its definition and exclusions beside it.
func (m Metric) MarshalJSON() ([]byte, error) {
	type plain Metric
	if m.N > 0 {
		return json.Marshal(plain(m))
	}
	return json.Marshal(struct {
		Value      *float64         `json:"value"`
		Reason     string           `json:"reason"`
		Definition string           `json:"definition"`
		Unit       unit.Unit        `json:"unit"`
		N          int64            `json:"n"`
		Excluded   map[string]int64 `json:"excluded"`
	}{nil, m.Reason, m.Definition, m.Unit, 0, m.Excluded})
}
