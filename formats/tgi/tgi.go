// Package tgi reads the log of the router of Hugging Face's Text Generation
// Inference (TGI, v0.8 to v3), as text with or without colours, and as JSON
// (--json-output).
//
// A request that succeeded has a line at its end, in UTC and in µs, with the fields
// of its span. Durations are those of Rust's Debug: 735.200735ms, 955.594µs.
//
//	total_time       receipt to the end: received = stamp - total_time
//	validation_time  checking and tokenisation: d_input
//	queue_time       until the batcher takes it: d_queue
//	inference_time   prefill and decoding together; reported only
//	time_per_token   inference_time / tokens generated, the prefill included;
//	                 reported only
//
// TTFT and TPOT are not in the log. The number of tokens is: it is what
// inference_time was divided by, exact as both are written to the ns.
package tgi

import (
	"bytes"
	"context"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/records"
)

// Format is the format's entry in formats/all.
var Format = formats.Format{
	Name:     "tgi",
	Title:    "router log of Text Generation Inference (TGI), text and JSON",
	Priority: 94,
	Shape:    formats.Ordered,
	Sniff:    sniff,
	Open: func(ctx context.Context, src formats.Source, _ formats.Range, opt formats.Options) (formats.Reader, error) {
		return records.Open(ctx, src, opt, &dialect)
	},
}

func sniff(h *formats.Head) (formats.Score, string) {
	for _, part := range append([][]byte{h.Start}, h.Samples...) {
		for line := range bytes.Lines(part) {
			if bytes.Contains(line, []byte("total_time")) && bytes.Contains(line, []byte("inference_time")) && bytes.Contains(line, []byte("validation_time")) {
				return formats.Sure, "a line has total_time, validation_time and inference_time"
			}
			if bytes.Contains(line, []byte("text_generation_router::")) {
				return formats.Likely, "a line of text_generation_router"
			}
		}
	}
	return formats.No, "no line has total_time, validation_time and inference_time"
}

const (
	total = iota
	validation
	queue
	inference
	perToken
	name
	timestamp
	level
	target
	message
)

// spanKeys are the fields of the span of a request.
var spanKeys = map[string]int{"total_time": total, "validation_time": validation, "queue_time": queue, "inference_time": inference, "time_per_token": perToken, "name": name}

var dialect = records.Dialect{
	Name:   "tgi",
	Run:    trace.RunMeta{Engine: "tgi", Side: trace.Server, Clock: trace.Clock{Kind: trace.Wall}},
	Fields: fields(),
	New:    func(w *records.Writer) records.Fold { return &fold{Writer: w, line: records.NewFields(nil)} },
	HowTo:  "the router logs requests at the level info, which is the default",
}

// fields are where JSON lines have the fields of spans: of the innermost, or of
// the one among all that is the request's.
func fields() map[string]int {
	out := map[string]int{"timestamp": timestamp, "level": level, "target": target, "message": message, "fields.message": message}
	for key, slot := range spanKeys {
		out["span."+key], out["spans[]."+key] = slot, slot
	}
	return out
}

// fold makes rows of lines.
type fold struct {
	*records.Writer
	line  *records.Fields
	plain []byte

	rest, rests int64 // total times less their parts: the sum, and how many there are
}

// End implements records.Fold.
func (f *fold) End() {
	if f.rests > 0 {
		f.Run.Notes = append(f.Run.Notes, "rest_of_total: validation, queue and inference leave "+unit.FormatDuration(f.rest/f.rests)+" of total_time on average")
	}
}

// Object implements records.Fold.
func (f *fold) Object(v *records.Fields, _ []byte, at int64) {
	failed := v.Is(level, "ERROR") && bytes.HasPrefix(v.Text(target), []byte("text_generation_router::infer"))
	f.record(v, failed, at)
}

// Line implements records.Fold. Where writers share a file, a line may hold several
// records, each but the last perhaps torn.
func (f *fold) Line(line []byte, at int64) {
	f.plain = withoutColours(f.plain[:0], line)
	for rest := f.plain; len(rest) > 0; {
		n := glued(rest)
		failed := parse(f.line, rest[:n])
		if torn(f.line, rest[:n]) {
			f.Skip(badTimes, at)
		} else {
			f.record(f.line, failed, at)
		}
		rest = rest[n:]
		at += int64(n) // less where colours were taken out, but of this line
	}
}

// record makes the row of a line that ends a request.
func (f *fold) record(v *records.Fields, failed bool, at int64) {
	whole, ok := records.Duration(v.Text(total))
	if !ok && !failed {
		if v.Has(total) || v.Has(inference) {
			f.Skip(badTimes, at)
			return
		}
		f.Noise()
		return
	}
	b := f.Builder
	end, stamped := v.Time(timestamp)
	switch {
	case stamped:
		b.Int(trace.Finished, end.T)
		b.Int(trace.Resolution, max(end.Step, 1000))
		if ok {
			b.Int(trace.Received, end.T-whole)
		}
	case ok:
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		b.Int(trace.Received, 0)
		b.Int(trace.Finished, whole)
	}
	if bytes.HasPrefix(v.Text(name), []byte("generate_stream")) {
		b.Bool(trace.Stream, true)
	}
	if failed {
		b.Code(trace.StatusCol, int32(trace.Failed))
		b.Dict(trace.ErrorClass, []byte("other"))
		f.EndRow(at)
		f.Parsed("error")
		return
	}
	f.stages(v, whole, at)
	f.EndRow(at)
	f.Parsed("request")
}

// stages sets what is known of the parts, and the number of tokens.
func (f *fold) stages(v *records.Fields, whole, at int64) {
	b := f.Builder
	parts := [...]struct {
		slot int
		col  trace.Col
	}{{validation, trace.DInput}, {queue, trace.DQueue}, {inference, -1}}
	var d [3]int64
	rest, all := whole, true
	for i, p := range parts {
		var ok bool
		d[i], ok = records.Duration(v.Text(p.slot))
		all = all && ok
		rest -= d[i]
	}
	b.Code(trace.StatusCol, int32(trace.OK))
	f.Claim("total_time", "e2e_stream_end", unit.Nanosecond, float64(whole), 0)
	if all && rest < 0 {
		f.Note(contradiction, at)
		return
	}
	for i, p := range parts {
		if p.col >= 0 && len(v.Text(p.slot)) > 0 {
			b.Int(p.col, d[i])
		}
	}
	if !all {
		return
	}
	f.Claim("inference_time", "", unit.Nanosecond, float64(d[2]), 0)
	f.rest += rest
	f.rests++
	each, ok := records.Duration(v.Text(perToken))
	if !ok {
		return
	}
	f.Claim("time_per_token", "tpot", unit.Nanosecond, float64(each), 0)
	if n := tokens(d[2], each); n > 0 {
		b.Int(trace.OutputTokens, n)
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
}

// tokens returns by what a time was divided to give another, which is rounded down
// to whole ns; 0 where no number or more than one does.
func tokens(whole, each int64) int64 {
	if each <= 0 || each > whole {
		return 0
	}
	n := whole / each // the quotient was not rounded up, so n is no less than it was
	if whole/n == each && (n == 1 || whole/(n-1) != each) {
		return n
	}
	return 0
}

// parse reads a line of text. The fields of the span come behind texts of users,
// so the last of each name counts.
func parse(v *records.Fields, line []byte) (failed bool) {
	v.Reset()
	stamp, rest, _ := bytes.Cut(line, []byte(" "))
	v.Set(timestamp, stamp, formats.String)
	rest = bytes.TrimLeft(rest, " ")
	failed = bytes.HasPrefix(rest, []byte("ERROR ")) && bytes.Contains(rest, []byte(" text_generation_router::infer"))
	if _, span, ok := bytes.Cut(rest, []byte(" ")); ok {
		if k := bytes.IndexByte(span, '{'); k > 0 {
			v.Set(name, bytes.TrimSpace(span[:k]), formats.String)
		}
	}
	for key, slot := range spanKeys {
		if slot == name {
			continue
		}
		mark := []byte(key + `="`)
		if k := bytes.LastIndex(line, mark); k > 0 && (line[k-1] == ' ' || line[k-1] == '{') {
			value, _, ok := bytes.Cut(line[k+len(mark):], []byte(`"`))
			if !ok { // torn
				value = nil
			}
			v.Set(slot, value, formats.String)
		}
	}
	return failed
}

// glued returns where the first record of a line ends: before the head of another,
// a stamp, a level, and the name of a span or a module.
func glued(line []byte) int {
	for i := 0; ; {
		k := bytes.Index(line[i:], []byte("Z "))
		if k < 0 {
			return len(line)
		}
		i += k + 1
		rest := bytes.TrimLeft(line[i:], " ")
		level, rest, _ := bytes.Cut(rest[:min(len(rest), 64)], []byte(" "))
		switch string(level) {
		case "TRACE", "DEBUG", "INFO", "WARN", "ERROR":
		default:
			continue
		}
		name := bytes.TrimLeft(rest, "abcdefghijklmnopqrstuvwxyz_")
		if len(name) == len(rest) || len(name) == 0 || name[0] != '{' && name[0] != ':' {
			continue
		}
		from := max(0, i-len("2026-01-02T03:04:05.000000000Z"))
		for ; from < i; from++ {
			if _, ok := records.Date(line[from:i]); ok && from > 0 && line[from] != ' ' {
				return from
			}
		}
	}
}

// torn reports whether a record is the beginning of one of a request.
func torn(v *records.Fields, line []byte) bool {
	return !v.Has(total) && bytes.Contains(line, []byte("{parameters=")) && !bytes.Contains(line, []byte(" text_generation_router::"))
}

// withoutColours appends a line without the escape sequences of terminals.
func withoutColours(out, line []byte) []byte {
	for {
		k := bytes.IndexByte(line, 0x1b)
		if k < 0 {
			return append(out, line...)
		}
		out = append(out, line[:k]...)
		if line = line[k+1:]; len(line) > 0 && line[0] == '[' {
			end := bytes.IndexFunc(line[1:], func(r rune) bool { return r >= '@' && r <= '~' })
			if end < 0 {
				return out
			}
			line = line[end+2:]
		}
	}
}

var (
	badTimes = &assemble.Problem{Code: "bad_times", Severity: diag.DataLoss,
		Msg: "a line of a request is torn: its times cannot be read, it was skipped"}
	contradiction = &assemble.Problem{Code: "impossible_duration", Severity: diag.Notice,
		Msg: "the parts of a request are longer than the request: they count as unknown"}
)
