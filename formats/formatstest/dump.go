package formatstest

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// row is one row as text: every column that is not null, in the order of the
// table. What names a byte offset stands apart, because some variants of an
// input move the offsets.
type row struct {
	run    int64
	offset string // `,"offset":N` or empty
	rest   string
	lists  string
}

// dumpRows appends the rows of a batch.
func dumpRows(rows []row, b *trace.Batch) []row {
	for i := range b.Rows {
		r := row{run: b.Run.Key}
		var rest, lists bytes.Buffer
		if b.Table != trace.Requests {
			fmt.Fprintf(&rest, `,"table":%q`, b.Table.Name)
		}
		for c, f := range b.Table.Fields {
			v := value(b, trace.Col(c), i)
			switch {
			case v == nil:
			case f.Name == "offset":
				r.offset = fmt.Sprintf(`,"offset":%s`, v)
			case f.Type == trace.List:
				fmt.Fprintf(&lists, `,%q:%s`, f.Name, v)
			default:
				fmt.Fprintf(&rest, `,%q:%s`, f.Name, v)
			}
		}
		r.rest, r.lists = rest.String(), lists.String()
		rows = append(rows, r)
	}
	return rows
}

// value returns a value as JSON, or nil for null.
func value(b *trace.Batch, c trace.Col, i int) []byte {
	switch b.Table.Fields[c].Type {
	case trace.Int64:
		if v, ok := b.Ints(c).At(i); ok {
			return strconv.AppendInt(nil, v, 10)
		}
	case trace.Float64:
		if v, ok := b.Floats(c).At(i); ok {
			return encode(v)
		}
	case trace.Bool:
		if v, ok := b.Bools(c).At(i); ok {
			return strconv.AppendBool(nil, v)
		}
	case trace.Text:
		if v, ok := b.Texts(c).At(i); ok {
			return encode(string(v))
		}
	case trace.Dict:
		if v, ok := b.Dicts(c).At(i); ok {
			return encode(b.Dicts(c).Values[v])
		}
	case trace.List:
		if v, ok := b.Lists(c).At(i); ok {
			if len(v) == 0 {
				return []byte("[]") // nil is no null here
			}
			return encode(v)
		}
	}
	return nil
}

// encode returns v as one line of JSON, with <, > and & as they are.
func encode(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return []byte(fmt.Sprintf("%q", fmt.Sprintf("cannot be encoded: %v", err)))
	}
	return bytes.TrimSuffix(b.Bytes(), []byte{'\n'})
}

// runJSON is trace.RunMeta as it stands in a dump.
type runJSON struct {
	Key        int64          `json:"key"`
	Label      string         `json:"label,omitempty"`
	Format     string         `json:"format"`
	Engine     string         `json:"engine,omitempty"`
	Version    string         `json:"version,omitempty"`
	Model      string         `json:"model,omitempty"`
	Side       string         `json:"side"`
	Clock      string         `json:"clock"`
	Definition string         `json:"definition,omitempty"`
	Duration   *int64         `json:"duration,omitempty"`
	NoRequests string         `json:"no_requests,omitempty"`
	Config     [][2]string    `json:"config,omitempty"`
	Reported   []reportedJSON `json:"reported,omitempty"`
	Doubts     []doubtJSON    `json:"doubts,omitempty"`
	Notes      []string       `json:"notes,omitempty"`
}

type doubtJSON struct {
	Key    string   `json:"key"`
	Metric string   `json:"metric,omitempty"`
	Value  *float64 `json:"value"`
	Unit   string   `json:"unit"`
	Count  int64    `json:"count"`
	Why    string   `json:"why"`
}

type reportedJSON struct {
	Key    string  `json:"key"`
	Metric string  `json:"metric,omitempty"`
	Stat   string  `json:"stat"`
	Value  float64 `json:"value"`
	Unit   string  `json:"unit"`
}

func dumpRun(m *trace.RunMeta) runJSON {
	r := runJSON{Key: m.Key, Label: m.Label, Format: m.Format, Engine: m.Engine, Version: m.Version, Model: m.Model,
		Side: trace.Requests.Fields[trace.SideCol].Values[m.Side], Clock: m.Clock.String(), Definition: m.DefaultDefinition,
		NoRequests: m.NoRequests, Notes: m.Notes}
	if m.HasDuration {
		r.Duration = &m.Duration
	}
	for _, p := range m.Config {
		r.Config = append(r.Config, [2]string{p.Key, p.Value})
	}
	for _, p := range m.Reported {
		r.Reported = append(r.Reported, reportedJSON{p.Key, p.Metric, p.Stat, p.Value, string(p.Unit)})
	}
	for _, d := range m.Doubts {
		out := doubtJSON{d.Key, d.Metric, nil, string(d.Unit), d.Count, d.Why}
		if d.Same {
			out.Value = &d.Value
		}
		r.Doubts = append(r.Doubts, out)
	}
	return r
}

// result is all that reading one source gives.
type result struct {
	runs    []*trace.RunMeta
	rows    []row
	account formats.Account
	diags   diag.Log
}

// without says what a dump leaves out.
type without struct{ offsets, lists bool }

// dump returns the result as lines of JSON: runs, rows, account, diags. Names
// of files are left out. Without offsets, runs are numbered.
func (r *result) dump(w without) string {
	var b bytes.Buffer
	line := func(what string, v any) { fmt.Fprintf(&b, "{%q:%s}\n", what, encode(v)) }
	slices.SortFunc(r.runs, func(a, b *trace.RunMeta) int { return cmp.Compare(a.Key, b.Key) })
	number := make(map[int64]int64)
	for i, m := range r.runs {
		run := dumpRun(m)
		number[m.Key] = m.Key
		if w.offsets {
			number[m.Key] = int64(i)
			run.Key = int64(i)
		}
		line("run", run)
	}
	for _, row := range r.rows {
		fmt.Fprintf(&b, `{"row":%d`, number[row.run])
		if !w.offsets {
			b.WriteString(row.offset)
		}
		b.WriteString(row.rest)
		if !w.lists {
			b.WriteString(row.lists)
		}
		b.WriteString("}\n")
	}
	a := r.account
	line("account", struct {
		Total     int64            `json:"total"`
		Parsed    int64            `json:"parsed"`
		Diagnosed int64            `json:"diagnosed"`
		Noise     int64            `json:"noise"`
		Kinds     map[string]int64 `json:"kinds,omitempty"`
	}{a.Total, a.Parsed, a.Diagnosed, a.Noise, a.Kinds})
	for _, d := range r.diags.All() {
		dj := struct {
			Code     string `json:"code"`
			Severity string `json:"severity"`
			Offset   *int64 `json:"offset,omitempty"`
			Line     int64  `json:"line,omitempty"`
			Count    int64  `json:"count"`
			Msg      string `json:"msg"`
			Fix      string `json:"fix,omitempty"`
		}{d.Code, d.Severity.String(), &d.Offset, d.Line, d.Count, d.Msg, d.Fix}
		if w.offsets {
			dj.Offset = nil
		}
		line("diag", dj)
	}
	return b.String()
}
