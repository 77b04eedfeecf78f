package mapping

import (
	"bytes"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/json"
)

// Objects within text: what collects logs (CloudWatch, Loki, Fluentd, Cloud Logging)
// keeps the line of an application as a string, and exports of databases have
// columns of JSON text. Their members are columns of their own, named by the column
// and their path: message.request_id.

// The names of members and columns whose text is looked into, as words makes them: of
// lines of a log, and of what is told beside other columns. Those of what users say,
// which may be JSON too, are not among them.
const (
	lineHolders = " message msg log line raw text_payload log_line log_message log_record "
	sideHolders = " event record entry payload json json_payload metadata meta attributes attrs properties labels usage metrics metric" +
		" timing timings timestamps stats fields extra context dimensions resource "
)

// mostBefore is how many bytes may stand in front of the object in a text: a stamp, a
// level, an id, as the runtime of AWS Lambda writes them.
const mostBefore = 200

// nesting is what a table does with texts that hold objects.
type nesting struct {
	learning bool     // columns are being found out: any holder's members are
	given    []string // names of columns by the caller, who knows of more holders
	holders  []string // not learning: the columns some of whose members are wanted
	lined    bool     // some column is in a line of a log
	wraps    []int    // by column: the bytes of its name that lead to the text it is in, 0: none
	lead     int      // bytes of path that name the text at hand; 0: none
	name     []byte   // of a member of it
	visit    func(path, raw []byte, kind formats.Kind)
	pair     []byte // of a list of keys and values, where the key has been seen
	paired   int    // bytes of pair that name the list
	text     []byte // decoded; of the record
	found    bool   // the record has such an object
	torn     bool   // … or one that is not well formed
}

// wrap returns how many bytes of the name of a column lead to the text that it is in.
func (n *nesting) wrap(i int) int {
	if i < len(n.wraps) {
		return n.wraps[i]
	}
	return 0
}

// last returns the last name of a path.
func last(path []byte) []byte { return path[bytes.LastIndexByte(path, '.')+1:] }

func isLine(name []byte) bool { return isNamed(name, lineHolders) }

func isNamed(name []byte, list string) bool {
	joined, _, _ := words(string(name))
	return strings.Contains(list, " "+joined+" ")
}

// objectIn returns where the object begins that the text may end with, or -1. The
// quotes in a text that is escaped are.
func objectIn(text []byte, escaped bool) int {
	if k := bytes.IndexByte(text, '{'); k < 0 || len(bytes.TrimSpace(text[:k])) == 0 {
		return k
	}
	opening := `{"`
	if escaped {
		opening = `{\"`
	}
	return bytes.Index(text[:min(len(text), mostBefore)], []byte(opening))
}

// learn0 begins to find out columns.
func (t *table) learn0(given []assignment) {
	t.learning = true
	for _, a := range given {
		t.given = append(t.given, a.column)
	}
}

// holds tells whether the text of a column is to be looked into.
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
	name := last(path)
	return len(name) < 60 && (isLine(name) || isNamed(name, sideHolders))
}

// inside takes the members of the object that the text of a column holds, if it does.
func (t *table) inside(path, text []byte, escaped bool) {
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
	for i, name := range t.names { // of a record that is torn nothing is used
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

// cellsInside takes what the first n cells of a row hold as text.
func (t *table) cellsInside(n int) {
	if t.width == 0 || !t.learning && t.holders == nil {
		return
	}
	clear(t.rec.cells[min(t.width, len(t.rec.cells)):])
	for i := range min(n, t.width) {
		c := &t.rec.cells[i]
		if c.set && c.kind == formats.String && len(c.raw) > 1 && t.holds([]byte(t.names[i])) {
			t.inside([]byte(t.names[i]), c.raw, false)
		}
	}
}
