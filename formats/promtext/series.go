package promtext

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/trace"
	"servescope/formats/internal/numx"
)

// The codes of the type and stat columns.
const (
	counter int32 = iota
	gauge
	histogram
	summary
	untyped
)

const (
	statValue int32 = iota
	statBucket
	statSum
	statCount
	statQuantile
)

// series is one line of every scrape: a name with labels, of one pod.
type series struct {
	pod     *pod
	engine  string // "" for the few of the process that are of use
	family  string // as exposed, without the suffix of the sample
	info    *family
	labels  []label // without le and quantile, sorted
	text    []byte  // the same as exposed
	replica string
	model   string
	typ     int32
	stat    int32
	bound   float64 // of a bucket or quantile
	top     bool    // the bucket without an upper limit
	bounded bool
	unit    string
	birth   bool // says when the process or series began
	rank    int  // among the ranks that count the same requests
	gauge   bool // of the load: load is its column of steps
	load    trace.Col
	since   bool    // its first value counts from its start, which is known
	sum     float64 // of what is told piece by piece

	scrape   int  // the last one it was in
	known    bool // was in an earlier one
	last     float64
	t        int64
	next     float64 // in the scrape that is being read
	increase float64 // since the pod's first scrape
	min, max float64
}

// pod is one process that was scraped.
type pod struct {
	name    string
	scrapes int
	resets  int
}

// cumulative tells whether the series adds up while its process lives.
func (s *series) cumulative() bool {
	return s.typ == counter || s.typ == histogram || s.typ == summary && s.stat != statQuantile
}

// newSeries describes a sample that was not seen before. It reports false when
// the labels are not well formed.
func (t *table) newSeries(s *sample, p *pod) (*series, bool) {
	all, ok := split(s.labels)
	if !ok {
		return nil, false
	}
	out := &series{pod: p, typ: untyped, scrape: -1}
	out.engine, _ = engineOf(s.name)
	name := string(s.name)
	out.family = t.role(out, name, all)
	out.unit, _, _ = measure(out.family)
	_, bare := engineOf([]byte(out.family))
	out.info = known(out.engine, string(bare))
	out.load, out.gauge = loadGauges[[2]string{out.engine, string(bare)}]
	out.birth = strings.HasSuffix(name, "_created") && t.typed(name) != counter || name == processStart
	slices.SortStableFunc(all, func(a, b label) int { return strings.Compare(a.name, b.name) })
	for _, l := range all {
		switch l.name {
		case "le", "quantile":
			out.setBound(l.value)
		default:
			out.labels = append(out.labels, l)
		}
	}
	out.describe()
	return out, true
}

// role sets type and stat by the name, the declared type and the labels, and
// returns the family's name.
func (t *table) role(s *series, name string, labels []label) string {
	if typ := t.typed(name); typ != untyped {
		if s.typ = typ; typ == summary {
			s.stat = statQuantile
		}
		return name
	}
	has := func(n string) bool { return slices.ContainsFunc(labels, func(l label) bool { return l.name == n }) }
	for suffix, stat := range map[string]int32{"_bucket": statBucket, "_sum": statSum, "_count": statCount} {
		base, ok := strings.CutSuffix(name, suffix)
		if !ok || suffix == "_bucket" && !has("le") {
			continue
		}
		s.typ, s.stat = histogram, stat
		if t.typed(base) == summary {
			s.typ = summary
		}
		return base
	}
	base, total := strings.CutSuffix(name, "_total")
	switch {
	case total || t.typed(base) == counter:
		s.typ = counter
	case has("quantile"):
		s.typ, s.stat = summary, statQuantile
	}
	return name
}

func (s *series) setBound(text string) {
	if text == "+Inf" || text == "Inf" {
		s.top = true
		return
	}
	if v, n, ok := numx.ParseFloat([]byte(text)); ok && n == len(text) {
		s.bound, s.bounded = v, true
	}
}

// describe takes what the labels say.
func (s *series) describe() {
	var where []string
	if s.pod.name != "" {
		where = append(where, s.pod.name)
	}
	for i, l := range s.labels {
		if i > 0 {
			s.text = append(s.text, ',')
		}
		s.text = append(append(s.text, l.name...), '=')
		s.text = strconv.AppendQuote(s.text, l.value)
		switch l.name {
		case "model_name", "gen_ai_response_model":
			s.model = l.value
		case "gen_ai_request_model": // stands before that of the response
			s.model = l.value
		case "server", "pod", "instance", "WorkerId", "engine", "dp_rank":
			where = append(where, l.value)
		case "tp_rank", "pp_rank", "moe_ep_rank":
			if n, err := strconv.Atoi(l.value); err == nil && n >= 0 && n < 1<<20 {
				s.rank += n
			}
		}
	}
	s.replica = strings.Join(where, "/")
}

// processStart is the one series of another program that is of use.
const processStart = "process_start_time_seconds"
