// Package sglangexport reads SGLang's export of request metrics
// (--export-metrics-to-file, files sglang-request-metrics-YYYYMMDD_HH.log): a
// line of JSON per finished request, made of the keys of meta_info and of the
// request's parameters as a string that is JSON itself.
//
//	first seen         last seen  what
//	v0.5.5.post3       v0.5.9     no lock: pieces of records of several threads lie among each other
//	v0.5.5.post3       to come    a value that is no JSON ends a record early; the next one follows on its line
//	v0.5.5.post3       to come    NaN, as Python writes it; no record of health checks
//
// Keys and their versions are those of meta_info: see package sglmeta. The hour
// in a file's name is local time, but every record has epochs of its own (with
// --enable-metrics), so the hours of a day may be read together.
package sglangexport

import (
	"bytes"
	"context"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
	"servescope/formats/internal/records"
	"servescope/formats/internal/sglmeta"
)

const formatName = "sglangexport"

// Format reads SGLang's export of request metrics.
var Format = formats.Format{
	Name:     formatName,
	Title:    "SGLang request metrics (--export-metrics-to-file), a line per request",
	Priority: 113,
	Shape:    formats.Records,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.OpenLines(ctx, src, rng, opt, &dialect)
	},
}

var dialect = records.LineDialect{
	Name:   formatName,
	Wanted: "a record of SGLang's export of request metrics",
	Run:    trace.RunMeta{Engine: "sglang", Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall}},
	Anchor: []byte(`{"request_parameters"`),
	New:    func() records.Parser { return new(parser) },
}

func sniff(h *formats.Head) (formats.Score, string) {
	for _, part := range append([][]byte{h.Start}, h.Samples...) {
		for line := range bytes.Lines(part) {
			i := bytes.Index(line, []byte(`"request_parameters"`))
			if i < 0 {
				continue
			}
			keys := formats.Keys(line)
			if k, ok := formats.Find(keys, "request_parameters"); ok && k.Kind == formats.String {
				return formats.Sure, "a line has request_parameters, as SGLang's export of request metrics begins a record"
			}
			if bytes.Contains(line, dialect.Anchor) {
				return formats.Likely, "a record of SGLang's export of request metrics stands within a line"
			}
		}
	}
	return formats.No, "no line has request_parameters, which begins every record of SGLang's export of request metrics"
}

// The problems of records.
var (
	notARecord = &assemble.Problem{Code: "not_a_record", Severity: diag.DataLoss,
		Msg: "an object without request_parameters is not a record of SGLang's export"}
	interleaved = &assemble.Problem{Code: "interleaved", Severity: diag.DataLoss,
		Msg: "a record has a key twice, or its parameters name another request: pieces of several threads' records lie among each other, as SGLang v0.5.5.post3 to v0.5.9 write them; it was skipped, and where the pieces happen to fit, a record may hold values of another", Fix: "update SGLang to v0.5.10 or later"}
	badParameters = &assemble.Problem{Code: "bad_parameters", Severity: diag.Notice,
		Msg: "request_parameters is not a JSON object: whether the request was streamed is unknown"}
)

// parser implements records.Parser.
type parser struct {
	meta       sglmeta.Meta
	parameters bool
	broken     bool // the parameters are no object
	twice      bool
	seen       []uint64 // hashes of the paths of the record
	id, rid    []byte
	short      []byte // the parameters without their long strings
}

func (p *parser) Begin() {
	p.meta.Reset()
	p.parameters, p.broken, p.twice = false, false, false
	p.seen, p.id, p.rid = p.seen[:0], p.id[:0], p.rid[:0]
}

// Value implements records.Parser.
func (p *parser) Value(path, raw []byte, kind formats.Kind) {
	if h := hash(path); slices.Contains(p.seen, h) && !bytes.Contains(path, []byte("[]")) {
		p.twice = true
	} else if len(p.seen) < 256 {
		p.seen = append(p.seen, h)
	}
	if rest, ok := bytes.CutPrefix(path, []byte("request_parameters.")); ok {
		p.parameters = true
		p.parameter(rest, raw, kind)
		return
	}
	if string(path) != "request_parameters" {
		if kind != formats.Array {
			raw = json.Text(raw)
			p.meta.Set(path, raw)
		}
		if string(path) == "id" && kind == formats.String {
			p.id = append(p.id, raw...)
		}
		return
	}
	p.parameters = true
	p.short = elide(p.short[:0], raw)
	text := json.Text(p.short)
	if n := bytes.IndexByte(text, '{'); kind == formats.String && n >= 0 {
		if _, ok := json.Walk(text, n, p.parameter); ok {
			return
		}
	}
	p.broken = kind != formats.Null
}

func (p *parser) parameter(path, raw []byte, kind formats.Kind) {
	if kind == formats.Array {
		return
	}
	raw = json.Text(raw)
	p.meta.Param(path, raw)
	if string(path) == "rid" && kind == formats.String {
		p.rid = append(p.rid[:0], raw...)
	}
}

// Rows implements records.Parser.
func (p *parser) Rows(b *trace.Builder, offset int64, note func(*assemble.Problem)) (string, *assemble.Problem) {
	switch {
	case !p.parameters:
		return "", notARecord
	case p.twice, len(p.id) > 0 && len(p.rid) > 0 && !bytes.Equal(p.id, p.rid):
		return "", interleaved
	case p.broken:
		note(badParameters)
	}
	if sglmeta.HealthCheck(p.meta.ID()) {
		return "health check", nil
	}
	p.meta.Row(b, note)
	b.Int(trace.Offset, offset)
	b.EndRow()
	return "request", nil
}

// hash is FNV-1a.
func hash(b []byte) uint64 {
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return h
}
