package sglanglog

import (
	"servescope/formats/internal/linelog"
)

// The numbers of a line of time stats, as slots.
const (
	statCachedInput = statInput + 1 + iota
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
	statEnd
)

// statFields are the names of these numbers, in their usual order. There are three
// styles, mixed in one line: name=value, name(value) and sums of these.
func statFields() []linelog.Field {
	return []linelog.Field{
		key("rid", rid),
		key("bootstrap_room", room),
		key("input_len", statInput),              // v0.5.12+
		key("input len", statInput),              // –v0.5.11
		key("cached_input_len", statCachedInput), // v0.5.12+
		key("output_len", statOutput),
		key("output len", statOutput),
		key("attempts", statAttempts), // v0.5.16+
		key("type", statKind),
		key("bootstrap_queue_duration", statBootstrapQueue), // prefill, v0.5.6+
		key("prealloc_queue_duration", statPreallocQueue),   // decode, v0.5.6+
		key("prealloc_duration", statPrealloc),              // decode, v0.5.3–v0.5.5
		key("bootstrap_duration", statBootstrap),
		key("alloc_wait_duration", statAllocWait),
		key("bootstrap", statBootstrap),
		key("alloc_wait", statAllocWait),
		key("other", statOther),
		key("transfer_duration", statTransfer),
		key("queue_duration", statQueue),
		key("initial_prefill_elapsed", statPrefill), // after v0.5.18
		key("post_prefill_elapsed", statPost),
		key("forward_duration", statForward),
		key("entry_time", statEntry), // epoch, v0.5.12+
		key("start_time", statStart), // perf_counter, v0.5.3–v0.5.5 and unified until v0.5.11
		key("start", statStart),
	}
}

// statSlots are the slots of the numbers: counts, durations in ms, and stamps in s.
func statSlots() []linelog.Slot {
	slots := make([]linelog.Slot, statEnd-statInput)
	for i := range slots {
		switch stat := statInput + i; {
		case stat <= statAttempts:
			slots[i].Type = linelog.Int
		case stat >= statEntry:
			slots[i].Type = linelog.Nanos
		default:
			slots[i].Type = linelog.Millis
		}
	}
	return slots
}

// stats is one line of time stats.
type stats struct {
	rid, room, kind []byte
	have            uint64                     // slots
	values          [statEnd - statInput]int64 // of the slots from statInput on
}

// statsOf takes the values of a record.
func statsOf(r *linelog.Record) (s stats) {
	for i := range r.Values {
		switch v := &r.Values[i]; {
		case v.Slot == rid:
			s.rid = v.Text
		case v.Slot == room:
			s.room = v.Text
		case v.Slot == statKind:
			s.kind = v.Text
		case v.Slot >= statInput:
			s.values[v.Slot-statInput] = v.Int
			s.have |= 1 << v.Slot
		}
	}
	return s
}

func (s *stats) value(stat int) int64 { return s.values[stat-statInput] }

func (s *stats) has(stat int) bool { return s.have>>stat&1 != 0 }

// start returns when the first stage began: since v0.5.12 an epoch, before a stamp
// of time.perf_counter, s since the host's boot. 0 stands for unknown.
func (s *stats) start() (t int64, epoch, ok bool) {
	if t = s.value(statEntry); !s.has(statEntry) {
		t = s.value(statStart)
	}
	return t, t >= 1e18, t > 0
}

// duration returns a duration that a node measured. It is unknown where one of its
// two stamps was 0: SGLang prints 0.00 for that since v0.5.12, and before the time
// since the host's boot, which is negative if the later stamp is the missing one.
func (s *stats) duration(stat int) (ns int64, ok bool) {
	v := s.value(stat)
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
