package tokenlog

import (
	"bytes"

	"servescope/analyzer/diag"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
)

// The problems of lines. Those of the requests that they make are in assemble.
var (
	blank   = &assemble.Problem{} // not a problem: a line of white space
	empty   = &assemble.Problem{Code: "empty_file", Severity: diag.Notice, Msg: "the file holds only blank lines"}
	badJSON = &assemble.Problem{Code: "bad_json", Severity: diag.DataLoss,
		Msg: "the line is not a JSON object", Fix: "write one JSON object per line"}
	truncated = &assemble.Problem{Code: "truncated_record", Severity: diag.DataLoss,
		Msg: "the file ends in the middle of a record", Fix: "close the file before it is analyzed"}
	notARequest = &assemble.Problem{Code: "not_a_request", Severity: diag.DataLoss,
		Msg: "the JSON object has no time, count or status of a request"}
	wantsEvents = &assemble.Problem{Code: "wrong_shape", Severity: diag.DataLoss,
		Msg: "the line is an event, not a request", Fix: "--input-format tokenlog-events"}
	wantsRecords = &assemble.Problem{Code: "wrong_shape", Severity: diag.DataLoss,
		Msg: "the line is a whole request, not an event", Fix: "--input-format tokenlog"}
	notAnEvent = &assemble.Problem{Code: "not_an_event", Severity: diag.DataLoss,
		Msg: "the JSON object has no event"}
	unknownEvent = &assemble.Problem{Code: "unknown_event", Severity: diag.Notice,
		Msg: "an event has an unknown name and was skipped", Fix: "events are arrival, dispatched, queued, admitted, prefill_start, prefill_done, first_event, token, finish, error, abort"}
	noRequestID = &assemble.Problem{Code: "no_request_id", Severity: diag.DataLoss,
		Msg: "an event does not say which request it belongs to", Fix: "write request_id"}
	noTime = &assemble.Problem{Code: "no_time", Severity: diag.Notice,
		Msg: "an event has no usable ts: it counts, its time is unknown", Fix: "write ts in decimal seconds"}
	badValue = &assemble.Problem{Code: "bad_value", Severity: diag.Notice,
		Msg: "a field has a value of the wrong type and counts as unknown", Fix: "numbers are decimal; see the format's documentation"}
	outOfRange = &assemble.Problem{Code: "out_of_range", Severity: diag.Notice,
		Msg: "a number is too large, or a count is not an integer: it counts as unknown", Fix: "stamps are in seconds; in other units their keys end in _ms, _us or _ns"}
	wrongUnits = &assemble.Problem{Code: "wrong_unit", Severity: diag.Notice,
		Msg: "a stamp whose key is in seconds is a time since 1970 in another unit: it counts as unknown"}
	notANumber = &assemble.Problem{Code: "not_a_number", Severity: diag.Notice,
		Msg: "NaN or Infinity counts as unknown", Fix: "leave out unknown values, or write null"}
	negativeCount = &assemble.Problem{Code: "negative_count", Severity: diag.Notice,
		Msg: "a negative count counts as unknown", Fix: "leave out unknown values, or write null"}
	unknownStatus = &assemble.Problem{Code: "unknown_status", Severity: diag.Notice,
		Msg: "a status is none of ok, failed, aborted, empty, open, head_missing: it is taken from the other fields", Fix: "write error, finish_reason or one of these"}
)

// outOfRange notes that the text of a number is out of the range of its field.
func (p *parser) outOfRange(f *field, text []byte) {
	problem := outOfRange
	if suffix := wrongUnit(f, text); suffix != "" {
		own := *wrongUnits
		own.Fix = "name the key " + f.name + suffix
		problem = &own
	}
	p.Note(problem, p.row.Offset)
}

// wrongUnit returns the end that the key of a stamp in seconds should have had:
// the unit in which its number is a time since 1970 that a clock of today shows
// (2001 to 2262); or "".
func wrongUnit(f *field, text []byte) string {
	if f.scale != numx.Second || f.kind != stamp && f.kind != arrival && f.kind != tokenTimes && f.kind != eventTime {
		return ""
	}
	text = bytes.Trim(text, `"`)
	for _, u := range unitSuffixes {
		if v, n, ok := numx.Scaled(text, int(u.scale)); ok && n == len(text) && assemble.EpochLikeStamp(v) {
			return u.suffix
		}
	}
	return ""
}
