package bridge

import (
	"context"
	"fmt"
	"sync"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/report"
	"servescope/formats"
	"servescope/formats/source"
)

// Options is what the face decides that an engine works for.
type Options struct {
	Set     *formats.Set
	Workers int    // goroutines that read and fold
	Memory  int64  // as in analyzer.Options
	Lists   int64  // the same
	Limit   int64  // bytes that the engine can hold at all; 0: nobody knows
	Scratch string // directory for temporary files; empty: none may be written

	Now    func() time.Time // for the pace of progress, and logs without a year
	Zone   func(name string) (*time.Location, error)
	Yield  func()          // see analyzer.Options; nil: nobody waits
	Remote analyzer.Remote // see analyzer.Options; nil: there are no remote readers
}

// Out takes the answers of a call, in order: a head, which is JSON, and a body,
// nil for none. The callee may keep both.
type Out func(head, body []byte)

// Engine answers requests. It is safe for concurrent use: the calls of one
// session wait for each other.
type Engine struct {
	opt      Options
	mu       sync.Mutex
	sessions map[string]*session
	folders  map[int64]*analyzer.Folder // for other engines, by their numbers
}

// session is an open session, and the call that it works for.
type session struct {
	mu   sync.Mutex
	s    *analyzer.Session
	gate *gate
}

// New returns an engine without sessions.
func New(opt Options) *Engine {
	return &Engine{opt: opt, sessions: make(map[string]*session), folders: make(map[int64]*analyzer.Folder)}
}

// Call answers one request. files are those of open, which belong to the session
// from then on. It returns when the last answer has been given; ctx cancels it.
func (e *Engine) Call(ctx context.Context, request []byte, files []source.Input, out Out) {
	head, body, err := e.call(ctx, request, files, out)
	if err != nil {
		head, body = failureOf(ctx, err), nil
	}
	out(encode(head), body)
}

// encode writes a head, which is one of the structs of this package: there is
// nothing in them that has no JSON form.
func encode(head any) []byte {
	text, err := report.Marshal(head)
	if err != nil {
		panic("bridge: " + err.Error())
	}
	return text
}

// result is the head of an answer that has nothing to say but that it is the last.
type result struct {
	Type string `json:"type"`
}

var done = &result{"result"}

func (e *Engine) call(ctx context.Context, request []byte, files []source.Input, out Out) (head any, body []byte, err error) {
	m, err := decode(request)
	if err != nil {
		return nil, nil, err
	}
	switch op := m.text("op"); op {
	case "describe":
		return e.describe(), nil, nil
	case "open":
		return e.open(ctx, m, files)
	case "run", "view", "export":
		s, err := e.session(m)
		if err != nil {
			return nil, nil, err
		}
		s.mu.Lock()
		defer s.mu.Unlock()
		defer s.gate.watch(e.opt.Now, out, op == "run")()
		if op == "run" {
			return s.run(ctx, m)
		}
		if op == "view" {
			return s.view(ctx, m)
		}
		return s.export(ctx, m, out)
	case "parse":
		return e.parse(ctx, m, files, out)
	case "states":
		return e.states(m)
	case "close":
		return e.close(m)
	default:
		return nil, nil, fmt.Errorf("there is no operation %q", op)
	}
}

func (e *Engine) session(m message) (*session, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if s := e.sessions[m.text("session")]; s != nil {
		return s, nil
	}
	return nil, fmt.Errorf("there is no session %q", m.text("session"))
}

// Adopt puts a session that is open already under the given number. The engine
// closes it. progress must be the function that its options name.
func (e *Engine) Adopt(number string, s *analyzer.Session, progress *Progress) {
	e.mu.Lock()
	defer e.mu.Unlock()
	s.Tell(progress.gate.partial)
	e.sessions[number] = &session{s: s, gate: &progress.gate}
}

func (e *Engine) close(m message) (any, []byte, error) {
	number := m.text("session")
	e.mu.Lock()
	s := e.sessions[number]
	delete(e.sessions, number)
	e.mu.Unlock()
	if s == nil {
		return done, nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return done, nil, s.s.Close()
}

// Close closes every session.
func (e *Engine) Close() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	var first error
	for number, s := range e.sessions {
		if err := s.s.Close(); err != nil && first == nil {
			first = err
		}
		delete(e.sessions, number)
	}
	return first
}

// run answers with the report as JSON. A report of nothing is an error that
// comes with it.
func (s *session) run(ctx context.Context, m message) (any, []byte, error) {
	q, err := queryOf(m)
	if err != nil {
		return nil, nil, err
	}
	r, err := s.s.Run(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	body, err := r.MarshalJSON()
	if err != nil {
		return nil, nil, err
	}
	if err := s.s.Empty(); err != nil {
		return failureOf(ctx, err), body, nil
	}
	return done, body, nil
}
