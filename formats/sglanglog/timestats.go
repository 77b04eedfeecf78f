package sglanglog

import (
	"bytes"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/linelog"
	"servescope/formats/internal/numx"
	"servescope/formats/internal/sglmeta"
)

// The numbers of a line of time stats.
const (
	statInput = iota
	statCachedInput
	statOutput
	statAttempts
	statQueue
	statForward
	statBootstrapQueue
	statPreallocQueue
	statBootstrap
	statAllocWait
	statOther
	statTransfer
	statPrealloc
	statPrefill
	statPost
	statEntry
	statStart
	statCount
)

// statKeys are the names of these numbers; where they are read as a time, in ms or
// s. There are three styles, mixed in one line: name=value, name(value) and sums
// of these.
var statKeys = [...]struct {
	key   string
	stat  int
	scale int
}{
	{"input_len", statInput, -1},              // v0.5.12+
	{"input len", statInput, -1},              // –v0.5.11
	{"cached_input_len", statCachedInput, -1}, // v0.5.12+
	{"output_len", statOutput, -1},
	{"output len", statOutput, -1},
	{"attempts", statAttempts, -1},                                     // v0.5.16+
	{"bootstrap_queue_duration", statBootstrapQueue, numx.Millisecond}, // prefill, v0.5.6+
	{"prealloc_queue_duration", statPreallocQueue, numx.Millisecond},   // decode, v0.5.6+
	{"prealloc_duration", statPrealloc, numx.Millisecond},              // decode, v0.5.3–v0.5.5
	{"bootstrap_duration", statBootstrap, numx.Millisecond},
	{"alloc_wait_duration", statAllocWait, numx.Millisecond},
	{"bootstrap", statBootstrap, numx.Millisecond},
	{"alloc_wait", statAllocWait, numx.Millisecond},
	{"other", statOther, numx.Millisecond},
	{"transfer_duration", statTransfer, numx.Millisecond},
	{"queue_duration", statQueue, numx.Millisecond},
	{"initial_prefill_elapsed", statPrefill, numx.Millisecond}, // after v0.5.18
	{"post_prefill_elapsed", statPost, numx.Millisecond},
	{"forward_duration", statForward, numx.Millisecond},
	{"entry_time", statEntry, numx.Second}, // epoch, v0.5.12+
	{"start_time", statStart, numx.Second}, // perf_counter, v0.5.3–v0.5.5 and unified until v0.5.11
	{"start", statStart, numx.Second},
}

// stats is one line of time stats.
type stats struct {
	rid, room, kind []byte
	have            uint32
	value           [statCount]int64
}

func (s *stats) has(stat int) bool { return s.have>>stat&1 != 0 }

// start returns when the first stage began: since v0.5.12 an epoch, before a stamp
// of time.perf_counter, s since the host's boot. 0 stands for unknown.
func (s *stats) start() (t int64, epoch, ok bool) {
	if t = s.value[statEntry]; !s.has(statEntry) {
		t = s.value[statStart]
	}
	return t, t >= 1e18, t > 0
}

// duration returns a duration that a node measured. It is unknown where one of its
// two stamps was 0: SGLang prints 0.00 for that since v0.5.12, and before the time
// since the host's boot, which is negative if the later stamp is the missing one.
func (s *stats) duration(stat int) (ns int64, ok bool) {
	v := s.value[stat]
	t, epoch, started := s.start()
	switch {
	case !s.has(stat) || v == 0 || v <= -longest || v >= longest:
		return v, false
	case v < 0 && (!started || !epoch && v <= -t+1e9):
		return v, false
	case started && !epoch && v >= t: // longer than the host was up
		return v, false
	}
	return v, true
}

// longest is what no stage of a request takes: a hundred days.
const longest = 100 * 86400 * int64(1e9)

// parseStats reads "ReqTimeStats(rid=R, …, type=T): key=value, …".
func parseStats(msg []byte) (s stats, ok bool) {
	open := bytes.IndexByte(msg, '(')
	colon := bytes.Index(msg, []byte("): "))
	if open < 0 || colon < open {
		return s, false
	}
	head := msg[open+1 : colon]
	s.rid, s.room, s.kind = textOf(head, "rid="), textOf(head, "bootstrap_room="), textOf(head, "type=")
	s.numbers(head)
	s.numbers(msg[colon+3:])
	return s, len(s.rid) > 0 && len(s.kind) > 0
}

// textOf returns what stands behind a key up to a comma.
func textOf(b []byte, key string) []byte {
	k := bytes.Index(b, []byte(key))
	if k < 0 || k > 0 && b[k-1] != ' ' {
		return nil
	}
	v, _, _ := bytes.Cut(b[k+len(key):], []byte(","))
	return v
}

// numbers reads every name=value and name(value) of a known name.
func (s *stats) numbers(b []byte) {
	from := 0
	for i := 0; i < len(b); i++ {
		switch c := b[i]; c {
		case ',', ';', ')', '+', '[':
			from = i + 1
		case '=', '(':
			key := bytes.Trim(b[from:i], " ")
			if n := s.number(key, b[i+1:]); n > 0 {
				i += n
				from = i + 1
				if i+1 < len(b) && b[i+1] == ')' { // no comma stands behind bootstrap_queue_duration(1.00ms)
					i++
					from = i + 1
				}
			} else if c == '=' && len(key) == 0 {
				from = i + 1
			}
		}
	}
}

// number reads the value of a key and returns its length.
func (s *stats) number(key, b []byte) int {
	for i := range statKeys {
		k := &statKeys[i]
		if string(key) != k.key {
			continue
		}
		var v int64
		var n int
		var ok bool
		if k.scale < 0 {
			v, n, ok = numx.ParseInt(b)
		} else {
			v, n, ok = numx.Scaled(b, k.scale)
		}
		if ok {
			s.value[k.stat] = v
			s.have |= 1 << k.stat
		}
		for n < len(b) && (b[n] == 'm' || b[n] == 's') {
			n++
		}
		return n
	}
	return 0
}

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
var statColumns = [...]trace.Col{statInput: trace.PromptTokens, statCachedInput: trace.CachedTokens, statOutput: trace.OutputTokens, statAttempts: trace.Preemptions}

// timeStats takes what a scheduler measured of a request. Its row is of the side
// engine, or of the node: prefill, decode.
func (f *fold) timeStats(r *linelog.Record) *linelog.Problem {
	s, ok := parseStats(r.Message)
	switch {
	case r.Cut:
		return torn
	case !ok:
		return badStats
	case sglmeta.HealthCheck(s.rid):
		f.facts.health++
		return nil
	}
	f.requests.seen = true
	b := f.rows
	b.Text(trace.RequestID, s.rid)
	if len(s.room) > 0 && string(s.room) != "None" {
		b.Text(trace.JoinGroup, s.room)
	}
	b.Int(trace.Offset, r.Offset)
	f.setReplica(r)
	for stat, col := range statColumns {
		if s.has(stat) && s.value[stat] >= 0 {
			b.Int(col, s.value[stat])
		}
	}
	state := trace.OK
	if s.has(statOutput) {
		b.Code(trace.OutputTokensSource, int32(trace.FromServer))
		if s.value[statOutput] == 0 {
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
	if v := s.value[statForward]; s.has(statForward) && v >= longest {
		f.log.Note(brokenProducer, r.Offset)
		b.Code(trace.SideCol, int32(trace.Engine))
		b.Int(trace.Finished, v) // of an epoch in ms: the start was 0
		b.Int(trace.Resolution, 1e6)
		return
	}
	for stat := statQueue; stat <= statPost; stat++ {
		if v, ok := s.duration(stat); !ok && s.has(stat) && (v != 0 || stat <= statForward) {
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
		if s.has(statOutput) && s.value[statOutput] > 0 {
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

// decodeNode sets the stages on a node that only decodes. While it waits for the
// transfer, the prefill node queues, prefills and sends. The first token comes
// with the KV cache.
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
	if !queueOK || !transferOK {
		return
	}
	b.Int(trace.Queued, t+before+transfer)
	admitted := t + before + transfer + queue
	b.Int(trace.Admitted, admitted)
	if s.has(statOutput) && s.value[statOutput] > 0 {
		b.Int(trace.FirstToken, admitted)
		if forwardOK {
			b.Int(trace.LastToken, admitted+forward)
		}
	}
	if forwardOK {
		b.Int(trace.Finished, admitted+forward)
	}
}
