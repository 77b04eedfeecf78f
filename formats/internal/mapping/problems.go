package mapping

import (
	"servescope/analyzer/diag"
	"servescope/formats/internal/assemble"
)

type problem = assemble.Problem

// The problems of records and cells.
var (
	notARecord = &problem{Code: "bad_record", Severity: diag.DataLoss,
		Msg: "a record is not well formed and was skipped"}
	cutOff = &problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "the file ends within a record"}
	tooLong = &problem{Code: "long_record", Severity: diag.DataLoss,
		Msg: "a record is longer than 8 MiB, or does not end: it was skipped"}
	otherText = &problem{Code: "other_line", Severity: diag.Notice,
		Msg: "a record holds no object where that of a request is in others, but another line or nothing: it was skipped"}
	otherLine = &problem{Code: "other_line", Severity: diag.Notice,
		Msg: "a line of a log measures nothing of a request, or names none where others do: it was skipped"}
	lastValue = &problem{Code: "truncated", Severity: diag.Notice,
		Msg: "the file ends without a line end: the last value of the last line may be cut off and is left out", Fix: "end the last line with a line end"}
	several = &problem{Code: "several_values", Severity: diag.DataLoss,
		Msg: "a record has several values of a column: the last counts", Fix: "write what has a value of its own as a record of its own"}
	ragged = &problem{Code: "ragged_row", Severity: diag.DataLoss,
		Msg: "a row has another number of cells than the first and was skipped", Fix: "quote cells that hold the delimiter"}
	lastCell = &problem{Code: "truncated", Severity: diag.Notice,
		Msg: "the file ends without a line end: the last cell of the last row may be cut off and is left out", Fix: "end the last row with a line end"}
	summed = &problem{Code: "summary_row", Severity: diag.Notice,
		Msg: "a row is named as the total, the mean or the like of others and has no time of its own: it is no request and was skipped"}
	nothing = &problem{Code: "not_a_request", Severity: diag.DataLoss,
		Msg: "a record has no value in any column that measures something: it was skipped"}
	noEnd = &problem{Code: "no_end", Severity: diag.Notice,
		Msg: "a request has no latency, end, status or tokens: it counts as open"}
	unreadable = &problem{Code: "nothing_mapped", Severity: diag.DataLoss,
		Msg: "records were not read, because the meaning of their columns is unknown"}
	emptyCell = &problem{Code: "empty_cell", Severity: diag.Info,
		Msg: "times or counts are missing in some records: they are unknown"}
	zeroTime = &problem{Code: "zero_time", Severity: diag.Notice,
		Msg: "a time of 0 or less was not measured: it is unknown", Fix: "leave out unknown values, or write null"}
	implausible = &problem{Code: "implausible_time", Severity: diag.Notice,
		Msg: "a latency is longer than a day: it is unknown", Fix: "check the unit of the column, and give it with --map"}
	otherUnit = &problem{Code: "mixed_units", Severity: diag.DataLoss,
		Msg: "a stamp is not in the unit of its column: it is unknown", Fix: "write a column in one unit"}
	oddPace = &problem{Code: "implausible_pace", Severity: diag.Notice,
		Msg: "a latency is under 100 µs or over 10 s a token: the unit of its column may be wrong", Fix: "write a column in one unit, and give that with --map"}
	contradiction = &problem{Code: "contradiction", Severity: diag.Notice,
		Msg: "the first token comes after the end, or the time to first token is above the latency: both are unknown", Fix: "check the columns and units, and give them with --map"}
	beforeStart = &problem{Code: "stamp_order", Severity: diag.Notice,
		Msg: "a token or the end comes before the arrival: it is unknown", Fix: "check the columns and units, and give them with --map"}
	disagree = &problem{Code: "latency_mismatch", Severity: diag.Notice,
		Msg: "a latency differs from that between the stamps by more than 1 % and 2 ms: the stamps count", Fix: "check the columns and units, and give them with --map"}
	zoneAssumed = &problem{Code: "zone_assumed", Severity: diag.Info,
		Msg: "stamps do not state their zone: UTC is assumed", Fix: "give the zone of the server with --tz"}
	noSuchTime = &problem{Code: "no_such_time", Severity: diag.Notice,
		Msg: "a stamp is in the hour that a change to summer time leaves out: its time is unknown", Fix: "give the zone of the server with --tz"}
	ambiguousTime = &problem{Code: "ambiguous_time", Severity: diag.Notice,
		Msg: "a stamp is in the hour that comes twice when summer time ends, and no record before it tells which: the first is assumed", Fix: "give a log that begins earlier"}
	unknownStatus = &problem{Code: "unknown_status", Severity: diag.Notice,
		Msg: "a status has no known meaning: that of the request follows from its tokens"}
	unknownEvent = &problem{Code: "unknown_event", Severity: diag.Notice,
		Msg: "an event has a name of no known meaning and was skipped"}
	noIdentity = &problem{Code: "no_request_id", Severity: diag.DataLoss,
		Msg: "an event names no request and was skipped"}
	crowded = &problem{Code: "request_expired", Severity: diag.DataLoss,
		Msg: "there is no memory for all open requests: the rest of them stay open", Fix: "give more with --memory"}
)
