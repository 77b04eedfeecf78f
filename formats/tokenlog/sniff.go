package tokenlog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/assemble"
)

// sniffLines is how many lines of a head are looked at.
const sniffLines = 64

// foreign are keys of other tools' JSON lines that also have some of ours.
var foreign = []string{"resourceSpans", "resourceMetrics", "scopeSpans", "traceEvents", "ttfts", "itls", "start_times",
	"request_throughput", "request_parameters", "benchmarks"}

func sniffRecords(h *formats.Head) (formats.Score, string) {
	return sniff(h, recordScore, "arrival or another stamp of a request, and token_timestamps")
}

func sniffEvents(h *formats.Head) (formats.Score, string) {
	return sniff(h, eventScore, "ts, request_id and event (arrival, token, finish, …)")
}

// sniff scores the lines of a head. A format that the best line is sure of is
// only likely when most lines are something else.
func sniff(h *formats.Head, score func([]formats.Key) formats.Score, wanted string) (formats.Score, string) {
	best, hits, objects := formats.No, 0, 0
	for _, line := range headLines(h) {
		keys := formats.Keys(line)
		if len(keys) == 0 {
			continue
		}
		objects++
		if slices.ContainsFunc(keys, func(k formats.Key) bool { return slices.Contains(foreign, k.Name) }) {
			continue
		}
		if s := score(keys); s > formats.No {
			hits++
			best = max(best, s)
		}
	}
	switch {
	case objects == 0:
		return formats.No, "no line is a JSON object"
	case hits == 0:
		return formats.No, "no line has " + wanted
	case best == formats.Maybe && 2*hits < objects:
		return formats.No, fmt.Sprintf("only %d of %d JSON lines have some keys of a request, none %s", hits, objects, wanted)
	case best == formats.Maybe:
		return best, "some keys of a request, not " + wanted
	case 2*hits < objects && best > formats.Likely:
		best = formats.Likely
	}
	return best, fmt.Sprintf("%d of %d JSON lines have %s", hits, objects, wanted)
}

// headLines returns the first lines of a head, and if they are not JSON, or the
// first is longer than the head, lines of its samples. The last one may be cut.
func headLines(h *formats.Head) [][]byte {
	lines := objectLines(h.Start)
	for _, sample := range h.Samples {
		if len(lines) > 1 || len(lines) == 1 && bytes.IndexByte(h.Start, '\n') >= 0 {
			break
		}
		_, rest, _ := bytes.Cut(sample, []byte{'\n'})
		lines = append(lines, objectLines(rest)...)
	}
	return lines
}

func objectLines(b []byte) (lines [][]byte) {
	for line := range bytes.Lines(b) {
		if line = bytes.TrimSpace(line); len(line) > 0 && line[0] == '{' {
			if lines = append(lines, line); len(lines) == sniffLines {
				break
			}
		}
	}
	return lines
}

// recordScore scores the keys of one line as those of a request.
func recordScore(keys []formats.Key) formats.Score {
	var begin, list, times, tokens, others int
	_, id := formats.Find(keys, "request_id")
	for i := range keys {
		f := known(&keys[i])
		if f == nil {
			if isTime(keys[i].Name) {
				others++
			}
			continue
		}
		switch f.kind {
		case arrival:
			begin++
			times++
		case stamp, duration:
			times++
		case tokenTimes, gapList:
			list++
		case count, tokenCounts:
			tokens++
		case eventName:
			return formats.No
		}
	}
	switch {
	case list > 0 && times > 0:
		return formats.Sure
	case list == 0 && others > 0 && (begin == 0 || times == begin):
		return formats.No // what it measures has other names here
	case list > 0, begin > 0 && (tokens > 0 || times > 1):
		return formats.Likely
	case times > 0 && (id || times+tokens > 1):
		return formats.Maybe
	}
	return formats.No
}

// isTime tells whether a name is that of when a request begins, or of how long
// what takes, in other logs.
func isTime(name string) bool {
	name = strings.ToLower(name)
	return slices.ContainsFunc(timeWords[:], func(part string) bool { return strings.Contains(name, part) })
}

var timeWords = [...]string{"ttft", "latency", "e2e", "duration", "elapsed", "first_token", "first_chunk", "received", "arriv", "start", "created", "sent_"}

// known returns the field that a key names, if its value can be one.
func known(k *formats.Key) *field {
	name := append([]byte(k.Name), make([]byte, 8)...)
	f := keys.lookup(name, 0, len(k.Name))
	if f == nil {
		return nil
	}
	ok := k.Kind == formats.Number || k.Kind == formats.String || k.Kind == formats.Null
	switch f.kind {
	case tokenTimes, gapList, tokenCounts:
		ok = k.Kind == formats.Array && k.Elem != formats.Object && k.Elem != formats.Array
	}
	if !ok {
		return nil
	}
	return f
}

// eventScore scores the keys of one line as those of an event. Errors and aborts
// alone make no token log: every application's log has events with these names.
func eventScore(keys []formats.Key) formats.Score {
	var at, name, id, ours bool
	for i := range keys {
		f := known(&keys[i])
		if f == nil {
			continue
		}
		switch {
		case f.kind == eventTime:
			at = keys[i].Kind == formats.Number
		case f.kind == eventName:
			event := strings.Trim(string(keys[i].Value), `"`)
			name = slices.Contains(eventNames[:], event)
			ours = event != eventNames[assemble.Failure] && event != eventNames[assemble.Abort]
		case f.name == "request_id":
			id = true
		}
	}
	switch {
	case at && name && id && ours:
		return formats.Sure
	case name && id, name && at:
		return formats.Maybe
	}
	return formats.No
}
