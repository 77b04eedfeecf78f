package records

import (
	"time"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/assemble"
)

// Writer is where a Fold puts what it made of a source.
type Writer struct {
	Builder *trace.Builder // of the requests table
	Run     *trace.RunMeta
	Lists   bool           // whether lists are wanted
	Zone    *time.Location // of stamps that state none; nil: not given
	Rows    int64          // of the source, by EndRow

	notes   assemble.Notes
	log     *diag.Log
	account formats.Account
	claims  []claim
}

// claim is a figure that a producer states of each request.
type claim struct {
	key, metric string
	unit        unit.Unit
	n           int64
	sum, step   float64
}

func newWriter(src formats.Source, run *trace.RunMeta) Writer {
	w := Writer{Builder: trace.NewBuilder(trace.Requests), Run: run, log: new(diag.Log)}
	w.notes = assemble.Notes{File: src.Name(), Log: w.log}
	w.account.Kinds = make(map[string]int64)
	return w
}

// EndRow ends the row that begins at an offset.
func (w *Writer) EndRow(at int64) {
	w.Builder.Int(trace.Offset, at)
	w.Builder.EndRow()
	w.Rows++
}

// Parsed accounts for an object or line that was used.
func (w *Writer) Parsed(kind string) {
	w.account.Total++
	w.account.Parsed++
	w.account.Kinds[kind]++
}

// Noise accounts for one that is known to carry nothing.
func (w *Writer) Noise() {
	w.account.Total++
	w.account.Noise++
}

// Skip accounts for one that is of no use, and says why.
func (w *Writer) Skip(p *assemble.Problem, at int64) {
	w.account.Total++
	w.account.Diagnosed++
	w.Note(p, at)
}

// Note says what is wrong with the record at an offset.
func (w *Writer) Note(p *assemble.Problem, at int64) { w.notes.Note(p, at) }

// reset forgets what was accounted for and noted.
func (w *Writer) reset() {
	*w.log = diag.Log{}
	clear(w.account.Kinds)
	w.account = formats.Account{Kinds: w.account.Kinds}
}

// merge adds what another accounted for and noted.
func (w *Writer) merge(of *Writer) {
	w.log.Merge(of.log)
	w.account.Total += of.account.Total
	w.account.Parsed += of.account.Parsed
	w.account.Diagnosed += of.account.Diagnosed
	w.account.Noise += of.account.Noise
	for kind, n := range of.account.Kinds {
		w.account.Kinds[kind] += n
	}
}

// Claim takes a figure that the producer computed for one request. The mean of
// them is reported of the run, never used. metric is ours that it stands beside,
// of the same requests, or empty; step is how far the producer's rounding may be off.
// The conversion keeps a product that is handed in from being fused with the sum.
func (w *Writer) Claim(key, metric string, u unit.Unit, v, step float64) {
	for i := range w.claims {
		if c := &w.claims[i]; c.key == key && c.metric == metric {
			c.n++
			c.sum += float64(v)
			return
		}
	}
	w.claims = append(w.claims, claim{key, metric, u, 1, v, step})
}

// reported returns the means of the figures that were claimed.
func (w *Writer) reported() (list []trace.Reported) {
	for _, c := range w.claims {
		list = append(list, trace.Reported{Key: c.key, Metric: c.metric, Stat: "mean", Value: c.sum / float64(c.n), Unit: c.unit, Step: c.step})
	}
	return list
}

// Diags implements formats.Reader.
func (w *Writer) Diags() *diag.Log { return w.log }

// Runs implements formats.Reader.
func (w *Writer) Runs() []*trace.RunMeta { return []*trace.RunMeta{w.Run} }

// Account implements formats.Reader: of objects, and of lines that are none.
func (w *Writer) Account() formats.Account { return w.account }

// Folded implements formats.Reader: no batch is folded before it is handed out.
func (w *Writer) Folded() bool { return false }
