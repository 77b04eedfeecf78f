package mapping

import (
	"bytes"
	"strings"
)

// summaries are what spreadsheets and data frames call the rows below others that
// sum them up.
const summaries = " total totals grand_total sum subtotal average avg mean median min minimum max maximum count std stdev std_dev stddev" +
	" gesamt summe mittelwert durchschnitt somme moyenne 25% 50% 75% 90% 95% 99% p50 p90 p95 p99 "

// blank tells whether a row has delimiters and nothing else, as between the blocks of
// a spreadsheet.
func (t *table) blank() bool {
	for i := range t.rec.cells {
		if len(bytes.TrimSpace(t.rec.cells[i].raw)) > 0 {
			return false
		}
	}
	return true
}

// summary tells whether a row sums others up: what it begins with says so, and it has
// neither an arrival nor an end, where requests do. A column that is one of names or
// events may hold such words.
func (r *reader) summary() bool {
	for i := range r.rec.cells {
		raw := bytes.TrimRight(bytes.TrimSpace(r.rec.cells[i].raw), ": ")
		if len(raw) == 0 {
			continue
		}
		if len(raw) > 12 || raw[0] >= '0' && raw[0] <= '9' && raw[len(raw)-1] != '%' {
			return false
		}
		word := string(bytes.ReplaceAll(bytes.ToLower(raw), []byte(" "), []byte("_")))
		if !strings.Contains(summaries, " "+word+" ") {
			return false
		}
		break
	}
	for _, role := range [...]role{arrival, sent, firstToken, lastToken, finished, event} {
		if e := r.by[role]; e != nil && r.rec.cells[e.field].set && !isNull(r.rec.cells[e.field].raw) {
			return false
		}
	}
	return true
}
