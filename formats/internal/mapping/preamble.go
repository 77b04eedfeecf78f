package mapping

import "bytes"

// preamble is the text in front of the pairs of a line.
type preamble struct {
	stamp []byte
	level []byte
	words int  // number of words behind the stamp
	isRow bool // a word looks like cells of a table
	from  int  // offset of the message, behind stamp and level
	to    int  // end of the message
	first []byte
	id    []byte // the request that the message names
}

// beginsRecord reports whether the first pair is one that a logger writes first. A
// collector of logs has then written the text in front of it.
func (p *preamble) beginsRecord() bool {
	switch string(p.first) {
	case "time", "ts", "t", "timestamp", "level", "lvl", "severity", "msg":
		return true
	}
	return false
}

// word takes the word at the cursor. It may hold the level: INFO, [INFO], INFO:root:text.
func (p *preamble) word(l *pairScan) {
	word := l.b[l.from:l.i]
	p.words++
	p.to = l.i
	p.isRow = p.isRow || p.stamp == nil && bytes.Contains(word, []byte(`,"`))
	own, _, _ := bytes.Cut(bytes.Trim(word, "[]():"), []byte(":"))
	if p.level != nil || !isLevel(own) || p.words > 1 && (p.stamp == nil || own[0] > 'Z') {
		return
	}
	p.level = own
	p.from = l.i
	if k := bytes.LastIndexByte(word, ':'); k >= 0 && k < len(word)-1 {
		p.from = l.from + k + 1
	}
}

// message returns the message of the line, without the names of loggers and files in
// front of it.
func (p *preamble) message(line []byte) []byte {
	text := bytes.Trim(line[p.from:max(p.from, p.to)], " \t:-|,([")
	for _, separator := range [...]string{": ", " - ", "\t", " | ", "] "} {
		if k := bytes.LastIndex(text, []byte(separator)); k >= 0 {
			text = text[k+len(separator):]
		}
	}
	return bytes.TrimSpace(text)
}

// isLevel reports whether a word is the level of a log line.
func isLevel(word []byte) bool {
	if len(word) < 3 || len(word) > 8 {
		return false
	}
	var low [8]byte
	for i, c := range word {
		low[i] = c | 0x20
	}
	switch string(low[:len(word)]) {
	case "trace", "debug", "info", "notice", "warn", "warning", "error", "err", "critical", "crit", "fatal", "panic", "dpanic", "inf", "dbg", "wrn":
		return true
	}
	return false
}

// subject finds the id of a request in a message, and the event: "request 7f3a finished",
// "finished request 7f3a". An id has at least one digit.
func subject(message []byte) (id, event []byte) {
	for rest := message; len(rest) > 0; {
		before := bytes.TrimSpace(message[:len(message)-len(rest)])
		var word []byte
		word, rest, _ = bytes.Cut(rest, []byte(" "))
		if !bytes.EqualFold(word, []byte("request")) && !bytes.EqualFold(word, []byte("req")) {
			continue
		}
		id, event, _ = bytes.Cut(bytes.TrimLeft(rest, " "), []byte(" "))
		if id = bytes.Trim(id, `:,.[]()"'`); !bytes.ContainsAny(id, "0123456789") {
			break
		}
		if event = bytes.TrimSpace(event); len(event) == 0 {
			event = before
		}
		return id, event
	}
	return nil, message
}
