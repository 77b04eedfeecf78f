package documents

import (
	"fmt"
	"strings"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// value reads the value at the cursor, or enters it. key is its name.
func (r *reader) value(key string) {
	switch k := r.c.Kind(); k {
	case json.Object:
		r.object()
	case json.Array: // of objects that are runs or requests, or hold some; others are of no use
		if len(r.stack) < maxDepth && r.leads() && r.c.Open() {
			r.stack = append(r.stack, frame{array: true, path: len(r.path)})
		} else {
			r.c.Skip()
		}
	case json.String:
		r.scalar(key, string(r.c.Text(maxText)))
	case json.Number, json.Bool:
		r.scalar(key, string(r.c.Literal()))
	default:
		r.c.Skip()
	}
}

// leads reports whether runs or requests are within the array at the path.
func (r *reader) leads() bool {
	for path, m := range r.table {
		if (m.what == 'q' || m.what == 'r') && strings.HasPrefix(path, string(r.path)+"[]") {
			return true
		}
	}
	return false
}

// object reads a request, or enters another object.
func (r *reader) object() {
	m := r.table[string(r.path)]
	if m.what == 'q' {
		r.read(trace.Status(m.n))
		return
	}
	f := frame{path: len(r.path), run: m.what == 'r'}
	if f.run {
		r.base, r.inRun = r.c.Offset(), len(r.path)+1
		r.current()
	}
	if len(r.stack) >= maxDepth || !r.c.Open() {
		r.c.Skip()
		return
	}
	r.stack = append(r.stack, f)
}

// scalar takes a setting or a figure.
func (r *reader) scalar(key, text string) {
	path := string(r.path)
	if r.inRun >= 0 {
		path = path[r.inRun:]
	}
	if m := r.table[path]; m.what == '=' {
		if text != "" && len(text) <= maxName {
			r.setting(trace.Pair{Key: m.metric, Value: strings.ToValidUTF8(text, "\uFFFD")})
		}
		return
	}
	if r.inside && r.inRun < 0 {
		return
	}
	if exp := Exponent(text); key == "unit" && exp != "" {
		r.unit, r.unitOf = exp, strings.TrimSuffix(path, "unit")
		return
	}
	rep, kind, ok := r.figure(path, key, text)
	if !ok {
		return
	}
	m := r.current()
	if m == nil {
		return
	}
	r.figures++
	r.found = true
	if kind == duration {
		if rep.Value > 0 && rep.Value < 1e18 {
			m.Duration, m.HasDuration = int64(rep.Value+0.5), true
		}
	} else if len(m.Reported) < maxReported {
		m.Reported = append(m.Reported, rep)
	}
}

// setting files a setting with the run, or with all runs of the document.
func (r *reader) setting(p trace.Pair) {
	if r.run != nil {
		r.run.Config = append(r.run.Config, p)
	} else if len(r.around) < maxReported {
		r.around = append(r.around, p)
	}
}

// current returns the run that is being read, and begins it. It is nil where
// there are too many.
func (r *reader) current() *trace.RunMeta {
	if r.run == nil && len(r.List) < maxRuns {
		m := r.d.Run
		m.Key, m.Format = r.base, r.d.Name
		m.Config = append(m.Config, r.around...)
		r.run = &m
		r.List = append(r.List, r.run)
	}
	return r.run
}

// read reads the request at the cursor and makes its row.
func (r *reader) read(status trace.Status) {
	q, at := &r.request, r.c.Offset()
	q.reset(status)
	base := len(r.path)
	r.members(base, 0)
	r.path = r.path[:base]
	if r.c.Err() != nil {
		return
	}
	if _, bad := r.c.Problem(); bad {
		r.skip(truncated, at)
		return
	}
	r.found = true
	if q.Run = r.current(); q.Run == nil {
		return
	}
	r.owner = q.Run
	p := q.row(r.d, r.builder, at, func(p *assemble.Problem) { r.note(p, at) })
	if p != nil {
		r.builder.Drop()
		if r.skip(p, at); p == WarmUp {
			r.Counts.Diagnosed--
			r.Counts.Noise++
		}
		return
	}
	r.rows++
	r.parsed("request")
}

// members reads the members of an object of a request.
func (r *reader) members(base, depth int) {
	from := len(r.path)
	for r.c.Open(); r.c.More(); {
		b := r.c.Key(maxName)
		if _, bad := r.c.Problem(); bad {
			return
		}
		if r.path = r.path[:from]; from > base {
			r.path = append(r.path, '.')
		}
		r.path = append(r.path, b...)
		r.member(base, depth)
	}
	r.path = r.path[:from]
}

// member reads one value of a request.
func (r *reader) member(base, depth int) {
	q, path := &r.request, r.path[base:]
	k := r.c.Kind()
	m := r.table[string(path)]
	switch {
	case k == json.Object && depth < maxDepth:
		r.members(base, depth+1)
		return
	case k == json.Array && m.what == '[':
		q.lists[m.n], q.listed[m.n] = r.c.Numbers(q.lists[m.n][:0], numx.Second)
		q.problems[ofList] = q.problems[ofList] || !q.listed[m.n]
		return
	case k == json.Object, k == json.Array, k == json.Broken, m.what != 'c' && m.what != '@':
		r.c.Skip()
		return
	}
	var v []byte
	if k == json.String {
		v = r.c.Text(maxText)
	} else {
		v = r.c.Literal()
	}
	q.keep(m, k, v)
}

func (r *reader) finish() {
	if r.Fail = r.c.Err(); r.Fail != nil {
		r.Fail = fmt.Errorf("%s: %w", r.src.Name(), r.Fail)
		return
	}
	if r.Counts.Parsed == 0 {
		r.add(diag.Diag{Code: "no_results", Severity: diag.Error, Offset: -1, Msg: "the file holds no result of " + r.d.Name})
	}
}

func (r *reader) parsed(kind string) {
	r.Counts.Total++
	r.Counts.Parsed++
	r.Counts.Kinds[kind]++
}

func (r *reader) skip(p *assemble.Problem, at int64) {
	r.Counts.Total++
	r.Counts.Diagnosed++
	r.note(p, at)
}

func (r *reader) note(p *assemble.Problem, at int64) {
	assemble.Notes{File: r.src.Name(), Log: &r.Log}.Note(p, at)
}

func (r *reader) add(d diag.Diag) {
	d.File = r.src.Name()
	r.Log.Add(d)
}

// Close implements formats.Reader.
func (r *reader) Close() error { return r.rc.Close() }
