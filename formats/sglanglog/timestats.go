package sglanglog

import (
	"bytes"

	"servescope/formats/internal/numx"
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
	guess           int // index in statKeys of the key that is expected
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

// number reads the value of a key and returns its length. Keys stand in the order
// of statKeys, mostly.
func (s *stats) number(key, b []byte) int {
	for n := range statKeys {
		i := s.guess + n
		if i >= len(statKeys) {
			i -= len(statKeys)
		}
		k := &statKeys[i]
		if string(key) != k.key {
			continue
		}
		s.guess = i + 1
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
