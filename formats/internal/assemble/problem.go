package assemble

import "servescope/analyzer/diag"

// Problem is a kind of diagnostic: what was wrong with a record, what was done
// about it, and what its writer can do. None quotes payload.
type Problem struct {
	Code     string
	Severity diag.Severity
	Msg, Fix string
}

// The problems that the rules of Writer find.
var (
	UnknownStamp = &Problem{"unknown_stamp", diag.Notice,
		"a stamp of 0 or -1 counts as unknown", "leave out unknown values, or write null"}
	notEpoch = &Problem{"not_epoch", diag.Notice,
		"stamps too small to be seconds since 1970 are read as a monotonic clock, without dates", `say so with "clock":"monotonic"`}
	mixedClocks = &Problem{"mixed_clocks", diag.DataLoss,
		"a record mixes stamps of two clocks: those that the token stamps do not share are null", "write the stamps of a record on one clock"}
	tokenOrder = &Problem{"token_order", diag.Notice,
		"chunk gaps are negative: they are kept", "use a clock that is never set back"}
	stampOrder = &Problem{"stamp_order", diag.Notice,
		"the first token comes before the request: both stamps are kept", "write the stamps of a record on one clock"}
	tokensFromChunks = &Problem{"tokens_from_chunks", diag.Info,
		"output tokens are not recorded: one token per chunk is assumed, and labelled so", "write output_tokens"}
	fewerTokens = &Problem{"fewer_tokens_than_chunks", diag.Notice,
		"a record has more token chunks than output tokens", "leave out chunks without a token, such as the first with a role only"}
	countMismatch = &Problem{"chunk_tokens_mismatch", diag.Notice,
		"chunk_tokens has another length than the chunks have: it counts as unknown", "write one number for every token chunk, the first included"}
	unknownInList = &Problem{"unknown_in_list", diag.Notice,
		"a list has an element that is unknown: the gaps or counts of its record are null", "leave the list out, or write every element"}
	ttftInGaps = &Problem{"ttft_in_gaps", diag.Notice,
		"chunk_gaps begins with the time to first token: that element was taken off", "write the gaps between chunks only"}
	stampConflict = &Problem{"stamp_conflict", diag.Notice,
		"first_token or last_token is not that of the token stamps, which count", "write only one of the two"}
	repaired = &Problem{"text_repaired", diag.Notice,
		"texts were too long, or no valid UTF-8: they were cut, or bytes replaced", ""}
	afterEnd = &Problem{"event_after_end", diag.DataLoss,
		"an event comes after the end of its request and was skipped", "write finish, error or abort last, or use a new request_id"}
	repeatedEvent = &Problem{"repeated_event", diag.Info,
		"a stage of a request occurs twice: the earlier one counts", ""}
	arrivedAgain = &Problem{"arrival_while_open", diag.Notice,
		"a request arrives again without having ended: it is counted twice, once as open", "write finish, error or abort, or use a new request_id"}
	duplicate = &Problem{"duplicate_request", diag.Notice,
		"a request has the id and the start of an earlier one: it is counted again", "leave out the duplicates"}
	lateToken = &Problem{"late_token", diag.Notice,
		"tokens are not in the order of time: they were sorted", ""}
	outOfMemory = &Problem{"gaps_dropped", diag.DataLoss,
		"there was no memory for the gaps of all open requests: some have none", "give more with --memory"}
	expired = &Problem{"request_expired", diag.Notice,
		"too many requests are open at a time: the oldest are given up as open, and events that follow are not joined with them", "make the server log the end of every request"}
	crowded = &Problem{"request_expired", diag.DataLoss,
		"there is no memory for all open requests: the oldest are given up as open, and events that follow are not joined with them", "give more with --memory, or a directory for temporary files"}
	badClock = &Problem{"bad_clock", diag.Notice,
		"a clock is not wall, monotonic, run or request, or one of these/host: the file's clock is assumed", "write a known clock"}
)

// Notes collects problems of one source.
type Notes struct {
	File string
	Log  *diag.Log
}

// Note records one occurrence of a problem in the record at offset.
func (n Notes) Note(p *Problem, offset int64) {
	n.Log.Add(diag.Diag{Code: p.Code, Severity: p.Severity, File: n.File, Offset: offset, Msg: p.Msg, Fix: p.Fix})
}
