package promtext

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"strings"
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/block"
)

const (
	maxLine     = 1 << 20
	batchRows   = 4096
	nameMemory  = 64 << 20 // for names and labels when no budget is given
	maxSettings = 64
	maxSetting  = 200
)

// reader implements formats.Reader.
type reader struct {
	formats.Base
	src     formats.Source
	opt     formats.Options
	stream  *block.Stream[struct{}] // of text
	api     *api                    // or of JSON
	other   documents               // or of other JSON
	table   *table
	builder *trace.Builder
	steps   *trace.Builder
	loads   loads
	run     *trace.RunMeta

	data  []byte // rest of the block
	at    int64
	done  bool
	inTop bool // in the comments before a scrape

	t           int64 // of the scrape
	timed       bool
	from, to    int64 // of all scrapes
	stamped     bool
	settings    map[string]bool
	engineLines int64
}

func newReader(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (*reader, error) {
	memory := int64(nameMemory)
	if opt.Memory > 0 {
		memory = min(memory, opt.Memory/2)
	}
	r := &reader{src: src, opt: opt, builder: trace.NewBuilder(trace.Histograms), steps: trace.NewBuilder(trace.Steps), run: newRun(), settings: make(map[string]bool)}
	if before, ok := opt.After.(*reader); ok { // what it counts is subtracted
		r.table = before.table
		r.table.enter("")
		r.from, r.to, r.stamped = before.from, before.to, before.stamped
	} else {
		r.table = newTable(memory)
	}
	r.Counts.Kinds = make(map[string]int64)
	r.table.note = func(code string, sev diag.Severity, msg string) {
		r.add(diag.Diag{Code: code, Severity: sev, Offset: r.at, Msg: msg})
	}
	json, err := isJSON(src)
	if err != nil {
		return nil, err
	}
	if json && marksOTLP(beginning(src)) {
		r.table.told = true
		r.other, err = openOTLP(ctx, src, opt.Block)
		return r, err
	}
	if json {
		r.api, err = openAPI(ctx, src, opt.Block)
		return r, err
	}
	if timeless(src) {
		if r.t, r.timed = fileTime(src); r.timed {
			r.add(diag.Diag{Code: "time_assumed", Severity: diag.Info, Offset: -1, Msg: "a scrape does not say when it was taken: the time in its file name is assumed, or else the time of the file"})
		}
	}
	r.stream = block.Map(ctx, src, rng, block.Options{Workers: 1, Block: opt.Block, MaxLine: maxLine},
		func() struct{} { return struct{}{} }, func(*block.Block, struct{}) {})
	return r, nil
}

// isJSON reports whether a source is JSON: its first byte is a bracket.
func isJSON(src formats.Source) (bool, error) {
	rc, err := src.Open(0)
	if err != nil {
		return false, err
	}
	defer rc.Close()
	var first [64]byte
	n, _ := io.ReadFull(rc, first[:])
	text := bytes.TrimLeft(bytes.TrimPrefix(first[:n], []byte("\xEF\xBB\xBF")), " \t\r\n")
	return len(text) > 0 && (text[0] == '{' || text[0] == '['), nil
}

// Next implements formats.Reader.
func (r *reader) Next() bool {
	for !r.done {
		for len(r.data) > 0 && r.builder.Rows() < batchRows {
			n := bytes.IndexByte(r.data, '\n') + 1
			whole := n > 0
			if !whole {
				n = len(r.data)
			}
			r.line(bytes.TrimRight(r.data[:n], "\r\n"), whole)
			r.data, r.at = r.data[n:], r.at+int64(n)
		}
		if len(r.data) == 0 && !r.advance() {
			r.done = true
			r.endScrape()
			r.loads.flush(r.steps)
			r.finish()
		}
		if r.flush(batchRows) {
			return true
		}
	}
	return r.Err() == nil && r.flush(1)
}

// flush takes a batch of at least so many rows.
func (r *reader) flush(least int) bool {
	for _, b := range [...]*trace.Builder{r.builder, r.steps} {
		if b.Rows() >= least {
			r.Current = b.Take(r.run, r.src.Name())
			return true
		}
	}
	return false
}

// advance goes to the next block, or result.
func (r *reader) advance() bool {
	if r.other != nil {
		return r.other.next(r)
	}
	if r.api != nil {
		return r.answers()
	}
	if !r.stream.Next() {
		return false
	}
	b := r.stream.Block()
	r.data, r.at = b.Data, b.Off
	if b.TooLong >= 0 { // its diag is the stream's
		r.Counts.Diagnosed++
		r.Counts.Kinds["too long"]++
	}
	return true
}

// line takes one line, without its end. One that has none was cut off: the
// text format ends in a line feed.
func (r *reader) line(line []byte, whole bool) {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		r.noise("blank")
	case !whole:
		r.skip("truncated", diag.DataLoss, "the text ends within a line")
	case line[0] == '#':
		r.comment(line)
	default:
		r.inTop = false
		r.sample(line)
	}
}

// comment takes a line that begins with a number sign.
func (r *reader) comment(line []byte) {
	if key, value := header(line); key != "" {
		r.header(key, string(value))
		return
	}
	r.inTop = false
	words := bytes.Fields(line[:min(len(line), 1024)])
	switch {
	case len(words) == 4 && string(words[1]) == "TYPE":
		scrape := r.table.scrape
		r.table.declare(words[2], words[3])
		r.ended(scrape)
		r.noise("type")
	case len(words) >= 3 && string(words[1]) == "HELP":
		r.noise("help")
	case len(words) == 2 && string(words[1]) == "EOF":
		r.endScrape()
		r.noise("end")
	default:
		r.noise("comment")
	}
}

// header takes one of the comments before a scrape.
func (r *reader) header(key, value string) {
	if !r.inTop {
		r.endScrape()
		r.table.enter("")
		r.inTop = true
	}
	switch key {
	case "Timestamp":
		t, ok := r.stamp(value)
		if !ok {
			r.skip("bad_timestamp", diag.Notice, "the time of a scrape cannot be read: its samples have none")
			return
		}
		r.t, r.timed = t, true
	case "Pod":
		r.table.enter(value)
		r.config("pod", value)
	}
	r.Counts.Parsed++
	r.Counts.Kinds["scrape header"]++
}

func (r *reader) endScrape() {
	r.table.end()
	r.timed = false
	r.endLoads()
}

// stampLayouts are those of the comment; the last two state no zone.
var stampLayouts = []string{time.RFC3339Nano, "2006-01-02T15:04:05.999999999Z0700", "2006-01-02 15:04:05.999999999 UTC", "2006-01-02 15:04:05.999999999Z07:00", "2006-01-02T15:04:05.999999999", "2006-01-02 15:04:05.999999999"}

func (r *reader) stamp(text string) (int64, bool) {
	t, zoned, ok := stampOf(text, r.opt.TZ)
	if ok && !zoned && r.opt.TZ == nil {
		r.add(diag.Diag{Code: "no_zone", Severity: diag.Info, Offset: r.at, Msg: "the times of scrapes state no zone: they are taken as UTC", Fix: "give --tz"})
	}
	return t, ok
}

// stampOf reads the time in a comment; nil stands for UTC where it states no zone.
func stampOf(text string, zone *time.Location) (t int64, zoned, ok bool) {
	if zone == nil {
		zone = time.UTC
	}
	for i, layout := range stampLayouts {
		t, err := time.ParseInLocation(layout, text, zone)
		if err == nil && t.Year() >= 1970 && t.Year() <= 2200 {
			return t.UnixNano(), i < len(stampLayouts)-2, true
		}
	}
	return 0, false, false
}

// sample takes a line of values.
func (r *reader) sample(line []byte) {
	s, ok := parse(line)
	if !ok {
		r.skip("bad_sample", diag.DataLoss, "a line is neither a comment nor a sample of the text format of Prometheus")
		return
	}
	r.value(&s)
}

// value takes a sample.
func (r *reader) value(s *sample) {
	engine, _ := engineOf(s.name)
	if engine == "" && string(s.name) != processStart {
		r.noise("other program")
		return
	}
	scrape := r.table.scrape
	f, why := r.table.find(s)
	if f == nil {
		r.skip(why, diag.DataLoss, map[string]string{"bad_labels": "the labels of a sample are not well formed", "too_many_series": "there are more different samples than fit into memory"}[why])
		return
	}
	if s.finite {
		r.table.take(f, s)
	}
	r.ended(scrape)
	r.Counts.Parsed++
	if engine == "" || f.birth {
		r.Counts.Kinds["began"]++
		return
	}
	r.engineLines++
	r.origin(f)
	if bytes.HasSuffix(s.name, []byte("_info")) {
		r.info(f)
	}
	r.row(f, s)
}

// origin tells the run whose samples these are.
func (r *reader) origin(f *series) {
	switch {
	case r.run.Engine != "":
	case f.engine != anyEngine:
		r.run.Engine, r.run.Model = f.engine, f.model
	case r.run.Model == "":
		r.run.Model = f.model
	}
	if client := strings.HasPrefix(f.family, clientPrefix); r.engineLines == 1 && client {
		r.run.Side = trace.Client
	} else if !client {
		r.run.Side = trace.Server
	}
}

// row adds a row of a sample.
func (r *reader) row(f *series, s *sample) {
	b := r.builder
	b.Dict(trace.HistogramName, []byte(f.family))
	if len(f.text) > 0 {
		b.Dict(trace.HistogramLabels, f.text)
	}
	if f.replica != "" {
		b.Dict(trace.HistogramReplica, []byte(f.replica))
	}
	if f.model != "" {
		b.Dict(trace.HistogramModel, []byte(f.model))
	}
	t, timed := r.t, r.timed || s.timed
	if s.timed {
		t = s.t
	}
	if timed {
		b.Int(trace.HistogramT, t)
		if !r.stamped || t < r.from {
			r.from = t
		}
		if !r.stamped || t > r.to {
			r.to = t
		}
		r.stamped = true
	}
	if f.gauge && s.finite && f.rank == 0 {
		r.loads.add(f, s.value, moment{f.replica, t, timed}, r.at)
	}
	b.Code(trace.HistogramType, f.typ)
	b.Code(trace.HistogramStat, f.stat)
	r.Counts.Kinds[statNames[f.stat]]++
	if f.bounded {
		b.Float(trace.HistogramBound, f.bound)
	}
	if s.finite {
		b.Float(trace.HistogramValue, s.value)
	}
	if f.unit != "" {
		b.Dict(trace.HistogramUnit, []byte(f.unit))
	}
	b.Int(trace.HistogramOffset, r.at)
	b.EndRow()
}

var statNames = trace.Histograms.Fields[trace.HistogramStat].Values

// info takes the labels of an info sample as settings.
func (r *reader) info(f *series) {
	for _, l := range f.labels {
		if l.name != "engine" && l.name != "model_name" && l.value != "" && l.value != "None" {
			r.config(l.name, l.value)
		}
	}
}

func (r *reader) config(key, value string) {
	pair := key + "\x00" + value
	if len(value) > maxSetting || len(r.run.Config) >= maxSettings || r.settings[pair] {
		return
	}
	r.settings[pair] = true
	r.run.Config = append(r.run.Config, trace.Pair{Key: key, Value: value})
}

func (r *reader) noise(kind string) {
	r.Counts.Noise++
	r.Counts.Kinds[kind]++
}

func (r *reader) skip(code string, sev diag.Severity, msg string) {
	r.Counts.Diagnosed++
	r.Counts.Kinds["unknown"]++
	r.add(diag.Diag{Code: code, Severity: sev, Offset: r.at, Msg: msg})
}

func (r *reader) add(d diag.Diag) {
	d.File = r.src.Name()
	r.Log.Add(d)
}

// Err implements formats.Reader.
func (r *reader) Err() error {
	if r.other != nil {
		return r.other.err()
	}
	if r.api == nil {
		return r.stream.Err()
	}
	if err := r.api.c.Err(); err != nil {
		return fmt.Errorf("%s: %w", r.src.Name(), err)
	}
	return nil
}

// Runs implements formats.Reader.
func (r *reader) Runs() []*trace.RunMeta { return []*trace.RunMeta{r.run} }

// Close implements formats.Reader.
func (r *reader) Close() error {
	if r.other != nil {
		return r.other.close()
	}
	if r.api != nil {
		return r.api.rc.Close()
	}
	r.stream.Close()
	return nil
}
