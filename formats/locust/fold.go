package locust

import (
	"bytes"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// column is a figure, by its names in the statistics, their history, and up to v0.14.
type column struct {
	names   [3]string
	stat    string
	unit    unit.Unit
	rounded bool
}

var columns = []column{
	{[3]string{"Request Count", "Total Request Count", "# requests"}, "value", unit.Request, false},
	{[3]string{"Failure Count", "Total Failure Count", "# failures"}, "value", unit.Request, false},
	{[3]string{"Average Response Time", "Total Average Response Time", "Average response time"}, "mean", unit.Nanosecond, false},
	{[3]string{"Min Response Time", "Total Min Response Time", "Min response time"}, "min", unit.Nanosecond, false},
	{[3]string{"Max Response Time", "Total Max Response Time", "Max response time"}, "max", unit.Nanosecond, false},
	{[3]string{"Median Response Time", "Total Median Response Time", "Median response time"}, "0.5", unit.Nanosecond, true},
	{[3]string{"Average Content Size", "Total Average Content Size"}, "mean", unit.Byte, false},
	{[3]string{"Requests/s"}, "value", unit.PerSecond, false},
	{[3]string{"Failures/s"}, "value", unit.PerSecond, false},
	{[3]string{"50%"}, "0.5", unit.Nanosecond, true},
	{[3]string{"66%"}, "0.66", unit.Nanosecond, true},
	{[3]string{"75%"}, "0.75", unit.Nanosecond, true},
	{[3]string{"80%"}, "0.8", unit.Nanosecond, true},
	{[3]string{"90%"}, "0.9", unit.Nanosecond, true},
	{[3]string{"95%"}, "0.95", unit.Nanosecond, true},
	{[3]string{"98%"}, "0.98", unit.Nanosecond, true},
	{[3]string{"99%"}, "0.99", unit.Nanosecond, true},
	{[3]string{"99.9%"}, "0.999", unit.Nanosecond, true},
	{[3]string{"99.99%"}, "0.9999", unit.Nanosecond, true},
	{[3]string{"Occurrences"}, "value", unit.Request, false},
}

// requests is the slot of how many requests there were.
const requests = figures

// maxFigures bounds those of a file.
const maxFigures = 4000

// row is the figures of one name.
type row struct {
	offset int64
	list   []trace.Reported
}

// fold takes figures.
type fold struct {
	*records.Writer
	rows       []row
	last       map[string]int // row of each name, of a history
	count      int
	from, to   int64
	most       string // users
	history    bool
	statistics bool
}

// Line implements records.Fold: there are no lines in a table.
func (f *fold) Line(_ []byte, at int64) { f.Skip(notARow, at) }

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, text []byte, at int64) {
	if text != nil || !v.Has(name) {
		f.Skip(notARow, at)
		return
	}
	if v.Has(stamp) && !f.time(v) {
		f.Skip(badTime, at)
		return
	}
	list := f.figures(v)
	if len(list) == 0 {
		f.Skip(noFigures, at)
		return
	}
	f.statistics = f.statistics || v.Has(requests)
	key := string(v.Text(kind)) + "\x00" + string(v.Text(name))
	i, again := f.last[key]
	switch {
	case f.history && again:
		f.count += len(list) - len(f.rows[i].list)
		f.rows[i] = row{at, list}
	case f.count+len(list) > maxFigures:
		f.Skip(tooMany, at)
		return
	default:
		f.last[key] = len(f.rows)
		f.rows = append(f.rows, row{at, list})
		f.count += len(list)
	}
	f.Parsed("row")
}

// time takes when a row of a history was written, in s since 1970.
func (f *fold) time(v *records.Fields) bool {
	t, ok := v.Span(stamp, numx.Second)
	if !ok || t <= 0 {
		return false
	}
	if !f.history || t < f.from {
		f.from = t
	}
	f.history, f.to = true, max(f.to, t)
	if n, ok := v.Count(users); ok {
		if most, _, _ := numx.ParseInt([]byte(f.most)); n > most {
			f.most = string(v.Text(users))
		}
	}
	return true
}

// figures returns those of a row. Times of no request are none, though a 0 is written.
func (f *fold) figures(v *records.Fields) (list []trace.Reported) {
	n, counted := v.Count(requests)
	of := labels(v)
	for i := range columns {
		c, slot := &columns[i], figures+i
		if !v.Has(slot) || f.history && (slot > figures+6 || c.names[1] == "") { // what is of the moment
			continue
		}
		x := trace.Reported{Key: c.names[0] + of, Stat: c.stat, Unit: c.unit}
		if f.history {
			x.Key = c.names[1] + of
		}
		if c.unit == unit.Nanosecond || c.unit == unit.Byte {
			if !counted || n == 0 {
				continue
			}
		}
		value, ok := v.Number(slot)
		if x.Value = value; c.unit == unit.Nanosecond && ok {
			var ns int64
			ns, ok = v.Span(slot, numx.Millisecond)
			x.Value = float64(ns)
			if c.rounded {
				x.Step = step(ns)
			}
		}
		if ok && value >= 0 {
			list = append(list, x)
		}
	}
	return list
}

// step returns how far a time that Locust has rounded may be off, in ns.
func step(ns int64) float64 {
	switch {
	case ns < 100e6:
		return 0.5e6
	case ns < 1000e6:
		return 5e6
	case ns < 10_000e6:
		return 50e6
	}
	return 500e6
}

// labels says what a row is of: nothing for all requests.
func labels(v *records.Fields) string {
	parts := make([]string, 0, 3)
	all := string(v.Text(name)) == "Aggregated" || string(v.Text(name)) == "Total"
	for _, slot := range [...]int{kind, name} {
		if text := v.Text(slot); len(text) > 0 && !all {
			parts = append(parts, strings.ToValidUTF8(string(text), "\uFFFD"))
		}
	}
	if v.Has(message) {
		parts = append(parts, errorClass(v.Text(message)))
	}
	if len(parts) == 0 {
		return ""
	}
	return "{" + strings.Join(parts, " ") + "}"
}

// errorClass returns what kind of error a text is, and nothing of what it quotes.
func errorClass(text []byte) string {
	before, rest, _ := bytes.Cut(text, []byte("("))
	rest = bytes.TrimLeft(rest, `'"`)
	if bytes.Equal(before, []byte("HTTPError")) && len(rest) > 3 && rest[3] == ' ' && len(bytes.Trim(rest[:3], "0123456789")) == 0 {
		return "HTTP " + string(rest[:3])
	}
	if n := len(before); n > 0 && n < 60 && len(before) < len(text) && len(bytes.Trim(before, "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_.")) == 0 {
		return string(before)
	}
	return records.ErrorClass(text)
}

// End implements records.Fold.
func (f *fold) End() {
	for _, r := range f.rows {
		f.Run.Reported = append(f.Run.Reported, r.list...)
	}
	if f.history {
		if f.to > f.from {
			f.Run.Duration, f.Run.HasDuration = f.to-f.from, true
		}
		if f.most != "" {
			f.Run.Config = append(f.Run.Config, trace.Pair{Key: "users, at most", Value: f.most})
		}
		f.Run.Notes = append(f.Run.Notes, "totals: of a history the totals of the last row of each name are taken; its percentiles and rates are of the last seconds before each row")
	}
	if f.statistics {
		f.Run.Notes = append(f.Run.Notes, "rounded: percentiles and medians are of times that Locust rounds to two digits, failed requests included; without the time of any token")
	}
}

var (
	notARow = &assemble.Problem{Code: "not_a_row", Severity: diag.DataLoss,
		Msg: "a row has no name, or is not a row of a table of Locust: it was skipped"}
	badTime = &assemble.Problem{Code: "no_time", Severity: diag.DataLoss,
		Msg: "a row of a history has no time that can be read and was skipped"}
	noFigures = &assemble.Problem{Code: "no_figures", Severity: diag.Notice,
		Msg: "a row has no figure that can be read and was skipped"}
	tooMany = &assemble.Problem{Code: "too_many_rows", Severity: diag.DataLoss,
		Msg: "the table has more figures than are kept: the last rows were skipped"}
)
