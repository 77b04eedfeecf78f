// Package documents reads the JSON that load generators leave behind: documents
// whose requests are objects, and whose other members are settings and figures
// that the tool computed itself.
//
//	{"metadata": {…}, "benchmarks": [
//	  {"metrics": {"ttft": {"mean": …, "p99": …}, …}, "requests": [{…}, {…}]}]}
//
// What differs between the tools is a Dialect, which is mostly a table: which
// objects are a run, which a request, where each member goes. Documents are
// read in one pass, of any length: of a request only the members that a Dialect
// names are kept, prompts and texts are skipped without being decoded.
package documents

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
	"servescope/formats/internal/servebench"
)

// Dialect is what differs between the tools that write such documents.
type Dialect struct {
	Name string
	Run  trace.RunMeta // what every run says

	// Keys are sets of names, parted by spaces: an object at the beginning of a
	// file or line that has all of one set is of the dialect.
	Keys []string

	// Table says what is where, a line for each, in two or three words. Paths are
	// the names that lead to a value, joined by points, with [] for the elements
	// of an array. An object is
	//
	//	PATH run            a run; a document without one is a run
	//	PATH ok             a request, of the status that its place tells
	//
	// a member of a request, by its path in it,
	//
	//	PATH COLUMN         a value of a column; stamps are in s, one of 0 counts as unknown
	//	PATH @N             a scalar that Row reads, by slot
	//	PATH []N            an array of numbers that Row reads, times 10^9, by slot
	//
	// and another member, by its path in the run or, outside of it, the document
	//
	//	PATH = NAME         a setting worth showing
	//	PATH METRIC KIND    a figure, or a distribution of figures; METRIC is one of ours or -
	//
	// KIND is one of kinds; a member "unit" of a distribution of times goes before
	// it. Table is parsed when a file is opened: as text it is
	// an eighth of the size of what a compiler makes of maps.
	Table string

	// Split takes a path apart into that of a distribution and a statistic; nil
	// means that the last name is the statistic.
	Split func(path string) (distribution, stat string)
	// Row completes the row of a request and ends it with EndRow, or returns why
	// there is none. Columns are set, with the status that the place tells.
	Row func(q *Request, b *trace.Builder) *assemble.Problem
	// Finish completes what is known of a run. It may be nil.
	Finish func(*trace.RunMeta)
	HowTo  string // how to get requests into the file, where there are none
}

// kinds are the units of figures and the powers of ten that lead to them. Of a
// rate over time only the mean is a figure of ours. The duration of a run is
// its length.
var kinds = [...]struct {
	name string
	unit unit.Unit
	exp  string
	mean bool
}{
	{"s", unit.Nanosecond, "e9", false}, {"ms", unit.Nanosecond, "e6", false}, {"tok", unit.Token, "", false}, {"tok/s", unit.TokenRate, "", false},
	{"req", unit.Request, "", false}, {"req/s", unit.PerSecond, "", false}, {"%", unit.Ratio, "e-2", false}, {"ratio", unit.Ratio, "", false}, {"-", unit.None, "", false},
	{"mean:tok/s", unit.TokenRate, "", true}, {"mean:req/s", unit.PerSecond, "", true}, {"mean:req", unit.Request, "", true}, {"mean:-", unit.None, "", true},
	{"duration", unit.Nanosecond, "e9", false},
}

// duration is the kind of the length of a run.
const duration = len(kinds) - 1

// member says what is done with a member of a request, or a figure.
type member struct {
	what   byte // '@' a field, '[' a list, 'c' a column, '=' a setting, 'f' a figure, 'q' a request, 'r' a run
	n      int  // slot, column, kind of figure or status
	metric string
}

// table parses the table of a dialect. A word that it does not know is a
// mistake in the program: it panics.
func (d *Dialect) table() map[string]member {
	out := make(map[string]member)
	for line := range strings.Lines(d.Table) {
		w := strings.Fields(line)
		if len(w) == 0 {
			continue
		}
		m := member{what: w[1][0], n: -1}
		column, known := trace.Requests.Lookup(w[1])
		switch {
		case m.what == '=':
			m.metric = w[2]
			m.n = 0
		case len(w) == 3:
			m.what, m.metric = 'f', strings.TrimPrefix(w[1], "-")
			for i := range kinds {
				if kinds[i].name == w[2] {
					m.n = i
				}
			}
		case known:
			m.what, m.n = 'c', int(column)
		case m.what == '@' || m.what == '[':
			m.n, _ = strconv.Atoi(strings.Trim(w[1], "@[]"))
		case w[1] == "run":
			m.n = 0
		default:
			m.what, m.n = 'q', slices.Index(trace.Requests.Fields[trace.StatusCol].Values, w[1])
		}
		if m.n < 0 {
			panic("documents: " + d.Name + ": " + line)
		}
		if w[0] == "." { // the document itself
			w[0] = ""
		}
		out[w[0]] = m
	}
	return out
}

// Sniff tells by its keys whether a file is of the dialect.
func (d *Dialect) Sniff(h *formats.Head) (formats.Score, string) {
	return records.Sniff(h, func(keys records.Keys) (formats.Score, string) {
		for _, set := range d.Keys {
			if keys.Has(strings.Fields(set)...) {
				return formats.Sure, "an object with " + strings.ReplaceAll(set, " ", ", ")
			}
		}
		var sets []string
		for _, set := range d.Keys {
			sets = append(sets, strings.ReplaceAll(set, " ", ", "))
		}
		return formats.No, "no object with " + strings.Join(sets, "; nor with ")
	})
}

// figure returns what the number at a path is, or false when it is none.
func (r *reader) figure(path, key, text string) (rep trace.Reported, kind int, ok bool) {
	rep = trace.Reported{Key: path, Stat: "value"}
	m := r.table[path]
	if m.what != 'f' {
		name, stat := strings.TrimSuffix(strings.TrimSuffix(path, key), "."), servebench.Statistic(key)
		if r.d.Split != nil {
			name, stat = r.d.Split(path)
		}
		if m = r.table[name]; m.what != 'f' || stat == "" {
			return rep, 0, false
		}
		if rep.Stat = stat; kinds[m.n].mean {
			if rep.Stat = "value"; stat != "mean" {
				rep.Stat, m.metric = stat, ""
			}
		}
	}
	rep.Metric, rep.Unit = m.metric, kinds[m.n].unit
	exp := kinds[m.n].exp
	if rep.Unit == unit.Nanosecond && r.unit != "" && strings.HasPrefix(path, r.unitOf) {
		exp = r.unit
	}
	rep.Value, ok = number(text, exp)
	return rep, m.n, ok
}

// Exponent returns the power of ten of a unit of time in ns, "" for another.
func Exponent(unit string) string {
	switch unit {
	case "s", "sec", "seconds":
		return "e9"
	case "ms":
		return "e6"
	case "us", "µs":
		return "e3"
	case "ns":
		return "e0"
	}
	return ""
}

// number reads a figure, rounded once.
func number(text, exp string) (float64, bool) {
	if exp != "" && strings.ContainsAny(text, "eE") {
		v, ok := number(text, "")
		scale, _ := number("1"+exp, "")
		v = float64(v * scale)
		return v, ok && v-v == 0
	}
	v, n, ok := numx.ParseFloat([]byte(text + exp))
	return v, ok && n == len(text)+len(exp)
}

// The problems of documents and requests. WarmUp is one that Row returns: such
// requests are left out, and not lost.
var (
	WarmUp = &assemble.Problem{Code: "warm_up", Severity: diag.Info,
		Msg: "requests of the warm-up are left out"}

	truncated = &assemble.Problem{Code: "truncated", Severity: diag.DataLoss,
		Msg: "a request breaks off and was skipped"}
	badList = &assemble.Problem{Code: "bad_list", Severity: diag.DataLoss,
		Msg: "a list of times contains something else, or far too many times: it counts as unknown"}
	badValue = &assemble.Problem{Code: "bad_value", Severity: diag.DataLoss,
		Msg: "a member of a request has the wrong type: it counts as unknown"}
	notAResult = &assemble.Problem{Code: "not_a_result", Severity: diag.DataLoss,
		Msg: "a document contains no known request and no known figure"}
	strayText = &assemble.Problem{Code: "stray_text", Severity: diag.DataLoss,
		Msg: "text that is not a document was skipped"}
)
