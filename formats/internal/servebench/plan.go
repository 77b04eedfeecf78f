package servebench

import (
	"fmt"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
)

// tally counts what was noticed in the rows of one record.
type tally struct {
	zeroTTFT, silent, unknown, assumed   int64
	badLists, zeroCount, stripped        int64
	unplaced, ok, chunksDiffer, compared int64
}

// length is the length of one of a record's arrays.
type length struct {
	key      string
	n        int
	complete bool
}

// lengths lists the arrays of the record with one entry per request.
func (r *Record) lengths() (list []length) {
	for a := range CachedDevice {
		if c := &r.arrays[a]; c.present {
			list = append(list, length{arrayKeys[a], c.n, c.complete})
		}
	}
	if c := &r.arrays[CachedDevice]; c.present {
		list = append(list, length{"cached_tokens_details", c.n, c.complete})
	}
	if r.errors.present {
		list = append(list, length{"errors", r.errors.n, r.errors.complete})
	}
	if r.texts.present {
		list = append(list, length{"generated_texts", r.texts.n, r.texts.complete})
	}
	if r.lists.present && !r.lists.flat {
		list = append(list, length{"itls", r.lists.n, r.lists.complete})
	}
	return list
}

// requests returns the number of requests: the length that most arrays have,
// of several such the largest. An array that breaks off has no vote unless
// there is no other.
func requests(list []length) int {
	best, votes := 0, 0
	for _, l := range list {
		n := 0
		for _, m := range list {
			if m.n == l.n && m.complete && l.complete {
				n++
			}
		}
		if n > votes || n == votes && l.n > best {
			best, votes = l.n, n
		}
	}
	return best
}

// newRows decides which arrays of a record can be used and says why others
// cannot. Entries belong to one request only if the arrays are equally long;
// an array that breaks off is a prefix.
func newRows(rec *Record, meta *trace.RunMeta, rules Rules, lists bool, l *log) *rows {
	all := rec.lengths()
	w := &rows{rec: rec, meta: meta, rules: rules, lists: lists, n: requests(all), known: trace.Open}
	usable := make(map[string]bool)
	whole := false
	var other []string
	for _, a := range all {
		whole = whole || a.complete
		if usable[a.key] = a.n == w.n || !a.complete && a.n < w.n; !usable[a.key] {
			other = append(other, fmt.Sprintf("%s (%d)", a.key, a.n))
		}
	}
	if len(other) > 0 {
		l.add(diag.Diag{Code: "array_length", Severity: diag.DataLoss, Offset: rec.Offset, Count: int64(len(other)),
			Msg: fmt.Sprintf("most arrays have %d entries, others not, and which request their entries belong to is unknown; not used: %s", w.n, strings.Join(other, ", "))})
	}
	for a := range w.use {
		w.use[a] = usable[arrayKeys[a]]
	}
	w.errors, w.texts = usable["errors"], usable["generated_texts"]
	rec.misfits(l)
	if rec.lists.flat {
		l.add(diag.Diag{Code: "flat_itls", Severity: diag.DataLoss, Offset: rec.lists.from,
			Msg: "itls holds numbers instead of one list per request: gaps and last tokens are unknown"})
	}
	if !usable["itls"] {
		rec.lists = region{present: rec.lists.present}
	}
	w.noGaps = rec.lists.filled == 0 && !rec.lists.odd
	w.wantGaps = rec.lists.n > 0 && !w.noGaps
	if whole || !rec.Broken {
		w.known = w.completed()
	}
	w.streamed = !w.onePiece()
	if !w.streamed {
		l.add(diag.Diag{Code: "not_streamed", Severity: diag.Info, Offset: rec.Offset,
			Msg: "no response came in more than one chunk although several tokens were counted: the run was not streamed, ttfts are end-to-end times"})
	}
	return w
}

// misfits reports the entries that are of another kind than their array.
func (r *Record) misfits(l *log) {
	var keys []string
	count, first := 0, int64(-1)
	misfit := func(key string, n int, at int64) {
		if n > 0 {
			keys, count = append(keys, fmt.Sprintf("%s (%d)", key, n)), count+n
			if first < 0 || at < first {
				first = at
			}
		}
	}
	for a := range r.arrays {
		misfit(arrayKeys[a], r.arrays[a].bad, r.arrays[a].badAt)
	}
	misfit("errors", r.errors.bad, r.errors.badAt)
	if count > 0 {
		l.add(diag.Diag{Code: "bad_value", Severity: diag.DataLoss, Offset: first, Count: int64(count),
			Msg: "entries of another kind than the array holds are read as null: " + strings.Join(keys, ", ")})
	}
}

// completed tells the status that the producer's own count proves for every
// request: all succeeded, or none did. Otherwise it is Open: the text does not
// say how the request ended.
func (w *rows) completed() trace.Status {
	switch done, ok := w.rec.Number("completed"); {
	case ok && done == float64(w.n):
		return trace.OK
	case ok && done == 0:
		return trace.Failed
	}
	return trace.Open
}

// onePiece tells whether no response was streamed: more than one token, and
// not one gap in the whole run.
func (w *rows) onePiece() bool {
	if !w.noGaps || !w.rec.lists.complete || !w.use[OutputLens] || !w.use[TTFTs] {
		return false
	}
	for i := range w.n {
		if w.rec.arrays[OutputLens].at(i) > 1 && w.rec.arrays[TTFTs].at(i) > 0 {
			return true
		}
	}
	return false
}

// count adds a request to the tally. n is its entry of output_lens.
func (w *rows) count(q *request, n int64, known bool) {
	t := &w.tally
	_, timed := w.at(TTFTs)
	switch q.status {
	case trace.OK:
		t.ok++
		if timed && q.ttft == 0 && !w.rules.NoTokens {
			t.zeroTTFT++
		}
		if known && n == 0 && !w.rules.NoTokens {
			t.zeroCount++
		}
		if q.listed && q.counted && !w.rules.PerToken && w.streamed {
			t.compared++
			if int64(len(q.gaps)) != q.output-1 {
				t.chunksDiffer++
			}
		}
	case trace.Empty:
		if q.ttft == 0 {
			t.silent++
		}
	case trace.Open:
		t.unknown++
	}
}

// finish reports the tally.
func (w *rows) finish(l *log) {
	if w.gaps != nil {
		w.gaps.close()
	}
	if l.Counts.Kinds == nil {
		l.Counts.Kinds = make(map[string]int64)
	}
	l.Counts.Kinds["requests"] += int64(w.i)
	t := &w.tally
	for _, d := range []diag.Diag{
		{Code: "zero_ttft", Severity: diag.Notice, Count: t.zeroTTFT, Msg: "the time to first token is exactly 0, which this client writes where it measured none: read as null"},
		{Code: "silent_failure", Severity: diag.Notice, Count: t.silent, Msg: "the client counted a request as a success although no token came: read as empty, out of the latency figures"},
		{Code: "status_unknown", Severity: diag.DataLoss, Count: t.unknown, Msg: "the file does not say whether the request succeeded: it is counted as open"},
		{Code: "status_assumed", Severity: diag.Info, Count: t.assumed, Msg: "there is no array of errors: a request with output tokens is taken for a success, as the client writes 0 for failures"},
		{Code: "bad_gaps", Severity: diag.DataLoss, Count: t.badLists, Msg: "a list of itls holds something that is no duration: the gaps and the last token of its request are unknown"},
		{Code: "zero_count", Severity: diag.Notice, Count: t.zeroCount, Msg: "0 output tokens are recorded for a request that produced text: the count is unknown"},
		{Code: "ttft_in_itls", Severity: diag.Notice, Count: t.stripped, Msg: "the first entry of the gaps is the time to first token: it was taken off"},
		{Code: "no_start_time", Severity: diag.Notice, Count: t.unplaced, Msg: "the start time of the request is null: its stamps count from its own start"},
	} {
		if d.Count > 0 {
			d.Offset = w.rec.Offset
			l.add(d)
		}
	}
	if t.chunksDiffer > 0 {
		w.meta.Notes = append(w.meta.Notes, fmt.Sprintf("chunks_not_tokens: %d of %d requests have another number of gaps than tokens less one; chunk gaps are not token latencies here", t.chunksDiffer, t.compared))
	}
}
