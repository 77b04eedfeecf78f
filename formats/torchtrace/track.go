package torchtrace

import (
	"bytes"
	"strconv"
	"strings"
)

// Limits of what a trace may have. Real ones have one process, a dozen threads
// and one device.
const (
	maxProcesses = 1 << 12
	maxThreads   = 1 << 16
)

// ranks is the place of a process in a deployment; -1 where unknown.
type ranks struct{ dp, tp, pp, ep int64 }

var noRanks = ranks{-1, -1, -1, -1}

func (r ranks) known() bool { return r != noRanks }

// process is one pid of a trace: a process of the host, or a device, whose pid
// is its index. In merged traces every pid is "[RANKS] PID", and pids and
// correlation ids mean something within one label only.
type process struct {
	label   uint32 // index of tracks.labels
	text    string // the pid without its label
	name    string // process_name
	device  bool   // device events were seen
	kernels bool   // kernels among them
	threads map[string]uint32
	seenTid []byte // of the thread looked up last
	lastTid uint32
}

// tracks gives numbers to the processes, devices and threads of a trace.
type tracks struct {
	labels    []string
	processes []process
	owner     []uint32 // of each thread: its process
	ids       map[string]uint32
	seenPid   []byte // of the process looked up last
	lastPid   uint32
	overflow  bool // too many processes or threads: the rest share one
}

func newTracks() *tracks {
	return &tracks{labels: []string{""}, ids: make(map[string]uint32)}
}

// process returns the number of a pid.
func (t *tracks) process(pid []byte) uint32 {
	if bytes.Equal(pid, t.seenPid) && t.seenPid != nil {
		return t.lastPid
	}
	id, ok := t.ids[string(pid)]
	if !ok {
		id = t.addProcess(string(pid))
	}
	t.seenPid, t.lastPid = append(t.seenPid[:0], pid...), id
	return id
}

func (t *tracks) addProcess(pid string) uint32 {
	if len(t.processes) == maxProcesses {
		t.overflow = true
		return maxProcesses - 1
	}
	p := process{text: pid, threads: make(map[string]uint32)}
	if label, rest, ok := strings.Cut(pid, "] "); ok && strings.HasPrefix(label, "[") {
		p.label, p.text = t.label(label+"]"), rest
	}
	id := uint32(len(t.processes))
	t.processes = append(t.processes, p)
	t.ids[pid] = id
	return id
}

func (t *tracks) label(text string) uint32 {
	for i, l := range t.labels {
		if l == text {
			return uint32(i)
		}
	}
	t.labels = append(t.labels, text)
	return uint32(len(t.labels) - 1)
}

// thread returns the number of a thread of a process.
func (t *tracks) thread(process uint32, tid []byte) uint32 {
	p := &t.processes[process]
	if p.seenTid != nil && bytes.Equal(tid, p.seenTid) {
		return p.lastTid
	}
	id, ok := p.threads[string(tid)]
	if !ok {
		if len(t.owner) == maxThreads {
			t.overflow = true
			return maxThreads - 1
		}
		id = uint32(len(t.owner))
		t.owner = append(t.owner, process)
		p.threads[string(tid)] = id
	}
	p.seenTid, p.lastTid = append(p.seenTid[:0], tid...), id
	return id
}

// merged reports whether the trace holds several ranks, by the labels of its pids.
func (t *tracks) merged() bool { return len(t.labels) > 1 }

// layout returns the ranks that a label is about, from its text and from the
// names of its processes: "VLLM::Worker_TP0_EP0", "sglang::scheduler_DP1_TP3".
func (t *tracks) layout(label uint32) ranks {
	r := ranksIn(strings.ReplaceAll(strings.Trim(t.labels[label], "[]"), "-", "_"))
	if r.known() {
		return r
	}
	for i := range t.processes {
		p := &t.processes[i]
		name := strings.ToLower(p.name)
		if p.label == label && (strings.Contains(name, "vllm") || strings.Contains(name, "sglang")) {
			if r = ranksIn(p.name); r.known() {
				return r
			}
		}
	}
	return noRanks
}

// ranksIn reads the ranks in a text of parts such as TP0, tp0 or TP-0 between
// other ones.
func ranksIn(text string) ranks {
	r := noRanks
	parts := strings.FieldsFunc(strings.ToLower(text), func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < '0' || c > '9')
	})
	for i, part := range parts {
		kind, digits := part[:min(2, len(part))], part[min(2, len(part)):]
		if digits == "" && i+1 < len(parts) {
			digits = parts[i+1]
		}
		n, err := strconv.ParseUint(digits, 10, 31)
		if err != nil {
			continue
		}
		switch kind {
		case "dp":
			r.dp = int64(n)
		case "tp":
			r.tp = int64(n)
		case "pp":
			r.pp = int64(n)
		case "ep":
			r.ep = int64(n)
		}
	}
	return r
}
