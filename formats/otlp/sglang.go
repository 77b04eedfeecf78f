package otlp

import (
	"slices"
	"strconv"
	"strings"

	"servescope/analyzer/trace"
	"servescope/formats/internal/json"
	"servescope/formats/internal/sglmeta"
)

// sglangRow makes a row of a request of SGLang.
func (f *fold) sglangRow(t *group, root *root, m members) {
	s := &root.span
	r := f.run("sglang", &root.from, root.scope, s)
	b := r.rows
	first, known := f.request(r, &root.texts, s, &root.from)
	if id := root.texts.raw(s.text[rid-textSlots]); len(id) > 0 {
		b.Text(trace.RequestID, json.Text(id))
	}
	side := sideOf(root.texts.raw(s.name), m.slices)
	reason := finishReason(root.texts.string(s, finish))
	if reason != "" {
		b.Dict(trace.FinishReason, []byte(reason))
	}
	if reason == "abort" || reason == "" && m.aborted {
		b.Code(trace.StatusCol, int32(trace.Aborted))
	}
	if group := f.sglang.work.room(t, root); group != "" {
		b.Text(trace.JoinGroup, []byte(group))
	}
	n, counted := s.number(completion)
	at := stages{received: s.start}
	if known {
		at.first = s.start + first
		at.dispatched = dispatchOf(s, first)
	}
	f.fill(r, m, side, at, n, counted && n >= 0, s.offset)
	r.claim(inPrefill, s)
	if m.retracts > 0 || !s.textEmpty(module) {
		b.Int(trace.Preemptions, m.retracts)
	}
	r.end()
}

// openRows makes rows of the requests of a group that have no root: it is
// exported when the request ends.
func (f *fold) openRows(t *group, w *resolver) {
	for i := range len(w.bounds) - 2 {
		m := w.of(t, int32(i))
		if len(m.slices) == 0 {
			continue
		}
		r := t.run
		b := r.rows
		b.Int(trace.Resolution, resolution)
		b.Int(trace.Offset, t.recs[w.owned(int32(i))[0]].offset)
		b.Code(trace.StatusCol, int32(trace.Open))
		var at stages
		if k := indexOf(m.slices, tokenize); k >= 0 {
			at.received = m.slices[k].start
			b.Int(trace.Received, at.received)
		}
		f.fill(r, m, sideOf(nil, m.slices), at, 0, false, t.first)
		if m.retracts > 0 {
			b.Int(trace.Preemptions, m.retracts)
		}
		r.end()
	}
}

// sideOf returns the side of a request. The name of the root or the slices tell
// whether it is a node of a disaggregated deployment.
func sideOf(name []byte, list []rec) trace.Side {
	switch role, _, _ := strings.Cut(string(name), "Req "); strings.TrimSpace(role) {
	case "prefill":
		return trace.Prefill
	case "decode":
		return trace.Decode
	}
	for i := range list {
		switch list[i].stage {
		case prefillPrepare, prefillBootstrap, transferKV:
			return trace.Prefill
		case decodePrepare, decodeBootstrap, decodeTransferred, fakeOutput:
			return trace.Decode
		}
	}
	return trace.Server
}

// room returns the bootstrap room of a request, which its two halves share, or
// nothing. It is an attribute of the root, or of the root's parent.
func (w *resolver) room(t *group, r *root) string {
	name := r.room
	if i, ok := w.nodes[r.span.parent]; ok && name == "" && t.recs[i].kind == isRoom {
		name = t.rooms[t.recs[i].info]
	}
	return sglmeta.Room(name)
}

// finishReason takes the first reason out of the list, which is JSON in a string.
func finishReason(s string) string {
	if strings.Contains(s, "abort") {
		return "abort"
	}
	s = strings.Trim(s, `[]" `)
	if i := strings.IndexAny(s, `",{}:`); i >= 0 {
		s = s[:i]
	}
	return s
}

// dispatchOf returns when the request was dispatched as its attributes tell: what
// SGLang calls time_in_model_prefill runs from there to the first token.
func dispatchOf(s *span, first int64) int64 {
	if v, ok := s.number(inPrefill); ok && v > 0 && v <= first {
		return s.start + first - v
	}
	return 0
}

func indexOf(list []rec, s stage) int {
	return slices.IndexFunc(list, func(x rec) bool { return x.stage == s })
}

// replica names the scheduler: its host and data-parallel rank.
func (th *thread) replica() string {
	name := th.host[:min(len(th.host), 8)]
	if th.dp >= 0 {
		name = strings.TrimPrefix(name+"/dp"+strconv.FormatInt(th.dp, 10), "/")
	}
	return name
}
