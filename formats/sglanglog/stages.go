package sglanglog

import (
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
	"servescope/formats/internal/sglmeta"
)

// The problems of time stats.
var (
	badStats = &linelog.Problem{Code: "incomplete_line", Severity: diag.DataLoss,
		Msg: "a line lacks values that its kind has: it is torn, or of a version that is not known, and was skipped"}
	brokenProducer = &linelog.Problem{Code: "broken_producer", Severity: diag.Notice,
		Msg: "SGLang v0.4.6.post4 to v0.5.2 never stamps the start of a request: of its time stats only the completion is known", Fix: "use v0.5.3 or later"}
	negativeStage = &linelog.Problem{Code: "negative_duration", Severity: diag.Notice,
		Msg: "a stage of a request is negative: SGLang up to v0.5.18 stamps a retracted request's queue entry anew; the value is kept"}
	missingStamp = &linelog.Problem{Code: "missing_stamp", Severity: diag.Notice,
		Msg: "a duration is 0.00 ms or as long as the host has been up: one of its stamps was never taken, so it is unknown"}
)

// statColumns are the columns of the counts.
var statColumns = [...]trace.Col{trace.PromptTokens, trace.CachedTokens, trace.OutputTokens, trace.Preemptions}

// timeStats takes what a scheduler measured of a request. Its row is of the side
// engine, or of the node: prefill, decode.
func (f *fold) timeStats(r *linelog.Record) *linelog.Problem {
	s := statsOf(r)
	switch {
	case r.Cut:
		return torn
	case sglmeta.HealthCheck(s.rid):
		f.facts.health++
		return nil
	}
	f.requests.seen = true
	b := f.rows
	b.Text(trace.RequestID, s.rid)
	if group := sglmeta.Room(string(s.room)); group != "" {
		b.Text(trace.JoinGroup, []byte(group))
	}
	b.Int(trace.Offset, r.Offset)
	f.setReplica(r)
	for i, col := range statColumns {
		stat := statInput + i
		if s.has(stat) && s.value(stat) >= 0 {
			b.Int(col, s.value(stat))
		}
	}
	state := trace.OK
	if s.has(statOutput) {
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
		if s.value(statOutput) == 0 {
			state = trace.Empty
		}
	}
	b.Code(trace.StatusCol, int32(state))
	f.stage(r, &s)
	b.EndRow()
	return nil
}

// stage sets the side, stamps and durations of a row.
func (f *fold) stage(r *linelog.Record, s *stats) {
	b := f.rows
	if v := s.value(statForward); s.has(statForward) && v >= longest {
		f.log.Note(brokenProducer, r.Offset)
		b.Code(trace.SideCol, int32(trace.Engine))
		b.Int(trace.Finished, v) // of an epoch in ms: the start was 0
		b.Int(trace.Resolution, 1e6)
		return
	}
	b.Int(trace.DResolution, 1e4) // "%.2fms"
	for stat := statQueue; stat <= statPost; stat++ {
		if !s.has(stat) {
			continue
		}
		if v, ok := s.duration(stat); !ok && (v != 0 || stat <= statForward) {
			f.log.Note(missingStamp, r.Offset)
		} else if v < 0 && ok {
			f.log.Note(negativeStage, r.Offset)
		}
	}
	switch string(s.kind) {
	case "prefill":
		b.Code(trace.SideCol, int32(trace.Prefill))
		f.prefillNode(s)
	case "decode":
		b.Code(trace.SideCol, int32(trace.Decode))
		f.decodeNode(s)
	default:
		b.Code(trace.SideCol, int32(trace.Engine))
		f.unified(s)
	}
	if _, _, ok := s.start(); !ok && r.Timed { // the line comes at the end
		b.Int(trace.Finished, r.T)
		b.Int(trace.Resolution, r.Resolution)
	}
}

// entry returns when the first stage began, and sets the row's clock.
func (f *fold) entry(s *stats) (t int64, ok bool) {
	t, epoch, ok := s.start()
	if !ok {
		return 0, false
	}
	if !epoch {
		f.rows.Dict(trace.ClockCol, []byte(trace.Monotonic.String()))
	}
	f.rows.Int(trace.Resolution, 1e6)
	return t, true
}

// unified sets the stages of a request on a server that does both.
func (f *fold) unified(s *stats) {
	b := f.rows
	queue, queueOK := s.duration(statQueue)
	forward, forwardOK := s.duration(statForward)
	prefill, prefillOK := s.duration(statPrefill)
	if queueOK {
		b.Int(trace.DQueue, queue)
	}
	if prefillOK {
		b.Int(trace.DPrefill, prefill)
	}
	if post, ok := s.duration(statPost); ok {
		b.Int(trace.DDecode, post)
	}
	t, ok := f.entry(s)
	if !ok {
		return
	}
	if !queueOK {
		b.Int(trace.Queued, t)
		return
	}
	if queue >= 0 { // else it is the stamp of a later entry, after a retraction
		b.Int(trace.Queued, t)
	}
	b.Int(trace.Admitted, t+queue)
	if prefillOK {
		b.Int(trace.PrefillEnd, t+queue+prefill)
		b.Int(trace.FirstToken, t+queue+prefill)
	}
	if forwardOK {
		b.Int(trace.Finished, t+queue+forward)
		if s.has(statOutput) && s.value(statOutput) > 0 {
			b.Int(trace.LastToken, t+queue+forward)
		}
	}
}

// prefillNode sets the stages on a node that only prefills: handshake, queue, and
// the forward pass together with the transfer of the KV cache.
func (f *fold) prefillNode(s *stats) {
	b := f.rows
	queue, queueOK := s.duration(statQueue)
	forward, forwardOK := s.duration(statForward)
	if queueOK {
		b.Int(trace.DQueue, queue)
	}
	if forwardOK {
		b.Dict(trace.MergedLeaves, []byte(trace.Merged("prefill", "kv_transfer")))
		b.Int(trace.DMerged, forward)
	}
	t, ok := f.entry(s)
	if !ok {
		return
	}
	b.Int(trace.Received, t)
	before, _ := s.handshake(statBootstrapQueue)
	b.Int(trace.Queued, t+before)
	if queueOK {
		b.Int(trace.Admitted, t+before+queue)
		if forwardOK {
			b.Int(trace.Finished, t+before+queue+forward)
		}
	}
}

// handshake returns how long a request waited before the queue of its node: the
// total where it is printed, else its parts.
func (s *stats) handshake(total int) (ns int64, ok bool) {
	for _, stat := range [...]int{total, statPrealloc} {
		if ns, ok = s.duration(stat); ok {
			return ns, true
		}
	}
	for _, stat := range [...]int{statBootstrap, statAllocWait} {
		if v, known := s.duration(stat); known {
			ns, ok = ns+v, true
		}
	}
	return ns, ok
}

// decodeNode sets the stages on a node that only decodes. It takes the request in
// before the KV cache is there: while it waits for the transfer, the prefill node
// queues, prefills and sends. The first token comes with the KV cache.
func (f *fold) decodeNode(s *stats) {
	b := f.rows
	queue, queueOK := s.duration(statQueue)
	forward, forwardOK := s.duration(statForward)
	transfer, transferOK := s.duration(statTransfer)
	before, beforeOK := s.handshake(statPreallocQueue)
	if beforeOK && queueOK {
		b.Int(trace.DDecodeQueue, before+queue)
	}
	if transferOK {
		b.Dict(trace.MergedLeaves, []byte(trace.Merged("queue", "prefill", "kv_transfer")))
		b.Int(trace.DMerged, transfer)
	}
	if forwardOK {
		b.Int(trace.DDecode, forward)
	}
	t, ok := f.entry(s)
	if !ok {
		return
	}
	b.Int(trace.Received, t)
	b.Int(trace.Queued, t)
	if !queueOK || !transferOK || !beforeOK {
		return
	}
	admitted := t + before + transfer + queue
	b.Int(trace.Admitted, admitted)
	if s.has(statOutput) && s.value(statOutput) > 0 {
		b.Int(trace.FirstToken, admitted)
		if forwardOK {
			b.Int(trace.LastToken, admitted+forward)
		}
	}
	if forwardOK {
		b.Int(trace.Finished, admitted+forward)
	}
}
