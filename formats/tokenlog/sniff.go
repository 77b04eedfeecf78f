package tokenlog

import (
	"bytes"
	"fmt"
	"slices"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/mapping"
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
func sniff(h *formats.Head, score func(line []byte, keys []formats.Key) formats.Score, wanted string) (formats.Score, string) {
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
		if s := score(line, keys); s > formats.No {
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
func recordScore(line []byte, keys []formats.Key) formats.Score {
	var begin, list, times, tokens, inner int
	_, id := formats.Find(keys, "request_id")
	for i := range keys {
		f := known(&keys[i])
		if f == nil {
			continue
		}
		switch f.kind {
		case arrival:
			begin++
			times++
		case stamp, duration:
			if times++; f.kind == duration || !slices.Contains(outer[:], f.name) {
				inner++
			}
		case tokenTimes, gapList:
			list++
		case count, tokenCounts:
			tokens++
		case eventName:
			return formats.No
		}
	}
	begins, lasts, first := false, false, false
	if list == 0 {
		begins, lasts, first = mapping.Latencies(line, ours)
	}
	switch {
	case list > 0 && times > 0:
		return formats.Sure
	case begin == 0 && (begins || lasts), lasts && times == begin, first && inner == 0:
		return formats.No // what it measures has other names here
	case list > 0, begin > 0 && (tokens > 0 || times > 1):
		return formats.Likely
	case times > 0 && (id || times+tokens > 1):
		return formats.Maybe
	}
	return formats.No
}

// outer are the stamps that tell nothing of what is between a request's ends.
var outer = [...]string{"sent", "received", "scheduled_send", "finished", "last_token"}

// ours tells whether a name is that of a key.
func ours(name string) bool {
	return keys.lookup(append([]byte(name), make([]byte, 8)...), 0, len(name)) != nil
}

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
func eventScore(_ []byte, keys []formats.Key) formats.Score {
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
