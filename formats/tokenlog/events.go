package tokenlog

import (
	"context"
	"math"
	"slices"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
)

// Events is the shape of one event per line.
var Events = formats.Format{
	Name:     eventsName,
	Title:    "servescope's own JSONL, one event per line",
	Priority: 11,
	Shape:    formats.Ordered,
	Sniff:    sniffEvents,
	Open:     openEvents,
}

func openEvents(ctx context.Context, src formats.Source, rng formats.Range, opt formats.Options) (formats.Reader, error) {
	first, err := probe(src, parseEvent)
	if err != nil {
		return nil, err
	}
	r := &eventReader{run: first.meta(eventsName), file: src.Name(), builder: trace.NewBuilder(trace.Requests)}
	r.Counts.Kinds = make(map[string]int64)
	first.noteEmpty(&r.Log, src, rng)
	r.assembler = assemble.NewAssembler(&assemble.Writer{
		Notes: assemble.Notes{File: r.file, Log: &r.Log}, Builder: r.builder, Run: r.run, Clock: first.clock, Lists: opt.Lists,
	}, opt.Memory)
	r.assembler.Bound(opt.Memory/2, opt.Scratch)
	r.ctx, r.cancel = context.WithCancelCause(ctx)
	absolute := first.clock.Kind == trace.Wall || first.clock.Kind == trace.Monotonic
	fresh := func() *events { return newEvents(r.file, absolute) }
	var steps []func(*block.Block, *events)
	for k := range assemble.Shards {
		steps = append(steps, r.foldShard(k))
	}
	r.stream = block.Map(r.ctx, src, rng, block.Options{Workers: opt.Workers, Block: opt.Block}, fresh, scanEvents, steps...)
	if opt.Workers > 1 {
		r.wanted, r.ready = make(chan struct{}), make(chan bool)
		r.wg.Go(r.work)
	}
	return r, nil
}

// events is what one block becomes.
type events struct {
	assemble.Events
	absolute bool // the file's clock began long before the log: no stamp is 0
	parser   parser

	// Layouts of lines, learned as they come, and which one the last line had.
	templates []template
	usual     int
	stencils  []stencil
	recent    int // the stencil that the last line had
	clock     epochClock
	stamps    [maxLines]int64 // of the lines that a stencil fits
	hashes    [maxLines]uint64

	ends *assemble.Ends // what its events end
	log  diag.Log
	lines
}

func newEvents(file string, absolute bool) *events {
	e := &events{absolute: absolute}
	e.parser.Notes = assemble.Notes{File: file, Log: &e.log}
	return e
}

// maxTemplates is how many layouts are tried before a line is read key by key.
const maxTemplates = 4

// scanEvents reads the lines of a block.
func scanEvents(b *block.Block, out *events) {
	out.log = diag.Log{}
	out.lines = lines{}
	out.Reset(b.Off, b.Data)
	p := &out.parser
	p.text = b.Data[:len(b.Data)+block.Pad]
	if b.TooLong >= 0 {
		out.diagnosed++
	}
	for i := 0; i < len(b.Data); {
		i = out.line(i)
	}
}

// line reads the line at i and returns where the next begins.
func (s *events) line(i int) (next int) {
	ev := assemble.Event{Line: uint32(i), Tokens: -1, Sort: -1, Timed: true}
	text := s.parser.text
	for range s.stencils {
		if next = s.tokens(&s.stencils[s.recent], i); next > i {
			return next
		}
		if s.recent++; s.recent == len(s.stencils) {
			s.recent = 0
		}
	}
	for try := range s.templates {
		k := s.usual + try
		if k >= len(s.templates) {
			k -= len(s.templates)
		}
		end, ok := s.templates[k].match(text, i, &ev)
		if !ok {
			continue
		}
		s.usual = k
		if text[end] == '}' && text[end+1] == '\n' && end < len(s.Text) {
			s.plain(k, i, end+2, &ev)
			return end + 2
		}
		return s.slow(i, end, &ev)
	}
	return s.slow(i, 0, nil)
}

// plain appends the event of the line from i to end, which has no more in it than
// template k reads.
func (s *events) plain(k, i, end int, ev *assemble.Event) {
	s.kinds[ev.Kind]++
	id, size := int(ev.ID.From), int(ev.ID.To-ev.ID.From)
	if ev.Kind != assemble.Token || size > assemble.MaxTickID || id-i > assemble.MaxTickLead {
		s.AddPlain(*ev)
		return
	}
	s.AddTick(assemble.MakeTick(ev.Hash, ev.At, id, id-i, size))
	if len(s.stencils) < maxStencils {
		if st, ok := s.templates[k].cut(s.parser.text, i, end-i, id-i, size); ok {
			s.stencils = append(s.stencils, st)
		}
	}
}

// slow reads the objects of the line at i key by key. The first members may have
// been read by a template: then known holds what they say and end is behind them.
func (s *events) slow(i, end int, known *assemble.Event) (next int) {
	p := &s.parser
	p.start(i)
	for more := true; more; {
		var problem *assemble.Problem
		problem, more = p.eventObject(s.Base, end, known)
		if problem == nil {
			problem = s.add(i)
		}
		if problem == nil && end == 0 && len(s.templates) < maxTemplates {
			sc := p.scanner
			if t, ok := sc.learn(i); ok {
				s.templates = append(s.templates, t)
			}
		}
		switch problem {
		case nil:
		case blank:
			s.noise++
		default:
			if problem == badJSON && p.lineEnd() >= len(s.Text) {
				problem = truncated
			}
			p.Note(problem, s.Base+int64(i))
			s.diagnosed++
		}
		end, known = 0, nil
	}
	return p.lineEnd() + 1
}

// eventObject reads the object at the cursor, or the rest of it from end on. It
// does not decide whether that is an event. more is as for record.
func (p *parser) eventObject(base int64, end int, known *assemble.Event) (problem *assemble.Problem, more bool) {
	if p.lead(); p.text[p.i] == '\n' {
		return blank, false
	}
	p.row.Reset(base + int64(p.i))
	p.event = eventFields{}
	var ok bool
	if known == nil {
		ok = p.text[p.i] == '{' && p.object()
	} else {
		p.event = eventFields{at: known.At, hasAt: true, name: eventNames[known.Kind], hasName: true}
		p.row.SetText(trace.RequestID, p.text[known.ID.From:known.ID.To])
		p.i = end
		ok = p.rest()
	}
	if !ok {
		return badJSON, false
	}
	if more, ok = p.after(); !ok {
		return badJSON, false
	}
	return nil, more
}

// rest reads what follows a member and moves behind the end of the object.
func (p *parser) rest() bool {
	p.space()
	switch p.text[p.i] {
	case '}':
		p.i++
		return true
	case ',':
		p.i++
		p.space()
		return p.members()
	}
	return false
}

// add appends the event that the parser has read from the line at i.
func (s *events) add(i int) *assemble.Problem {
	p := &s.parser
	id := p.row.Text(trace.RequestID)
	kind := slices.Index(eventNames[:], p.event.name)
	switch {
	case !p.event.hasName && p.row.HasTokens:
		return wantsRecords
	case !p.event.hasName:
		return notAnEvent
	case kind < 0:
		return unknownEvent
	case id == nil:
		return noRequestID
	}
	ev := assemble.Event{Line: uint32(i), Tokens: -1, Sort: -1, Kind: assemble.Kind(kind), Timed: p.event.hasAt, At: p.event.at}
	switch {
	case !ev.Timed:
		p.Note(noTime, s.Base+int64(i))
	case s.absolute && ev.At <= 0:
		ev.Timed = false
		p.Note(assemble.UnknownStamp, s.Base+int64(i))
	}
	if p.event.hasCount {
		ev.Tokens = p.event.tokens
		if ev.Kind == assemble.Token && ev.Tokens == 0 { // a chunk without a token is an event
			ev.Kind = assemble.FirstEvent
		}
	}
	switch v, ok := p.row.Int(trace.Choice); {
	case ok && v < math.MaxInt32:
		ev.Choice = int32(v) + 1
	case ok:
		p.Note(badValue, s.Base+int64(i))
		p.row.Unset(trace.Choice)
	}
	if p.event.kind != nil {
		ev.Sort = int8(slices.Index(trace.Requests.Fields[trace.TokenKind].Values, string(p.event.kind)))
		if ev.Sort < 0 {
			p.Note(badValue, s.Base+int64(i))
		}
	}
	if p.row.HasTokens || p.row.HasGaps || p.row.HasTokenCount {
		p.Note(badValue, s.Base+int64(i))
	}
	ev.ID, ev.Hash = s.Keep(id), assemble.Hash(id)
	s.kinds[ev.Kind]++
	s.Add(ev, &p.row)
	return nil
}

// parseEvent reads an event for the probe: its time stands for the arrival.
func parseEvent(p *parser) bool {
	if problem, _ := p.eventObject(0, 0, nil); problem != nil || !p.event.hasName {
		return false
	}
	p.row.Arrival, p.row.HasArrival = p.event.at, p.event.hasAt
	return true
}
