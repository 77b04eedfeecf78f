package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
)

// Texts that hold JSON objects: collectors of logs (CloudWatch, Loki, Fluentd, Cloud
// Logging) keep the line of an application as a string, and exports of databases have
// columns of JSON. The members are columns, named by the column and their path:
// message.request_id.
//
// lineHolders and sideHolders are the columns whose text is looked into, as splitName
// writes them: lines of a log, and attributes beside other columns. Columns for texts of
// users, which may be JSON too, are not among them.
const (
	lineHolders = " message msg log line raw text_payload log_line log_message log_record "
	sideHolders = " event record entry payload json json_payload metadata meta attributes attrs properties labels usage metrics metric" +
		" timing timings timestamps stats fields extra context dimensions resource "
)

// maxBefore is the number of bytes that may precede the object in a text: a stamp, a
// level, an id, as the runtime of AWS Lambda writes them.
const maxBefore = 200

// nesting is the state of a table whose texts hold objects.
type nesting struct {
	learning bool     // the columns are not known yet: look into the texts of all holders
	given    []string // columns of the caller, whose texts are looked into, too
	holders  []string // the columns to look into once the mapping is known
	inLine   bool     // some column lies within a log line
	wraps    []int    // by column: see wrap
	lead     int      // length of the path of the text at hand; 0: not in a text
	name     []byte   // path of a member of that text
	visit    func(path, raw []byte, kind formats.Kind)
	pair     []byte // path of the member that the last key names
	paired   int    // length of the path of the list of keys and values
	text     []byte // decoded texts of the record
	found    bool   // the record has an object in a text
	torn     bool   // the record has a broken object in a text
}

// wrap returns the length of the prefix of a column's name that names the text the column
// lies in.
func (n *nesting) wrap(i int) int {
	if i < len(n.wraps) {
		return n.wraps[i]
	}
	return 0
}

// lastName returns the last name of a path.
func lastName(path []byte) []byte { return path[bytes.LastIndexByte(path, '.')+1:] }

func isLine(name []byte) bool { return isNamed(name, lineHolders) }

func isNamed(name []byte, list string) bool {
	joined, _, _ := splitName(string(name))
	return strings.Contains(list, " "+joined+" ")
}

// objectIn returns the offset of the object that a text may end with, or -1. In a text
// with escapes its quotes are escaped.
func objectIn(text []byte, escaped bool) int {
	if k := bytes.IndexByte(text, '{'); k < 0 || len(bytes.TrimSpace(text[:k])) == 0 {
		return k
	}
	opening := `{"`
	if escaped {
		opening = `{\"`
	}
	return bytes.Index(text[:min(len(text), maxBefore)], []byte(opening))
}

// startLearning makes the table collect the names of columns.
func (t *table) startLearning(given []assignment) {
	t.learning = true
	for _, a := range given {
		t.given = append(t.given, a.column)
	}
}

// holds reports whether the text of a column is to be looked into.
func (t *table) holds(path []byte) bool {
	for _, h := range t.holders {
		if h == string(path) {
			return true
		}
	}
	if !t.learning || t.lead > 0 {
		return false
	}
	for _, name := range t.given {
		if len(name) > len(path) && name[len(path)] == '.' && name[:len(path)] == string(path) {
			return true
		}
	}
	name := lastName(path)
	return len(name) < 60 && (isLine(name) || isNamed(name, sideHolders))
}

// takeObjectIn takes the members of the object that a text holds, if it does.
func (t *table) takeObjectIn(path, text []byte, escaped bool) {
	k := objectIn(text, escaped)
	if k < 0 {
		return
	}
	if text = text[k:]; escaped {
		at := len(t.text)
		t.text = json.AppendText(t.text, text, len(text))
		text = t.text[at:]
	}
	next := t.next
	t.name = append(append(t.name[:0], path...), '.')
	t.lead = len(t.name)
	if t.visit == nil {
		t.visit = t.member
	}
	end, ok := json.Walk(text, 0, t.visit)
	t.lead = 0
	if ok && len(bytes.TrimSpace(text[end:])) == 0 {
		t.found = true
		return
	}
	t.torn, t.next = t.torn || k == 0, next
	for i, name := range t.names { // use nothing of a broken object
		if len(name) > len(path) && name[len(path)] == '.' && name[:len(path)] == string(path) {
			t.rec.cells[i] = cell{}
		}
	}
}

// member takes a value of an object within a text.
func (t *table) member(path, raw []byte, kind formats.Kind) {
	t.name = append(t.name[:t.lead], path...)
	t.put(t.name, raw, kind)
}

// cellsInside looks into the texts of the first n cells of a row.
func (t *table) cellsInside(n int) {
	if t.width == 0 || !t.learning && t.holders == nil {
		return
	}
	clear(t.rec.cells[min(t.width, len(t.rec.cells)):])
	for i := range min(n, t.width) {
		c := &t.rec.cells[i]
		if c.set && c.kind == formats.String && len(c.raw) > 1 && t.holds([]byte(t.names[i])) {
			t.takeObjectIn([]byte(t.names[i]), c.raw, false)
		}
	}
}
