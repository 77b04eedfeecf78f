package mapping

import "strings"

// kind is the kind of an event in the life of a request.
type kind uint8

const (
	noKind kind = iota
	begins
	queued
	admitted
	firstChunk
	chunkOut
	lastChunk
	ends
	fails
	aborts
)

var eventNames = [...]string{
	begins: " arrival arrived received receive start started begin request request_start request_started request_received request_begin" +
		" request_arrived new_request created sent submitted request_sent ",
	queued:     " queued enqueued request_queued ",
	admitted:   " scheduled admitted request_scheduled ",
	firstChunk: " first_token first_chunk first_token_generated first_token_sent ",
	chunkOut:   " token chunk delta token_generated stream_chunk ",
	lastChunk:  " last_token last_chunk ",
	ends: " finish finished end ended done complete completed stop request_end request_ended request_finished request_finish request_completed" +
		" request_complete request_done response_sent response_complete stream_end ",
	fails:  " error failed failure exception request_failed request_error ",
	aborts: " abort aborted cancel cancelled canceled disconnect disconnected client_disconnected request_aborted request_cancelled ",
}

// kindOf returns the kind that the name of an event says, or noKind.
func kindOf(name string) kind {
	joined, _, _ := splitName(name[:min(len(name), 100)])
	if joined == "" {
		return noKind
	}
	for k := begins; k <= aborts; k++ {
		if strings.Contains(eventNames[k], " "+joined+" ") {
			return k
		}
	}
	return noKind
}
