package servebench

import (
	"math"
	"strconv"

	"servescope/analyzer/trace"
)

// rows makes the rows of one record.
type rows struct {
	rec      *Record
	meta     *trace.RunMeta
	rules    Rules
	n, i     int
	use      [numArrays]bool
	errors   bool // the array of errors is usable, and so on
	texts    bool
	wantGaps bool // there are gaps to read
	noGaps   bool // every list is empty
	lists    bool // the caller wants chunk_gaps
	streamed bool
	known    trace.Status // status of every request when completed tells; else Open
	gaps     gapSource
	ahead    part // lists looked at ahead of time
	first    bool // the first gap of each list is the TTFT
	tally    tally
	id       []byte
	perChunk []int64 // values for chunk_tokens
}

// at returns entry i of an array, unless it is null or unusable.
func (w *rows) at(a Array) (int64, bool) {
	c := &w.rec.arrays[a]
	if !w.use[a] || w.i >= c.n {
		return 0, false
	}
	if v := c.at(w.i); v != null {
		return v, true
	}
	return 0, false
}

// request is what the arrays say about one request.
type request struct {
	sent           int64
	placed         bool  // sent is a point on the run's clock
	ttft           int64 // 0: unknown
	latency        int64 // 0: unknown
	gaps           []int64
	listed         bool // the gaps are known
	sum            int64
	output         int64
	counted, asked bool // output is a count; a length asked for
	status         trace.Status
	class          int32
}

// row writes one row.
func (w *rows) row(b *trace.Builder) error {
	q, err := w.request()
	if err != nil {
		return err
	}
	w.id = strconv.AppendInt(w.id[:0], int64(w.i), 10)
	b.Text(trace.RequestID, w.id)
	b.Code(trace.SideCol, int32(trace.Client))
	b.Code(trace.StatusCol, int32(q.status))
	b.Int(trace.Offset, w.rec.Offset)
	if q.class > 0 {
		b.Dict(trace.ErrorClass, []byte(w.rec.classes[q.class-1]))
	}
	if w.meta.Engine != "" {
		b.Dict(trace.EngineCol, []byte(w.meta.Engine))
	}
	if w.meta.Model != "" {
		b.Dict(trace.Model, []byte(w.meta.Model))
	}
	w.stamps(b, &q)
	w.counts(b, &q)
	b.EndRow()
	w.i++
	return nil
}

// request collects the entries of request i.
func (w *rows) request() (q request, err error) {
	q.ttft, _ = w.at(TTFTs)
	q.latency, _ = w.at(Latencies)
	if q.gaps, q.listed, err = w.nextGaps(); err != nil {
		return q, err
	}
	if w.first && w.startsWithTTFT(q.gaps, q.ttft, q.latency) {
		q.gaps = q.gaps[1:]
		w.tally.stripped++
	}
	if q.listed {
		q.sum, q.listed = sum(q.gaps)
	}
	n, ok := w.at(OutputLens)
	q.status, q.class = w.status(n, ok, &q)
	if ok && n > 0 {
		q.output, q.counted, q.asked = n, w.rules.Counted, !w.rules.Counted
	}
	q.counted = q.counted && q.status != trace.Empty
	q.sent, q.placed = w.at(StartTimes)
	if !w.use[StartTimes] {
		q.placed = true
	}
	w.count(&q, n, ok)
	return q, nil
}

// status decides how request i ended. A client writes an error text for a
// failure; what it took for a success although nothing came is empty.
func (w *rows) status(output int64, ok bool, q *request) (trace.Status, int32) {
	class := int32(-1)
	if w.errors && w.i < w.rec.errors.n {
		class = w.rec.errors.at(w.i)
	}
	switch {
	case class > 0:
		return trace.Failed, class
	case class < 0 && w.known != trace.OK:
		if w.known == trace.Open && !w.rec.Broken && !w.rec.errors.present && ok && output > 0 {
			w.tally.assumed++ // both clients write 0 for failures
			return trace.OK, 0
		}
		return w.known, 0
	case w.rules.NoTokens:
		return trace.OK, 0
	}
	if w.tokens(output, ok, q) {
		return trace.OK, 0
	}
	return trace.Empty, 0
}

// tokens tells whether a request that ended without an error produced anything.
// output is its entry of output_lens, if ok.
func (w *rows) tokens(output int64, ok bool, q *request) bool {
	text := int8(-1)
	if w.texts && w.i < w.rec.texts.n {
		text = w.rec.texts.at(w.i)
	}
	_, timed := w.at(TTFTs)
	seen := timed || q.listed
	chunks := q.ttft > 0 || len(q.gaps) > 0
	switch {
	case text == 1:
		return true
	case w.rules.TextChunks && seen:
		return chunks
	case ok && output > 0:
		return true
	case text == 0:
		return false
	case ok: // no token was counted; the first chunk and the last may be empty
		return len(q.gaps) > 1
	}
	return chunks || !seen
}

// stamps writes the points in time and the clock they are on.
func (w *rows) stamps(b *trace.Builder, q *request) {
	if !q.placed { // no start time: the row stands alone
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		w.tally.unplaced++
	}
	b.Int(trace.Sent, q.sent)
	if wait, ok := w.at(QueueTimes); ok {
		b.Int(trace.DClientWait, wait)
		if w.use[StartTimes] && q.placed {
			b.Int(trace.ScheduledSend, q.sent-wait)
		}
	}
	if q.latency > 0 {
		b.Int(trace.Finished, q.sent+q.latency)
	}
	if q.ttft == 0 {
		return
	}
	first := q.sent + q.ttft
	if !w.streamed { // the response came in one piece: this is its end
		b.Int(trace.LastToken, first)
		b.Int(trace.Finished, first)
		return
	}
	if w.rules.RoleChunk || q.status == trace.Empty {
		b.Int(trace.FirstEvent, first)
	}
	if q.status == trace.Empty {
		return
	}
	b.Int(trace.FirstToken, first)
	if q.listed {
		b.Int(trace.LastToken, first+q.sum)
	}
}

// counts writes the numbers of tokens and the gaps.
func (w *rows) counts(b *trace.Builder, q *request) {
	for _, p := range [...]struct {
		a Array
		c trace.Col
	}{{InputLens, trace.PromptTokens}, {CachedTokens, trace.CachedTokens}, {CachedDevice, trace.CachedDevice},
		{CachedHost, trace.CachedHost}, {CachedStorage, trace.CachedStorage}} {
		if v, ok := w.at(p.a); ok {
			b.Int(p.c, v)
		}
	}
	switch {
	case q.counted:
		b.Int(trace.OutputTokens, q.output)
		b.Code(trace.OutputTokensSource, int32(w.rules.Source))
	case q.asked:
		b.Int(trace.MaxTokens, q.output)
		b.Code(trace.OutputTokensSource, int32(trace.FromRequested))
	}
	if w.rec.lists.present {
		b.Bool(trace.Stream, w.streamed)
	}
	if !q.listed || !w.streamed {
		return
	}
	if w.lists {
		b.List(trace.ChunkGaps, q.gaps)
	}
	if k := q.output - int64(len(q.gaps)); w.rules.PerToken && q.counted && k > 0 {
		b.Int(trace.FirstChunkTokens, k)
		if w.lists {
			for len(w.perChunk) < len(q.gaps)+1 {
				w.perChunk = append(w.perChunk, 1)
			}
			w.perChunk[0] = k
			b.List(trace.ChunkTokens, w.perChunk[:len(q.gaps)+1])
		}
	}
}

// nextGaps returns the gaps of request i; ok is false when they are unknown.
func (w *rows) nextGaps() (gaps []int64, ok bool, err error) {
	switch {
	case w.ahead.next < len(w.ahead.lists):
		gaps, ok = w.ahead.take()
		return gaps, ok, nil
	case w.i >= w.rec.lists.n || w.rec.lists.flat:
		return nil, false, nil
	case w.noGaps:
		return nil, true, nil
	case w.gaps == nil:
		return nil, false, nil
	}
	if gaps, ok, err = w.gaps.next(); err == nil && !ok {
		w.tally.badLists++
	}
	return gaps, ok, err
}

// lookAhead is the number of lists that show whether TTFTs are among the gaps.
const lookAhead = 16

// look reads the first lists and decides whether each begins with the TTFT, as
// one release wrote them (vllm-project/vllm#7242): the two are then stamps of
// the same chunk, microseconds apart.
func (w *rows) look() error {
	if w.gaps == nil || !w.use[TTFTs] {
		return nil
	}
	same, other := 0, 0
	for i := range min(lookAhead, w.rec.lists.n, w.rec.arrays[TTFTs].n) {
		gaps, ok, err := w.gaps.next()
		if err != nil {
			return err
		}
		start := len(w.ahead.gaps)
		w.ahead.gaps = append(w.ahead.gaps, gaps...)
		w.ahead.close(start, !ok)
		if !ok {
			w.tally.badLists++
		}
		ttft, latency := w.rec.arrays[TTFTs].at(i), int64(0)
		if w.use[Latencies] && i < w.rec.arrays[Latencies].n {
			latency = max(0, w.rec.arrays[Latencies].at(i))
		}
		switch {
		case len(gaps) == 0 || ttft <= 0:
		case w.startsWithTTFT(gaps, ttft, latency):
			same++
			if latency > 0 { // it also shows in the sum
				same += 2
			}
		default:
			other++
		}
	}
	w.first = same >= 3 && other == 0
	return nil
}

// sameChunk is how far apart two stamps of one chunk may be.
const sameChunk = 20_000

// startsWithTTFT tells whether the first gap is the time from the send. Where
// the end is known, the gaps then add up to all of it.
func (w *rows) startsWithTTFT(gaps []int64, ttft, latency int64) bool {
	if len(gaps) == 0 || ttft <= 0 || ttft-gaps[0] < -sameChunk || ttft-gaps[0] > sameChunk {
		return false
	}
	total, ok := sum(gaps)
	return ok && (latency <= 0 || abs(total-latency) < abs(total+ttft-latency))
}

func abs(v int64) int64 {
	if v < 0 {
		return -v
	}
	return v
}

// sum adds durations; ok is false when the sum is no plausible time. Mostly all
// are short, and so few that their sum is known to fit before they are added.
func sum(gaps []int64) (total int64, ok bool) {
	var most int64 // has every bit that one of them has, or its complement if it is negative
	for _, g := range gaps {
		total += g
		most |= g ^ g>>63
	}
	if most < 1<<62/maxGaps {
		return total, true
	}
	total = 0
	for _, g := range gaps {
		if g > maxDuration || g < -maxDuration {
			return 0, false
		}
		if total += g; total > math.MaxInt64/2 {
			return 0, false
		}
	}
	return total, true
}

// maxDuration is over a century; no sum of two of them overflows.
const maxDuration = math.MaxInt64 / 4
