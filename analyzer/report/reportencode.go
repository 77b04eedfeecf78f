package report

import "reflect"

// MarshalJSON implements json.Marshaler: strict JSON with the keys in the order
// of the fields (maps: sorted), no null array or object, and null for a float
// that is NaN or infinite. encoding/json would write null for a nil slice and
// refuse the whole report for one NaN.
func (r Report) MarshalJSON() ([]byte, error) {
	type plain Report
	return Marshal(plain(r))
}

// Stream hands the JSON form of r to write in parts, one after the other, because the
// form of thousands of runs is long. No part ends inside of a text or a number, or after
// an opening bracket. The first error of write ends it.
func (r *Report) Stream(write func(part []byte) error) error {
	type plain Report
	e := encoder{write: write}
	e.value(reflect.ValueOf((*plain)(r)))
	e.drain(0)
	return e.err
}
