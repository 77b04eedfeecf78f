package tokenlog

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
)

// eventFacts is one event as the oracle or the scanner has read it.
type eventFacts struct {
	id     string
	kind   assemble.Kind
	at     int64
	timed  bool
	tokens int64
	sort   int8
	line   int
	fields string
}

// scanText scans a text as one block, with or without templates.
func scanText(text []byte, templates bool) ([]eventFacts, *events) {
	n := len(text)
	b := &block.Block{Data: append(slices.Clone(text), bytes.Repeat([]byte{'\n'}, block.Pad)...)[:n], TooLong: -1}
	s := newEvents("test", false)
	if !templates {
		s.templates = make([]template, maxTemplates)
		for i := range s.templates {
			s.templates[i].lit[0].mask[0] = 0xff // a line that begins with a zero byte
		}
	}
	scanEvents(b, s)
	var out []eventFacts
	for _, ev := range inOrder(s) {
		f := eventFacts{kind: ev.Kind, at: ev.At, timed: ev.Timed, tokens: ev.Tokens, sort: ev.Sort, line: int(ev.Line)}
		f.id = string(s.Bytes(ev.ID))
		if ev.Hash != assemble.Hash([]byte(f.id)) {
			f.id += " with a wrong hash"
		}
		if !f.timed {
			f.at = 0
		}
		for _, c := range s.Fields[ev.Fields : ev.Fields+uint32(ev.NFields)] {
			f.fields += fmt.Sprintf("%d=%d%s;", c.Col, c.Int, s.Bytes(c.Span))
		}
		out = append(out, f)
	}
	return out, s
}

// inOrder returns the events of all shards in file order.
func inOrder(s *events) (all []assemble.Event) {
	for k := range assemble.Shards {
		for i := range s.Shard(k) {
			all = append(all, s.Event(&s.Shard(k)[i]))
		}
	}
	slices.SortStableFunc(all, func(a, b assemble.Event) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.ID.From, b.ID.From))
	})
	return all
}

// eventOracle reads an event line with encoding/json. ok is false for a line that
// is no event.
func eventOracle(line []byte) (f eventFacts, ok bool) {
	o, valid := oracle(line)
	if !valid {
		return f, false
	}
	f.tokens, f.sort = -1, -1
	name := ""
	d := json.NewDecoder(bytes.NewReader(line))
	d.UseNumber()
	for d.Token(); d.More(); {
		key, _ := d.Token()
		var v any
		d.Decode(&v)
		switch key := key.(string); key {
		case "event":
			name, _ = v.(string)
		case "ts", "ts_ms", "ts_us", "ts_ns":
			f.at, f.timed = o.number(v, keys.lookup(append([]byte(key), make([]byte, 8)...), 0, len(key)))
			if !f.timed {
				f.at = 0
			}
		case "tokens":
			f.tokens = -1
			if n, ok := o.number(v, &field{kind: count}); ok {
				f.tokens = n
			}
		case "kind":
			s, _ := v.(string)
			f.sort = int8(slices.Index(trace.Requests.Fields[trace.TokenKind].Values, s))
		}
	}
	f.kind = assemble.Kind(slices.Index(eventNames[:], name))
	f.id = o.texts[trace.RequestID]
	if f.kind == assemble.Token && f.tokens == 0 {
		f.kind = assemble.FirstEvent
	}
	delete(o.texts, trace.RequestID)
	delete(o.texts, trace.ErrorClass)
	for c := trace.Col(0); c <= trace.Offset; c++ {
		if v, ok := o.ints[c]; ok {
			f.fields += fmt.Sprintf("%d=%d;", c, v)
		}
	}
	for c := trace.Col(0); c <= trace.Offset; c++ {
		if v, ok := o.texts[c]; ok {
			f.fields += fmt.Sprintf("%d=0%s;", c, v)
		}
	}
	if v, ok := o.ints[arrivalCol]; ok {
		f.fields += fmt.Sprintf("%d=%d;", trace.Offset+1, v)
	}
	if o.failed {
		f.fields += fmt.Sprintf("%d=0;", trace.Offset+2)
	}
	return f, slices.Contains(eventNames[:], name) && f.id != ""
}

// eventLine makes up an event line: mostly plain, in one of a few layouts.
func (g *generator) eventLine(layout int) []byte {
	ts := fmt.Sprintf("%.6f", 1764428000+g.Float64()*1000)
	id := `"` + g.pick("r", "req-", "0123456789abcdef", "0123456789abcdef-fedcba9876543210-", "é") + strconv.Itoa(g.IntN(50)) + `"`
	name := `"` + g.pick("token", "token", "token", "arrival", "finish", "queued", "admitted", "prefill_done", "error", "abort", "dispatched") + `"`
	if g.IntN(15) == 0 {
		ts = g.number()
	}
	if g.IntN(30) == 0 {
		id = g.pick("17", `"a\"b"`, `""`, "null", `"`+g.chars(30)+`"`)
	}
	if g.IntN(30) == 0 {
		name = g.pick(`"tok\u0065n"`, `"tokens"`, `"Token"`, "null", "3", `"toke"`)
	}
	var s string
	switch layout {
	case 0:
		s = `{"ts":` + ts + `,"request_id":` + id + `,"event":` + name
	case 1:
		s = `{"event": ` + name + `, "request_id": ` + id + `, "ts": ` + ts
	case 2:
		s = ` { "request_id" : ` + id + ` , "ts_ms":` + ts + `,"event":` + name
	default:
		s = `{"level":"info","ts":` + ts + `,"event":` + name + `,"request_id":` + id
	}
	for g.IntN(4) == 0 {
		f := g.pick("tokens", "kind", "prompt_tokens", "model", "error", "output_tokens", "arrival", "ts", "prompt", "received_ms")
		switch f {
		case "prompt":
			s += `,"prompt":` + g.value(2)
		case "kind":
			s += `,"kind":` + g.pick(`"content"`, `"reasoning"`, `"nonsense"`, "null")
		case "error":
			s += `,"error":` + g.pick(`"timeout: x"`, "null", `{"message":"a b"}`)
		default:
			s += `,"` + f + `":` + g.fitting(f)
		}
	}
	return []byte(s + g.space() + "}" + g.space())
}

// TestEventsAgainstOracle compares what templates, the slow path and
// encoding/json read from the same lines.
func TestEventsAgainstOracle(t *testing.T) {
	g := &generator{rand.New(rand.NewPCG(21, 22))}
	hits := 0
	for range 300 {
		var text bytes.Buffer
		var want []eventFacts
		layouts := 1 + g.IntN(4)
		lines := 0
		for range g.IntN(60) {
			line := g.eventLine(g.IntN(layouts))
			if f, ok := eventOracle(line); ok {
				f.line = text.Len()
				want = append(want, f)
			}
			text.Write(line)
			text.WriteByte('\n')
			lines++
		}
		fast, s := scanText(text.Bytes(), true)
		slow, s2 := scanText(text.Bytes(), false)
		hits += len(s.templates)
		for i := range fast { // the class of an error has its own test
			fast[i].fields = withoutClass(fast[i].fields)
		}
		for i := range slow {
			slow[i].fields = withoutClass(slow[i].fields)
		}
		for i := range max(len(want), len(fast), len(slow)) {
			if i >= len(want) || i >= len(fast) || i >= len(slow) || fast[i] != want[i] || slow[i] != want[i] {
				t.Fatalf("event %d of %d, %d, %d:\nfast %+v\nslow %+v\nwant %+v", i, len(fast), len(slow), len(want), at(fast, i), at(slow, i), at(want, i))
			}
		}
		if n := len(fast) + int(s.diagnosed+s.noise); n != lines || s2.diagnosed != s.diagnosed {
			t.Fatalf("%d lines are accounted for, want %d; %d and %d with a diag", n, lines, s.diagnosed, s2.diagnosed)
		}
	}
	if hits < 300 {
		t.Errorf("only %d layouts were learned", hits)
	}
}

func at(list []eventFacts, i int) any {
	if i >= len(list) {
		return "none"
	}
	return list[i]
}

// withoutClass takes the error class out of fields.
func withoutClass(s string) string {
	var out strings.Builder
	for f := range strings.SplitSeq(s, ";") {
		if f != "" && !strings.HasPrefix(f, fmt.Sprintf("%d=", trace.ErrorClass)) {
			out.WriteString(f + ";")
		}
	}
	return out.String()
}

// TestTemplates counts how many lines of usual layouts are read by a template.
func TestTemplates(t *testing.T) {
	for _, format := range []string{
		`{"ts":%d.25,"request_id":"r%d","event":"token"}`,
		`{"ts": %d.25, "request_id": "r%d", "event": "token"}`,
		`{"request_id":"r%[2]d","event":"token","ts":%[1]d.5}`,
		`{"level":"info","ts":%d.25,"event":"token","request_id":"r%d"}`,
		`{"event":"token","ts_ns":%d000000000,"request_id":"r%d","tokens":2}`,
	} {
		var text bytes.Buffer
		for i := range 100 {
			fmt.Fprintf(&text, format+"\n", 1764428000+i, i)
		}
		got, s := scanText(text.Bytes(), true)
		if len(got) != 100 || len(s.templates) != 1 {
			t.Errorf("%s: %d events, %d templates", format, len(got), len(s.templates))
		}
		for i, f := range got {
			if f.id != fmt.Sprintf("r%d", i) || f.at/1e9 != int64(1764428000+i) {
				t.Errorf("%s: event %d is %+v", format, i, f)
			}
		}
	}
}
