package sglmeta

import (
	"bytes"
	"slices"
	"strconv"

	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
)

// oldest is the least stamp in ns that counts as an epoch: 2001. Hosts are not up
// for 31 years.
const oldest = 1e18

// epochStep is the step in ns of a float64 that holds seconds since the epoch: 2⁻²² s.
const epochStep = 238

// stamps are the slots of kind epoch that a row may use.
var stamps = [...]int{received, scheduled, sentToScheduler, dispatched, forwardEntry, prefillFinished, prefillFinishedTS, responseSent, responseSentTS, finished}

// Row sets the columns of the current row of b, a builder of the requests table,
// all but side, offset and what the caller knows better. note gets the problems.
func (m *Meta) Row(b *trace.Builder, note func(*Problem)) {
	if m.sentinels > 0 {
		note(assemble.UnknownStamp)
	}
	m.clock(b, note)
	m.sane(note)
	m.ends()
	m.identity(b, note)
	m.counts(b)
	m.status(b)
	m.stages(b, note)
}

// clock drops the stamps that are not on the clock of the others.
func (m *Meta) clock(b *trace.Builder, note func(*Problem)) {
	var wall, boot int
	for _, s := range stamps {
		if m.has(s) {
			if m.ints[s] >= oldest {
				wall++
			} else {
				boot++
			}
		}
	}
	if wall > 0 {
		b.Int(trace.Resolution, epochStep)
	}
	if boot == 0 {
		return
	}
	note(perfCounter)
	if wall == 0 {
		b.Dict(trace.ClockCol, []byte(trace.Monotonic.String()))
		m.Received, m.Finished = Stamp{}, Stamp{}
		return
	}
	for _, s := range stamps {
		if m.has(s) && m.ints[s] < oldest {
			m.drop(s)
		}
	}
}

// sane drops values that SGLang computed of stamps it did not have.
func (m *Meta) sane(note func(*Problem)) {
	if m.has(delays) {
		note(unusedDelays)
	}
	if m.has(launches) {
		note(unusedLaunches)
	}
	if m.has(inferenceTime) && m.has(e2eLatency) && m.ints[inferenceTime] > m.ints[e2eLatency] {
		note(garbage)
		m.drop(queueTime)
	}
	if m.has(queueTime) && m.ints[queueTime] < 0 {
		note(negativeQueue)
	}
}

// ends completes the two ends of the request, where one has no stamp, by the
// e2e_latency between them.
func (m *Meta) ends() {
	switch whole := m.ints[e2eLatency]; {
	case !m.has(e2eLatency) || whole <= 0 || m.has(received) == m.has(finished):
	case m.has(received):
		m.ints[finished] = m.ints[received] + whole
		m.have |= 1 << finished
	default:
		m.ints[received] = m.ints[finished] - whole
		m.have |= 1 << received
	}
}

// identity sets who the request is.
func (m *Meta) identity(b *trace.Builder, note func(*Problem)) {
	if name := m.ID(); len(name) > 0 {
		b.Text(trace.RequestID, name)
	} else {
		note(noID)
	}
	if group := Room(string(m.texts[room])); m.has(room) && group != "" {
		b.Text(trace.JoinGroup, []byte(group))
	}
	if m.has(lora) {
		b.Dict(trace.LoRA, m.texts[lora])
	}
	if m.has(dpRank) {
		b.Dict(trace.Replica, strconv.AppendInt(nil, m.ints[dpRank], 10))
	}
}

// countColumns are the columns of slots that go into them as they are.
var countColumns = [...]struct {
	slot int
	col  trace.Col
}{
	{promptTokens, trace.PromptTokens}, {cachedTokens, trace.CachedTokens},
	{cachedDevice, trace.CachedDevice}, {cachedHost, trace.CachedHost}, {cachedStorage, trace.CachedStorage},
	{completionTokens, trace.OutputTokens}, {reasoningTokens, trace.ReasoningTokens},
	{retractions, trace.Preemptions}, {maxTokens, trace.MaxTokens}, {choices, trace.NChoices},
	{verifySteps, trace.VerifySteps}, {specAccepted, trace.SpecAccepted}, {specDrafted, trace.SpecDrafted},
}

func (m *Meta) counts(b *trace.Builder) {
	for _, c := range countColumns {
		if m.has(c.slot) {
			b.Int(c.col, m.ints[c.slot])
		}
	}
	if m.has(completionTokens) {
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
	}
	if m.has(stream) {
		b.Bool(trace.Stream, m.ints[stream] != 0)
	}
}

// waitingQueue is in the message of an abort before the first forward pass.
var waitingQueue = []byte("waiting queue")

// ended tells how the request did.
func (m *Meta) ended() trace.Status {
	why := m.texts[reason]
	switch {
	case m.has(reason) && (bytes.EqualFold(why, []byte("abort")) || bytes.HasPrefix(why, []byte("FINISH_ABORT"))):
		return trace.Aborted
	case m.has(completionTokens) && m.ints[completionTokens] == 0:
		return trace.Empty
	}
	return trace.OK
}

func (m *Meta) status(b *trace.Builder) {
	s := m.ended()
	b.Code(trace.StatusCol, int32(s))
	if m.has(reason) {
		why, _, _ := bytes.Cut(m.texts[reason], []byte(":")) // v0.3: FINISH_MATCHED_STR: a text of the user's
		b.Dict(trace.FinishReason, why)
	}
	if s != trace.Aborted {
		return
	}
	switch {
	case m.has(reasonError):
		b.Dict(trace.ErrorClass, m.texts[reasonError])
	case m.has(reasonStatus):
		b.Dict(trace.ErrorClass, append([]byte("http_"), m.texts[reasonStatus]...))
	}
	switch {
	case m.has(reasonMessage) && bytes.Contains(m.texts[reasonMessage], waitingQueue):
		b.Code(trace.AbortPhase, 1)
	case m.has(completionTokens) && m.ints[completionTokens] > 0:
		b.Code(trace.AbortPhase, 3)
	}
}

// stages sets stamps and durations.
func (m *Meta) stages(b *trace.Builder, note func(*Problem)) {
	set := func(c trace.Col, slot int) {
		if m.has(slot) {
			b.Int(c, m.ints[slot])
		}
	}
	set(trace.Received, received)
	set(trace.Dispatched, sentToScheduler)
	set(trace.Dispatched, dispatched)
	set(trace.Admitted, forwardEntry)
	if m.scheduled() {
		set(trace.PrefillEnd, prefillFinishedTS)
	}
	set(trace.PrefillEnd, prefillFinished)
	set(trace.Finished, finished)
	m.queue(b)
	m.first(b, note)
	m.lines(b, note)
	if m.has(finished) && m.ended() == trace.OK {
		b.Int(trace.LastToken, m.ints[finished])
	}
}

// queue sets the wait in the scheduler's queue, and what is measured together.
func (m *Meta) queue(b *trace.Builder) {
	leaves, from, to, less := m.merged()
	if len(leaves) > 0 {
		b.Dict(trace.MergedLeaves, []byte(trace.Merged(leaves...)))
		b.Int(trace.DMerged, to-from-less)
	}
	if !m.has(queueTime) || slices.Contains(leaves, "queue") {
		return
	}
	b.Int(trace.DQueue, m.ints[queueTime])
	if m.has(forwardEntry) && !m.requeued() {
		b.Int(trace.Queued, m.ints[forwardEntry]-m.ints[queueTime])
	}
}

// requeued reports whether queue_time is of no use: the stamp of a retracted
// request's entry is that of the last one, the forward pass is the first.
func (m *Meta) requeued() bool {
	return m.has(queueTime) && m.ints[queueTime] < 0 || m.has(retractions) && m.ints[retractions] > 0
}

// merged returns the stages that the record measures together only: from one stamp
// to the other, less a stage of its own that lies between.
func (m *Meta) merged() (leaves []string, from, to, less int64) {
	dispatch, first := dispatched, responseSent
	if !m.has(dispatch) {
		dispatch = sentToScheduler
	}
	if !m.has(first) {
		first = responseSentTS
	}
	if m.has(forwardEntry) {
		if m.requeued() && m.has(dispatch) {
			return []string{"ingress", "queue"}, m.ints[dispatch], m.ints[forwardEntry], 0
		}
		return nil, 0, 0, 0
	}
	if !m.has(first) || !m.has(stream) || m.ints[stream] == 0 {
		return nil, 0, 0, 0
	}
	useful := m.has(queueTime) && !m.requeued()
	if useful {
		less = m.ints[queueTime]
	}
	switch {
	case m.has(sentToScheduler) && m.scheduled() && useful:
		return []string{"ingress", "prefill"}, m.ints[sentToScheduler], m.ints[prefillFinishedTS], less
	case m.has(sentToScheduler) && useful:
		return []string{"ingress", "prefill", "egress"}, m.ints[sentToScheduler], m.ints[first], less
	case m.has(dispatch):
		return []string{"ingress", "queue", "prefill", "egress"}, m.ints[dispatch], m.ints[first], 0
	case m.has(received) && useful:
		return []string{"input", "ingress", "prefill", "egress"}, m.ints[received], m.ints[first], less
	}
	return nil, 0, 0, 0
}

// scheduled reports whether prefill_finished_ts is the scheduler's stamp: it is in
// v0.5.9, which has cached_tokens_details, be they None or a dictionary, and was
// the tokenizer's until v0.5.6.
func (m *Meta) scheduled() bool {
	return (m.has(cachedDetails) || m.has(cachedDevice) || m.has(cachedHost)) && m.has(sentToScheduler) && m.has(prefillFinishedTS)
}

// first sets the stamp of the first chunk.
func (m *Meta) first(b *trace.Builder, note func(*Problem)) {
	slot := responseSent
	if !m.has(slot) {
		slot = responseSentTS
	}
	switch {
	case !m.has(slot):
	case m.has(stream) && m.ints[stream] != 0:
		b.Int(trace.FirstToken, m.ints[slot])
	case m.has(stream):
		b.Int(trace.FirstEvent, m.ints[slot])
		note(notStreamed)
	default:
		b.Int(trace.FirstEvent, m.ints[slot])
		note(streamUnknown)
	}
}

// lines places a request without stamps by its log lines.
func (m *Meta) lines(b *trace.Builder, note func(*Problem)) {
	if m.has(received) || m.has(finished) {
		return
	}
	switch {
	case m.has(e2eLatency) && m.ints[e2eLatency] > 0 && m.Finished.Known:
		// Its length is exact, though its place is not: both ends are shifted alike.
		b.Int(trace.Received, m.Finished.T-m.ints[e2eLatency])
		b.Int(trace.Finished, m.Finished.T)
		if m.Finished.Resolution > 1e6 {
			note(coarse)
		}
	case m.has(e2eLatency) && m.ints[e2eLatency] > 0 && !m.Received.Known:
		b.Dict(trace.ClockCol, []byte(trace.RequestClock.String()))
		b.Int(trace.Received, 0)
		b.Int(trace.Finished, m.ints[e2eLatency])
	case m.Finished.Known:
		b.Int(trace.Finished, m.Finished.T)
		if m.Received.Known {
			b.Int(trace.Received, m.Received.T)
		}
		if r := max(m.Finished.Resolution, m.Received.Resolution); r > 1 {
			b.Int(trace.Resolution, r)
		}
	}
}
