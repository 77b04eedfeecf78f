package documents

import (
	"context"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/records"
)

// OpenLines begins reading the requests, an object a line, that start in rng.
// The path of a request is that of the document.
func OpenLines(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options, d *Dialect) (formats.Reader, error) {
	table := d.table()
	return records.OpenLines(ctx, src, rng, opt, &records.LineDialect{Name: d.Name, Wanted: "a request of this tool", Run: d.Run, New: func() records.Parser {
		p := &lineParser{d: d, table: table}
		p.q.wanted, p.q.Run = opt.Lists, &d.Run
		return p
	}})
}

// lineParser implements records.Parser.
type lineParser struct {
	d     *Dialect
	table map[string]member
	q     Request
	known bool // a member of the table was seen
}

// Begin implements records.Parser.
func (p *lineParser) Begin() {
	p.q.reset(trace.OK)
	p.known = false
}

// kinds of values as a cursor names them.
var valueKinds = [...]json.Kind{formats.String: json.String, formats.Number: json.Number, formats.Bool: json.Bool, formats.Null: json.Null}

// Value implements records.Parser.
func (p *lineParser) Value(path, raw []byte, kind formats.Kind) {
	m, q := p.table[string(path)], &p.q
	switch {
	case m.what == '[' && kind == formats.Array:
		var stop numx.Stop
		q.lists[m.n], _, stop = numx.List(q.lists[m.n][:0], raw[1:], numx.Second, false)
		q.listed[m.n] = stop == numx.End
		q.problems[ofList] = q.problems[ofList] || stop != numx.End
	case (m.what == 'c' || m.what == '@') && kind != formats.Array:
		p.known = true
		v := json.Text(raw)
		q.keep(m, valueKinds[kind], v[:min(len(v), maxText)])
	}
}

var notARequest = &assemble.Problem{Code: "not_a_request", Severity: diag.DataLoss,
	Msg: "an object has no member of a request of this tool and was skipped"}

// Rows implements records.Parser.
func (p *lineParser) Rows(b *trace.Builder, offset int64, note func(*assemble.Problem)) (string, *assemble.Problem) {
	if !p.known {
		return "", notARequest
	}
	problem := p.q.row(p.d, b, offset, note)
	if problem == WarmUp {
		b.Drop()
		note(WarmUp)
		return "warm-up", nil
	}
	return "request", problem
}
