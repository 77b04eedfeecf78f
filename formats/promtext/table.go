package promtext

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"

	"servescope/analyzer/diag"
)

// table knows the series of all scrapes and how they rise.
type table struct {
	types  map[string]declared
	series map[string]*series // by pod and text of the sample
	list   []*series          // in order of first appearance
	pods   map[string]*pod
	podIn  []*pod

	pod     *pod // of the scrape that is being read
	scrape  int
	touched []*series
	last    *series // of the line before
	told    bool    // series tell when they began
	serial  bool    // the samples of a series stand behind one another
	key     []byte
	memory  int64 // left for names

	windows []window
	samples [][]delta // of each window
	note    func(code string, sev diag.Severity, msg string)
}

type declared struct {
	typ    int32
	scrape int
}

// window is the time between two scrapes of one pod.
type window struct {
	pod   *pod
	reset bool // the process began anew within
}

// delta is how much a series rose in a window.
type delta struct {
	s     *series
	value float64
}

const (
	maxWindows = 16      // that are reported one by one
	maxTypes   = 1 << 16 // of all programs
)

func newTable(memory int64) *table {
	t := &table{types: make(map[string]declared), series: make(map[string]*series), pods: make(map[string]*pod), memory: memory}
	t.enter("")
	return t
}

// enter says which pod the following samples are of.
func (t *table) enter(name string) {
	p := t.pods[name]
	if p == nil {
		p = &pod{name: name}
		t.pods[name] = p
		t.podIn = append(t.podIn, p)
	}
	t.pod, t.last = p, nil
}

func (t *table) typed(name string) int32 {
	if d, ok := t.types[name]; ok {
		return d.typ
	}
	return untyped
}

// declare takes a TYPE line. One that was in this scrape begins another.
func (t *table) declare(name, typ []byte) {
	code := slices.Index([]string{"counter", "gauge", "histogram", "summary"}, string(typ))
	if code < 0 {
		code = int(untyped)
	}
	if d, ok := t.types[string(name)]; ok && d.scrape == t.scrape {
		t.end()
	} else if !ok && len(t.types) >= maxTypes {
		return
	}
	t.types[string(name)] = declared{int32(code), t.scrape}
}

// find returns the series of a sample. why is the code of the problem when
// there is none.
func (t *table) find(s *sample) (out *series, why string) {
	t.key = append(append(append(t.key[:0], t.pod.name...), 0), s.key...)
	if s.start != 0 {
		t.key = strconv.AppendInt(append(t.key, 0), s.start, 10)
	}
	if out = t.series[string(t.key)]; out != nil {
		return out, ""
	}
	cost := int64(3*len(t.key) + 512)
	if t.memory -= cost; t.memory < 0 {
		return nil, "too_many_series"
	}
	out, ok := t.newSeries(s, t.pod)
	if !ok {
		return nil, "bad_labels"
	}
	canonical := fmt.Sprintf("\x01%s\x00%s{%s}%v%v%v", t.pod.name, s.name, out.text, out.bound, out.top, s.start)
	if old := t.series[canonical]; old != nil { // the labels stood in another order
		out = old
	} else {
		t.series[canonical] = out
		t.list = append(t.list, out)
	}
	t.series[string(t.key)] = out
	return out, ""
}

// take files the value of a series in the current scrape.
func (t *table) take(s *series, v *sample) {
	if s.scrape == t.scrape {
		if t.last == s && v.timed && v.t > s.t {
			t.serial = true
			t.follow(s)
		} else {
			t.end()
		}
	}
	if s.scrape != t.scrape {
		s.scrape = t.scrape
		t.touched = append(t.touched, s)
	}
	s.next, s.t, t.last = v.value, v.t, s
}

// follow ends one step of a series whose samples stand behind one another.
func (t *table) follow(s *series) {
	if !s.known {
		s.min, s.max, s.known = s.next, s.next, true
		if !s.since {
			s.last = s.next
		}
	}
	s.rise(s.fallsAlone())
	s.pod.scrapes = max(s.pod.scrapes, 1)
}

// falls tells whether the series shows that its process began anew. The sum of
// a histogram may fall: durations that were measured wrong are negative.
func (s *series) falls() bool { return s.cumulative() && s.stat != statSum && s.next < s.last }

// fallsAlone is falls for a series that is read without the others of its
// scrape, which would tell whether a sum fell for that reason.
func (s *series) fallsAlone() bool { return s.cumulative() && s.next < s.last }

// rise books the value of the scrape and returns how much the series rose.
func (s *series) rise(reset bool) float64 {
	d := s.next - s.last
	if reset {
		d = s.next
	}
	s.increase += d
	s.last, s.min, s.max = s.next, min(s.min, s.next), max(s.max, s.next)
	return d
}

// end ends a scrape.
func (t *table) end() {
	p := t.pod
	if len(t.touched) > 0 {
		reset := !t.serial && slices.ContainsFunc(t.touched, func(s *series) bool {
			return s.known && (s.birth && s.next != s.last || s.falls())
		})
		var deltas []delta
		for _, s := range t.touched {
			if !s.known {
				s.min, s.max, s.known = s.next, s.next, true
				if !s.since && (p.scrapes == 0 || t.serial || t.told || !s.cumulative()) {
					s.last = s.next // the measure of what follows
				}
			}
			d := s.rise(reset || t.serial && s.fallsAlone())
			if s.cumulative() && len(t.windows) <= maxWindows {
				deltas = append(deltas, delta{s, d})
			}
		}
		if p.scrapes > 0 && !t.serial && len(t.windows) <= maxWindows {
			t.windows = append(t.windows, window{p, reset})
			t.samples = append(t.samples, deltas)
		}
		if reset {
			p.resets++
			t.note("counter_reset", diag.Notice, "a process began anew between two scrapes: its counters are taken to have started from zero, and what it counted before its end is lost")
		}
		p.scrapes++
		t.touched = t.touched[:0]
	}
	t.scrape++
	t.last = nil
}

// header takes a comment of the harness of llm-d, such as "# Pod: name".
func header(line []byte) (key string, value []byte) {
	for _, k := range []string{"Timestamp", "Pod", "PodIP", "Source"} {
		if rest, ok := bytes.CutPrefix(line, []byte("# "+k+": ")); ok {
			return k, bytes.TrimSpace(rest)
		}
	}
	return "", nil
}
