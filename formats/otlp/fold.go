package otlp

import (
	"bytes"
	"strings"

	"servescope/analyzer/diag"
	"servescope/formats"
)

// fold makes rows of spans, in the order of the source.
type fold struct {
	file    string
	lists   bool
	diags   diag.Log
	account formats.Account
	runs    []*run
	byName  map[runKey]*run
	latest  *run // the last one asked for, by latestKey
	seen    recent
	within  recent // spans that hold a call of a model
	sglang  requests
	done    bool  // runs are complete
	loops   []rec // of the request that is taken apart
	gaps    []int64

	latestKey runKey
}

func newFold(file string, opt formats.Options) *fold {
	f := &fold{file: file, lists: opt.Lists, byName: make(map[runKey]*run)}
	f.account.Kinds = make(map[string]int64)
	f.sglang.init(f, opt.Memory)
	return f
}

// incident takes an incident: something in the document that is not a span.
func (f *fold) incident(x incident) {
	if x.what == otherSignal {
		f.account.Total++
		f.account.Noise++
		f.account.Kinds["metrics or logs"]++
		return
	}
	p := incidentProblems[x.what]
	f.note(p.problem, x.offset)
	if p.counts {
		f.account.Total++
		f.account.Diagnosed++
	}
}

// span takes a span.
func (f *fold) span(p *part, s *span) {
	f.account.Total++
	from := &p.places[s.place]
	scope := from.scope
	if scope == "" {
		scope = string(p.raw(s.text[scopeName-textSlots]))
	}
	service := ""
	if from.resource != nil {
		service = from.resource.service
	}
	kind, used := f.classify(p, s, from, scope, service)
	for f.sglang.relieve(false) {
	}
	f.account.Kinds[kind]++
	switch used {
	case parsed:
		f.account.Parsed++
		if s.flags&inexact != 0 {
			f.note(&probInexact, s.offset)
		}
		f.noteMany(&probValue, s.offset, unusable(s))
	case diagnosed:
		f.account.Diagnosed++
	default:
		f.account.Noise++
	}
}

// unusable returns how many numbers are there and have no value.
func unusable(s *span) (n int64) {
	for odd := s.seen &^ s.has; odd != 0; odd &= odd - 1 {
		n++
	}
	return n
}

// outcome says how a span was used.
type outcome uint8

const (
	noise outcome = iota
	parsed
	diagnosed
)

// classify finds out what a span is and uses it. The two engines write the same
// keys, so their spans are told apart by name, scope, service and further keys.
func (f *fold) classify(p *part, s *span, from *place, scope, service string) (kind string, used outcome) {
	name := p.raw(s.name)
	latencies := s.attribute(ttft) || s.attribute(e2e)
	switch {
	case string(name) == "llm_request":
		return f.vllm(p, s, from, scope)
	case isSGLang(scope, service):
		if kind, used, ok := f.sglang.span(p, s, from, scope); ok {
			return kind, used
		}
	case isRequestName(name) && !s.textEmpty(rid):
		return f.sglang.root(p, s, from, scope)
	}
	if latencies {
		switch {
		case isSGLang(scope, service):
			return f.sglang.root(p, s, from, scope)
		case isVLLM(scope, service) || s.attribute(inQueue) || s.attribute(sequences):
			return f.vllm(p, s, from, scope)
		case s.attribute(cached) || s.attribute(topK) || !s.textEmpty(module) || !s.textEmpty(finish):
			return f.sglang.root(p, s, from, scope)
		}
		return f.unknown(p, s, from, scope)
	}
	if s.calls(p, scope, service) {
		return f.call(p, s, from, scope)
	}
	for i := range foreign {
		if o := &foreign[i]; strings.Contains(scope, o.scope) && bytes.HasPrefix(name, []byte(o.name)) {
			return o.kind, noise
		}
	}
	return "", noise
}

func (s *span) textEmpty(k slot) bool {
	t := s.text[k-textSlots]
	return t.from == t.to
}

func isSGLang(scope, service string) bool {
	return scope == "sglang server" || strings.Contains(strings.ToLower(service), "sglang")
}

func isVLLM(scope, service string) bool {
	return strings.Contains(scope, "vllm") || strings.Contains(strings.ToLower(service), "vllm")
}

// unknown makes a row of a span that has the latencies of a request but names no
// engine: only what all engines mean alike is used.
func (f *fold) unknown(p *part, s *span, from *place, scope string) (kind string, used outcome) {
	kind = "request of an unknown engine"
	if s.start == 0 {
		f.note(&probNoTime, s.offset)
		return kind, diagnosed
	}
	if _, again := f.repeats(p, s, from); again {
		f.note(&probDuplicate, s.offset)
		return kind, diagnosed
	}
	f.note(&probEngine, s.offset)
	r := f.run("", from, scope, s)
	f.request(r, p, s, from)
	r.end()
	return kind, parsed
}
