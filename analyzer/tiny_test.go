package analyzer

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"testing"

	"servescope/analyzer/assemble"
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// The tiny format of these tests: a line per request,
//
//	tiny RUN TENANT SENT PROMPT GAP,GAP,…
//
// on a clock named by the run's first letter (w wall, m monotonic, r run, q
// request). A line "tiny RUN note" is a run without requests, "tiny RUN
// claims METRIC STAT VALUE" one of its producer's figures; others are bad. All
// runs of a file have key 0 unless their name ends in a digit. A run is measured
// at the client, but one whose name begins with S at the server.
var tiny = &formats.Format{Name: "tiny", Priority: 1, Shape: formats.Records, Open: openTiny,
	Sniff: func(h *formats.Head) (formats.Score, string) {
		if bytes.HasPrefix(h.Start, []byte("tiny ")) {
			return formats.Sure, "begins with tiny"
		}
		return formats.No, "does not begin with tiny"
	}}

// tinyDocument is the same as a format that only its reader may cut.
var tinyDocument = &formats.Format{Name: "tinydoc", Priority: 2, Shape: formats.Document, Open: openTiny,
	Sniff: func(h *formats.Head) (formats.Score, string) {
		if bytes.HasPrefix(h.Start, []byte("#doc\n")) {
			return formats.Sure, "begins with #doc"
		}
		return formats.No, "does not begin with #doc"
	}}

type tinyReader struct {
	formats.Base
	ctx  context.Context
	src  formats.Source
	text *bytes.Buffer
	off  int64
	size int // rows in a batch
	opt  formats.Options
	b    *trace.Builder
	out  *trace.Batch
	runs map[int64]*trace.RunMeta
	log  diag.Log
	acc  formats.Account
	err  error
}

func openTiny(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	r, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	all, err := io.ReadAll(r)
	if rng.To < 0 {
		rng.To = int64(len(all))
	}
	begin := func(off int64) int64 { // the first line that starts at or after off
		for off > 0 && off < int64(len(all)) && all[off-1] != '\n' {
			off++
		}
		return min(off, int64(len(all)))
	}
	from, to := begin(rng.From), begin(rng.To)
	size := opt.Block
	if size == 0 {
		size = 3
	}
	return &tinyReader{ctx: ctx, src: src, text: bytes.NewBuffer(all[from:to]), off: from, size: size, opt: opt, err: err,
		b: trace.NewBuilder(trace.Requests), runs: make(map[int64]*trace.RunMeta)}, nil
}

func (r *tinyReader) Next() bool {
	var run *trace.RunMeta
	for r.b.Rows() < r.size {
		line, err := r.text.ReadBytes('\n')
		off := r.off
		r.off += int64(len(line))
		if len(line) == 0 && err != nil {
			break
		}
		r.acc.Total++
		if m := r.line(off, strings.Fields(string(line)), run); m != nil {
			if run = m; m.Key != 0 {
				break // a batch is of one run
			}
		}
	}
	if r.b.Rows() == 0 {
		return false
	}
	r.out = r.b.Take(run, r.src.Name())
	return true
}

// line reads one line and returns the run of the row it has added, or nil.
func (r *tinyReader) line(off int64, f []string, current *trace.RunMeta) *trace.RunMeta {
	if len(f) == 0 || f[0] == "#doc" {
		r.acc.Noise++
		return nil
	}
	if f[0] != "tiny" || len(f) < 3 {
		r.acc.Diagnosed++
		r.log.Add(diag.Diag{Code: "bad_line", Severity: diag.DataLoss, File: r.src.Name(), Offset: off, Msg: "not a tiny line"})
		return nil
	}
	r.acc.Parsed++
	key := int64(0)
	if c := f[1][len(f[1])-1]; '0' <= c && c <= '9' {
		key = int64(c-'0') + 1
	}
	m := r.runs[key]
	if m == nil {
		kind := map[byte]trace.ClockKind{'w': trace.Wall, 'm': trace.Monotonic, 'r': trace.RunClock, 'q': trace.RequestClock}[f[1][0]]
		m = &trace.RunMeta{Key: key, Format: "tiny", Side: trace.Client, Clock: trace.Clock{Kind: kind}}
		if f[1][0] == 'S' {
			m.Side = trace.Server
		}
		r.runs[key] = m
	}
	switch {
	case f[2] == "note":
		m.NoRequests = "this file holds no per-request data"
	case f[2] == "claims":
		v, _ := strconv.ParseFloat(f[5], 64)
		m.Reported = append(m.Reported, trace.Reported{Key: f[3] + "_" + f[4], Metric: f[3], Stat: f[4], Value: v, Unit: "ns"})
		m.DefaultDefinition = "other"
	default:
		r.row(off, f)
		return m
	}
	return nil
}

func (r *tinyReader) row(off int64, f []string) {
	if f[2] != "-" {
		r.b.Dict(trace.Tenant, []byte(f[2]))
	}
	number := func(c trace.Col, s string) {
		if v, err := strconv.ParseInt(s, 10, 64); err == nil {
			r.b.Int(c, v)
		}
	}
	number(trace.Sent, f[3])
	number(trace.PromptTokens, f[4])
	if len(f) > 5 && r.opt.Lists {
		var gaps []int64
		for _, g := range strings.Split(f[5], ",") {
			v, _ := strconv.ParseInt(g, 10, 64)
			gaps = append(gaps, v)
		}
		r.b.List(trace.ChunkGaps, gaps)
	}
	r.b.Code(trace.StatusCol, int32(trace.OK))
	r.b.Int(trace.Offset, off)
	r.b.EndRow()
}

func (r *tinyReader) Batch() *trace.Batch { return r.out }
func (r *tinyReader) Err() error          { return r.err }
func (r *tinyReader) Diags() *diag.Log    { return &r.log }
func (r *tinyReader) Runs() []*trace.RunMeta {
	var out []*trace.RunMeta
	for _, m := range r.runs {
		out = append(out, m)
	}
	slices.SortFunc(out, func(a, b *trace.RunMeta) int { return int(a.Key - b.Key) })
	return out
}
func (r *tinyReader) Account() formats.Account { return r.acc }
func (r *tinyReader) Close() error             { return nil }

// sums is the kernel of these tests: per cell the number of requests and, in a
// second pass that the facts of the first decide, the sum of the gaps above the
// smallest prompt. In a window and in the query's interval a request is filed by
// its send.
type sums struct{}

func (k sums) Name() string { return "sums" }
func (k sums) Lists() bool  { return true }
func (k sums) New(q *query.Query, facts *kernel.Facts) kernel.State {
	s := &sumState{q: q, facts: facts, cells: make(map[sumKey]*sumCell), smallest: 1 << 60}
	if b := facts.Private["sums"]; b != nil {
		s.limit = int64(binary.LittleEndian.Uint64(b))
	}
	return s
}

type sumKey struct {
	run, group int32
	window     int64
}

type sumCell struct{ n, filtered, gaps int64 }

type sumState struct {
	kernel.Defaults
	q               *query.Query
	facts           *kernel.Facts
	cells           map[sumKey]*sumCell
	smallest, limit int64
}

func (s *sumState) cell(k sumKey) *sumCell {
	if s.cells[k] == nil {
		s.cells[k] = new(sumCell)
	}
	return s.cells[k]
}

func (s *sumState) Update(v *kernel.View) {
	sent, prompt, gaps := v.Ints(trace.Sent), v.Ints(trace.PromptTokens), v.Lists(trace.ChunkGaps)
	clocks := dataset.ClocksOf(v.Batch)
	for i := range v.Rows {
		whole := s.cell(sumKey{v.RunIndex, -1, kernel.NoWindow})
		outside := false
		if at, ok := sent.At(i); ok && s.q.Timed() {
			clock, _ := trace.ParseClock(clocks.At(i))
			from, to := s.facts.Runs[v.RunIndex].Bound(s.q, clock)
			outside = at < from || at >= to
		}
		if v.Group[i] < 0 || outside {
			whole.filtered++
			continue
		}
		cells, group := []*sumCell{whole}, int32(-1)
		if len(s.q.By) > 0 {
			group = v.Group[i]
			cells = append(cells, s.cell(sumKey{v.RunIndex, group, kernel.NoWindow}))
		}
		if at, ok := sent.At(i); ok && s.q.Window > 0 {
			cells = append(cells, s.cell(sumKey{v.RunIndex, group, at / s.q.Window * s.q.Window}))
		}
		if p, ok := prompt.At(i); ok {
			s.smallest = min(s.smallest, p)
		}
		for _, c := range cells {
			c.n++
			list, _ := gaps.At(i)
			for _, g := range list {
				if g > s.limit {
					c.gaps += g
				}
			}
		}
	}
}

func (s *sumState) Merge(other kernel.State) error {
	o := other.(*sumState)
	s.smallest = min(s.smallest, o.smallest)
	for k, c := range o.cells {
		mine := s.cell(k)
		mine.n, mine.filtered, mine.gaps = mine.n+c.n, mine.filtered+c.filtered, mine.gaps+c.gaps
	}
	return nil
}

func (s *sumState) AppendState(dst []byte) []byte { return dst }
func (s *sumState) LoadState([]byte) error        { return errors.ErrUnsupported }
func (s *sumState) Size() int64                   { return 0 }

func (s *sumState) Next(f *kernel.Facts) bool {
	if s.facts.Pass > 0 {
		return false
	}
	f.Private["sums"] = binary.LittleEndian.AppendUint64(nil, uint64(s.smallest))
	return true
}

func (s *sumState) Finish(out kernel.Output) {
	for k, c := range s.cells {
		cell := out.Cell(k.run, k.group, k.window)
		cell.Requests = report.Requests{Total: c.n, OK: c.n, Filtered: c.filtered}
		cell.Metrics = map[string]report.Metric{"gaps": {N: c.n, Unit: "ns", Mean: float64(c.gaps) / float64(max(c.n, 1)), Max: float64(c.gaps)}}
	}
}

// tinyEngine computes the figures of kernel sums.
func tinyEngine() *assemble.Figures {
	return &assemble.Figures{Definition: report.Definition{Name: "default"}, Kernels: []kernel.Kernel{sums{}}, Distributions: map[string]report.Metric{"gaps": {Unit: "ns"}}}
}

// textFile is one input of a test: a name, a label or "", and its text.
type textFile struct{ name, label, text string }

// inputsOf returns inputs in memory.
func inputsOf(list ...textFile) *source.Inputs {
	in := new(source.Inputs)
	for _, s := range list {
		in.List = append(in.List, source.Input{Source: source.FromBytes(s.name, []byte(s.text)), Label: s.label, Named: true})
	}
	return in
}

// openTest opens a session on sources of the tiny formats.
func openTest(t *testing.T, opt load.Options, cut int64, list ...textFile) *Session {
	t.Helper()
	s, err := Open(t.Context(), formats.NewSet(tiny, tinyDocument), inputsOf(list...), "", opt)
	if err != nil {
		t.Fatal(err)
	}
	if cut > 0 {
		s.in.RangeSize, s.in.BatchRows = cut, 1+int(cut%13)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// runTest answers q, which must work.
func runTest(t *testing.T, s *Session, q *query.Query) *report.Report {
	t.Helper()
	r, err := s.run(t.Context(), q, tinyEngine())
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// jsonOf is the report as it is printed.
func jsonOf(t *testing.T, r *report.Report) string {
	t.Helper()
	b, err := r.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// numbers is a report in short: label, total, removed rows and sum of the gaps
// of each run, group and window.
func numbers(r *report.Report) string {
	var b strings.Builder
	cell := func(c *report.Cell) {
		fmt.Fprintf(&b, " n=%d sum=%g", c.Requests.Total, c.Metrics["gaps"].Max)
	}
	for _, run := range r.Runs {
		fmt.Fprintf(&b, "%s:", run.Label)
		cell(&run.Cell)
		if run.Requests.Filtered > 0 {
			fmt.Fprintf(&b, " removed=%d/%d/%d", run.Removed.Filter, run.Removed.Interval, run.Removed.Trim)
		}
		if run.Untrimmed != nil {
			b.WriteString(" untrimmed")
			cell(run.Untrimmed)
		}
		for _, w := range run.Windows {
			fmt.Fprintf(&b, " [%d,%d)", w.From, w.To)
			cell(&w.Cell)
		}
		for _, g := range run.Groups {
			var keys []string
			for k, v := range g.By {
				keys = append(keys, k+"="+v)
			}
			slices.Sort(keys)
			fmt.Fprintf(&b, " {%s}", strings.Join(keys, ","))
			cell(&g.Cell)
			for _, w := range g.Windows {
				fmt.Fprintf(&b, " [%d,%d)", w.From, w.To)
				cell(&w.Cell)
			}
		}
		b.WriteString("\n")
	}
	return b.String()
}
