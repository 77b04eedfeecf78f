package llamacpp

import (
	"bytes"

	"servescope/formats/internal/numx"
)

// what a line of the log tells.
type what uint8

const (
	other     what = iota
	header         // of a slot, whose lines follow without it
	prompt         // the prompt was evaluated
	eval           // the tokens were generated
	total          // both together
	drafts         // of the speculative decoding
	launched       // a slot takes a task
	cancelled      // a task
	broken         // times that cannot be read
)

// timing is what one line tells.
type timing struct {
	what       what
	slot, task int64 // -1: it does not say
	ns, n      int64 // n: -1 where it does not say
	accepted   int64 // of n drafted
	each       int64 // ns per token as it prints them, 0: it does not
	at         int64 // ns since the process began
	placed     bool
}

// parseTiming reads a line of the log.
func parseTiming(line []byte) timing {
	x := timing{slot: -1, task: -1, n: -1}
	line = x.stamp(bytes.TrimSpace(line))
	for _, name := range [...]string{"llama_print_timings:", "llama_perf_context_print:", "common_perf_print:"} {
		if bytes.HasPrefix(line, []byte(name)) { // of the library, over all requests
			return x
		}
	}
	x.slot, x.task = after(line, "id "), after(line, "task ")
	if x.slot < 0 {
		x.slot, x.task = after(line, "id_slot="), after(line, "id_task=")
	}
	slots := bytes.HasPrefix(line, []byte("slot "))
	switch {
	case bytes.Contains(line, []byte("cancel task, id_task =")):
		x.what, x.slot, x.task = cancelled, -1, after(line, "id_task = ")
	case slots && bytes.Contains(line, []byte("launch_slot_")) && bytes.Contains(line, []byte("processing task")):
		x.what = launched
	case bytes.Contains(line, []byte("draft acceptance")):
		x.drafts(line)
	default:
		x.times(line)
		if x.what == other && slots && bytes.Contains(line, []byte("print_timing")) && bytes.HasSuffix(line, []byte("|")) {
			x.what = header
		}
	}
	return x
}

// stamp takes off what --log-timestamps puts in front: minutes, seconds, ms and µs
// since the process began, and a letter for the level.
func (x *timing) stamp(line []byte) []byte {
	head, rest, ok := bytes.Cut(line, []byte(" "))
	part := bytes.Split(head, []byte("."))
	if !ok || len(part) != 4 || len(part[1]) != 2 || len(part[2]) != 3 || len(part[3]) != 3 {
		return line
	}
	var v [4]int64
	for i, p := range part {
		n, size, ok := numx.ParseInt(p)
		if !ok || size != len(p) || n < 0 || len(p) > 8 {
			return line
		}
		v[i] = n
	}
	x.at, x.placed = (v[0]*60+v[1])*1e9+v[2]*1e6+v[3]*1e3, true
	if len(rest) > 2 && rest[1] == ' ' {
		rest = rest[2:]
	}
	return bytes.TrimSpace(rest)
}

// times reads "prompt eval time = 40.00 ms / 7 tokens (…" and its like.
func (x *timing) times(line []byte) {
	for _, m := range [...]struct {
		mark string
		what what
	}{{"eval time", eval}, {"total time", total}} {
		before, behind, ok := bytes.Cut(line, []byte(m.mark))
		if !ok {
			continue
		}
		w := m.what
		before = bytes.TrimSpace(before)
		switch {
		case w == eval && bytes.HasSuffix(before, []byte("prompt")):
			w = prompt
		case len(before) == 0, bytes.HasSuffix(before, []byte("generation")) && w == eval, bytes.IndexByte([]byte(":|]"), before[len(before)-1]) >= 0:
		default:
			return // a text that speaks of it
		}
		behind = bytes.TrimLeft(behind, " ")
		if len(behind) == 0 || behind[0] != '=' {
			return
		}
		x.what = broken
		behind = bytes.TrimLeft(behind[1:], " ")
		ns, k, ok := numx.Scaled(behind, numx.Millisecond)
		rest, unit := bytes.CutPrefix(behind[k:], []byte(" ms"))
		if !ok || k == 0 || !unit || ns < 0 {
			return
		}
		if rest = bytes.TrimLeft(rest, " "); len(rest) > 0 && rest[0] == '/' {
			if n, _, ok := numx.ParseInt(bytes.TrimLeft(rest[1:], " ")); ok {
				x.n = n
			}
			x.each = perTokenOf(rest)
		} else if w != total {
			return // torn
		}
		x.what, x.ns = w, ns
		return
	}
}

// perTokenOf reads "(   12.00 ms per token" in what follows a time, in ns.
func perTokenOf(rest []byte) int64 {
	_, rest, _ = bytes.Cut(rest, []byte("("))
	rest = bytes.TrimLeft(rest, " ")
	ns, k, ok := numx.Scaled(rest, numx.Millisecond)
	if !ok || k == 0 || ns < 0 || !bytes.HasPrefix(rest[k:], []byte(" ms per token")) {
		return 0
	}
	return ns
}

// drafts reads "draft acceptance rate = 0.57576 (  171 accepted /   297 generated)".
func (x *timing) drafts(line []byte) {
	_, rest, _ := bytes.Cut(line, []byte("("))
	rest = bytes.TrimLeft(rest, " ")
	accepted, k, ok := numx.ParseInt(rest)
	_, rest, found := bytes.Cut(rest[k:], []byte("accepted /"))
	n, _, ok2 := numx.ParseInt(bytes.TrimLeft(rest, " "))
	if ok && ok2 && found {
		x.what, x.accepted, x.n = drafts, accepted, n
	}
}

// after returns the number behind a mark, -1 where there is none.
func after(line []byte, mark string) int64 {
	for rest := line; ; {
		k := bytes.Index(rest, []byte(mark))
		if k < 0 {
			return -1
		}
		word := k > 0 && rest[k-1] != ' '
		rest = rest[k+len(mark):]
		n, size, ok := numx.ParseInt(bytes.TrimLeft(rest, " "))
		if !word && ok && size > 0 && n >= 0 {
			return n
		}
	}
}
