package bridge

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/report"
	"servescope/formats"
	"servescope/formats/source"
)

// opened is the head of the answer to open.
type opened struct {
	Type     string         `json:"type"`
	Inputs   []report.Input `json:"inputs"`
	Estimate *estimate      `json:"estimate"` // nil: nothing tells, or there is no limit
}

// open opens files under the number of a session. Labels stand beside files.
func (e *Engine) open(ctx context.Context, m message, files []source.Input) (any, []byte, error) {
	number := m.text("session")
	labels := m["label"]
	for i := range files {
		files[i].Named = true
		if i < len(labels) {
			files[i].Label = labels[i]
		}
	}
	opt, err := e.options(m)
	if err != nil {
		return nil, nil, err
	}
	s := &session{gate: new(gate)}
	opt.Progress = s.gate.read
	inputs, err := source.Unpack(files, formats.Options{Workers: opt.Workers, Memory: opt.Memory, Scratch: opt.Scratch, Now: opt.Now})
	if err != nil {
		return nil, nil, err
	}
	if s.s, err = analyzer.Open(ctx, e.opt.Set, inputs, m.text("format"), opt); err != nil {
		inputs.Close()
		return nil, nil, err
	}
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.sessions[number] != nil {
		s.s.Close()
		return nil, nil, fmt.Errorf("there is a session %q already", number)
	}
	s.s.Tell(s.gate.partial)
	e.sessions[number] = s
	return &opened{"result", s.s.Inputs(), e.estimateOf(inputs.List, s.s.Formats())}, nil, nil
}

func (e *Engine) options(m message) (analyzer.Options, error) {
	opt := analyzer.Options{
		Workers: e.opt.Workers, Memory: e.opt.Memory, Lists: e.opt.Lists, Scratch: e.opt.Scratch, Now: e.opt.Now(),
		Join: m.yes("join"), Align: m.yes("align"), Yield: e.opt.Yield, Remote: e.opt.Remote,
		Years: make(map[string]int), Zones: make(map[string]*time.Location),
	}
	for _, text := range m["year"] {
		label, value := labelled(text)
		year, err := strconv.Atoi(value)
		if err != nil || year < 2001 || year > 2261 {
			return opt, &failure{Code: usage, Flag: "--year", Message: fmt.Sprintf("%q is no year of a log", text), Hint: "write 2026, or LABEL=2026"}
		}
		opt.Years[label] = year
	}
	for _, text := range m["tz"] {
		label, value := labelled(text)
		zone, err := e.opt.Zone(value)
		if err != nil {
			return opt, &failure{Code: usage, Flag: "--tz", Message: fmt.Sprintf("%q: %s", text, err), Hint: "write +02:00, or LABEL=+02:00"}
		}
		opt.Zones[label] = zone
	}
	return opt, nil
}

// labelled splits LABEL=VALUE; without a label it is "".
func labelled(text string) (label, value string) {
	if label, value, ok := strings.Cut(text, "="); ok {
		return label, value
	}
	return "", text
}

// Zone reads an offset from UTC, as "+02:00". It needs no database of zones.
func Zone(name string) (*time.Location, error) {
	t, err := time.Parse("-07:00", name)
	if err != nil {
		return nil, fmt.Errorf("that is no offset from UTC")
	}
	_, offset := t.Zone()
	return time.FixedZone("UTC"+name, offset), nil
}
