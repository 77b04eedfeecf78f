package torchtable

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats/internal/numx"
)

const (
	maxRows    = 64  // rows that are reported, the longest
	maxColumns = 64  // columns of a table
	maxName    = 256 // bytes of a name that are kept
)

// state is where in a table a line stands.
type state uint8

const (
	outside state = iota // before a table or behind it
	opened               // behind the first rule: the heading follows
	headed               // behind the heading: the second rule follows
	inside               // among the rows
)

// row is a row of the device's time.
type row struct {
	name string
	self int64 // ns, without what it contains
}

// table collects what the tables of a file say.
type table struct {
	state  state
	cells  [][2]int // of each column, in characters
	column int      // of the device's own time, -1 where there is none
	device string   // CUDA, XPU, …

	rows   []row
	small  int64 // rows of less than a hundredth of the total, or beyond maxRows
	ranges int64 // ns that marked ranges claim
	engine string
	totals []trace.Reported
	kinds  map[string]int64
}

// line takes one line and reports whether it is known, and whether it says
// anything.
func (t *table) line(line []byte) (known, used bool) {
	line = bytes.TrimRight(line, "\r\n")
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		t.kinds["blank"]++
		return true, false
	case isRule(line):
		t.rule(line)
		t.kinds["rule"]++
		return true, false
	case t.state == opened:
		if !t.heading(line) {
			t.state = outside
			return false, false
		}
		t.kinds["heading"]++
		return true, true
	case t.state == inside:
		return t.row(line)
	}
	if device, ns, ok := total(line); ok {
		t.totals = append(t.totals, trace.Reported{Key: "Self " + device + " time total", Stat: "value", Value: float64(ns), Unit: unit.Nanosecond})
		t.kinds["total"]++
		return true, true
	}
	return false, false
}

// total reads a line such as "Self CUDA time total: 62.732ms", in ns.
func total(line []byte) (device string, ns int64, ok bool) {
	rest, ok := strings.CutPrefix(string(line[:min(len(line), 256)]), "Self ")
	device, value, found := strings.Cut(rest, " time total: ")
	if !ok || !found || device == "" || len(device) > 16 || strings.Trim(device, word) != "" {
		return "", 0, false
	}
	ns, ok = duration([]byte(value))
	return device, ns, ok
}

// word holds the characters of a device's name.
const word = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_"

// rule goes to the next part of the table.
func (t *table) rule(line []byte) {
	switch t.state {
	case outside:
		t.state = opened
		t.cells = t.cells[:0]
		for i := 0; i < len(line); {
			n := len(line[i:]) - len(bytes.TrimLeft(line[i:], "-"))
			if n > 0 && len(t.cells) < maxColumns {
				t.cells = append(t.cells, [2]int{i, i + n})
			}
			i += max(n, 1)
		}
	case headed:
		t.state = inside
	default:
		t.state = outside
	}
}

// heading finds the column of the device's own time.
func (t *table) heading(line []byte) bool {
	t.column = -1
	for i := range t.cells {
		name := t.cell(line, i)
		if device, ok := strings.CutPrefix(name, "Self "); ok && device != "CPU" && !strings.ContainsAny(device, " %") {
			t.column, t.device = i, device
		}
	}
	t.state = headed
	return len(t.cells) > 1 && t.cell(line, 0) == "Name"
}

// cell returns a cell of a line; columns are counted in characters.
func (t *table) cell(line []byte, i int) string {
	from, to, n := len(line), len(line), 0
	for at := 0; at < len(line); n++ {
		if n == t.cells[i][0] {
			from = at
		}
		if n == t.cells[i][1] {
			to = at
			break
		}
		_, size := utf8.DecodeRune(line[at:])
		at += size
	}
	return strings.ToValidUTF8(string(bytes.TrimSpace(line[from:max(from, to)])), "\uFFFD")
}

// row takes a row of the table.
func (t *table) row(line []byte) (known, used bool) {
	name := t.cell(line, 0)
	if t.column < 0 {
		t.kinds["row"]++
		return true, false
	}
	self, ok := duration([]byte(t.cell(line, t.column)))
	if !ok || name == "" {
		return false, false
	}
	if engine, ok := marked(name); ok {
		t.engine = cmp.Or(t.engine, engine)
		t.ranges += self
		t.kinds["range"]++
		return true, true
	}
	t.kinds["row"]++
	if self > 0 {
		t.keep(row{name[:min(len(name), maxName)], self})
	}
	return true, true
}

// marked reports whether a name is that of a range, and which engine marks it.
func marked(name string) (engine string, ok bool) {
	switch {
	case strings.HasPrefix(name, "execute_"):
		return "vllm", true
	case strings.HasPrefix(name, "step["):
		return "sglang", true
	}
	return "", strings.HasPrefix(name, "ProfilerStep")
}

// keep keeps the longest rows.
func (t *table) keep(r row) {
	t.rows = append(t.rows, r)
	if len(t.rows) < 2*maxRows {
		return
	}
	t.order()
	t.small += int64(len(t.rows) - maxRows)
	t.rows = t.rows[:maxRows]
}

func (t *table) order() {
	slices.SortStableFunc(t.rows, func(a, b row) int { return cmp.Compare(b.self, a.self) })
}

// units are those of the profiler, longest first.
var units = []struct {
	suffix string
	scale  int
}{{"ms", numx.Millisecond}, {"us", numx.Microsecond}, {"ns", numx.Nanosecond}, {"s", numx.Second}}

// duration reads a time such as 62.732ms as ns.
func duration(text []byte) (int64, bool) {
	for _, u := range units {
		if digits, ok := bytes.CutSuffix(text, []byte(u.suffix)); ok {
			ns, n, ok := numx.Scaled(digits, u.scale)
			return ns, ok && n == len(digits) && ns >= 0 && ns < 1<<60
		}
	}
	return 0, false
}

// report writes what the tables claim into the run.
func (t *table) report(m *trace.RunMeta) {
	m.Reported, m.Engine = t.totals, t.engine
	var total float64
	for _, r := range t.totals {
		if r.Key == "Self "+t.device+" time total" {
			total += r.Value
		}
	}
	t.order()
	for i, r := range t.rows {
		if i == maxRows || float64(r.self)*100 < total {
			t.small += int64(len(t.rows) - i)
			break
		}
		m.Reported = append(m.Reported, trace.Reported{Key: r.name + " (self " + t.device + ")", Stat: "value", Value: float64(r.self), Unit: unit.Nanosecond})
	}
	if t.small > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("%d further rows of less than 1 %% of the device's time, or beyond the longest %d", t.small, maxRows))
	}
	if t.ranges > 0 {
		m.Notes = append(m.Notes, fmt.Sprintf("the table counts marked ranges as %d ns of device time; they are no work of the device", t.ranges))
	}
}
