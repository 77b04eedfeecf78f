// Package frame takes off what a container runtime wraps around each line of a
// process, and joins the parts of lines that it cut: Docker cuts at 16 KiB, CRI
// runtimes at 8 or 16 KiB, and the lines of stdout and stderr interleave.
//
//	2026-03-01T09:00:00.1Z stdout P {"id":"r1","toke
//	2026-03-01T09:00:00.2Z stderr F warning
//	2026-03-01T09:00:00.3Z stdout F ns":[1,2,3]}
//
// becomes the two lines `warning` and `{"id":"r1","tokens":[1,2,3]}`.
package frame

import (
	"bufio"
	"bytes"
	"io"
)

// Framing is one way of wrapping lines. A new one is a parse function and an
// entry in framings.
type Framing struct {
	Name  string
	parse func(line, dst []byte) (part, bool)

	quoted bool // a line goes on where a quote of it is open, as a row of a table does
}

// part is what one wrapped line holds. text is appended to the dst of parse.
type part struct {
	stream stream
	time   []byte // as written, aliasing the line
	text   []byte
	end    bool // the line of the process ends with this part
}

type stream int

const (
	stdout stream = iota
	stderr
	streams
)

var framings = []*Framing{{Name: "docker", parse: parseDocker}, {Name: "cri", parse: parseCRI}}

// Recognise returns the framing of the text that begins with start, or nil.
// At least half of the first lines must be of it: a rotated log may begin in
// the middle of a line.
func Recognise(start []byte) *Framing {
	var lines [][]byte
	for line := range bytes.Lines(start) {
		complete := line[len(line)-1] == '\n'
		if line = bytes.TrimRight(line, "\r\n"); len(line) > 0 && (complete || len(lines) == 0) {
			lines = append(lines, line)
		}
		if len(lines) == 8 {
			break
		}
	}
	for _, f := range framings {
		n := 0
		for _, line := range lines {
			if _, ok := f.parse(line, nil); ok {
				n++
			}
		}
		if n > 0 && 2*n >= len(lines) {
			return f
		}
	}
	return nil
}

// Line is one line as the process wrote it. Its bytes are valid until the next
// call of Scanner.Next.
type Line struct {
	Stream string // "stdout" or "stderr"; "" when the line was not wrapped
	Time   []byte // the runtime's stamp of its first part, as written
	Text   []byte // without its end
	Flaw   Flaw
}

// Flaw is what is wrong with a line.
type Flaw uint8

// The flaws.
const (
	Sound    Flaw = iota
	Unframed      // it was not wrapped as the others are; delivered as it is
	Partial       // the log ends before the line does
	Long          // it was longer than the limit, and cut there
)

// Scanner reads lines. Its memory is bounded by a few times its limit.
type Scanner struct {
	f     *Framing
	r     *bufio.Reader
	limit int
	line  Line
	err   error

	long []byte        // a wrapped line beyond the buffer of r
	text []byte        // the text of a line of one part
	open [streams]open // lines whose end is still to come
	seq  int
}

type open struct {
	seq  int // order of the first parts; 0: none is open
	time []byte
	text []byte
	cut  bool
}

// NewScanner returns a scanner of the lines that r holds in framing f. No line
// that it returns is longer than limit bytes.
func NewScanner(r io.Reader, f *Framing, limit int) *Scanner {
	return &Scanner{f: f, r: bufio.NewReaderSize(r, 128<<10), limit: limit}
}

// Line returns the line that Next found.
func (s *Scanner) Line() Line { return s.line }

// Err returns the error of the underlying reader that ended Next, if any.
func (s *Scanner) Err() error {
	if s.err == io.EOF {
		return nil
	}
	return s.err
}

// Next moves to the next line.
func (s *Scanner) Next() bool {
	for s.err == nil {
		raw, cut, err := s.read()
		s.err = err
		if len(raw) == 0 {
			continue
		}
		if s.accept(bytes.TrimSuffix(raw, []byte{'\n'}), cut) {
			return true
		}
	}
	return s.flush()
}

// accept takes one wrapped line and reports whether it completes a line.
func (s *Scanner) accept(raw []byte, cut bool) bool {
	p, ok := s.f.parse(raw, s.text[:0])
	if !ok {
		s.line = Line{Text: raw, Flaw: Unframed}
		if cut {
			s.line.Flaw = Long
		}
		return true
	}
	s.text = p.text
	o := &s.open[p.stream]
	if o.seq == 0 && p.end {
		s.line = Line{Stream: p.stream.String(), Time: p.time, Text: p.text}
		return true
	}
	if o.seq == 0 {
		s.seq++
		*o = open{seq: s.seq, time: append(o.time[:0], p.time...), text: o.text[:0]}
	}
	room := max(s.limit-len(o.text), 0)
	o.cut = o.cut || len(p.text) > room
	o.text = append(o.text, p.text[:min(room, len(p.text))]...)
	if !p.end {
		return false
	}
	s.close(p.stream, Sound)
	return true
}

// close makes the open line of a stream the current one.
func (s *Scanner) close(n stream, flaw Flaw) {
	o := &s.open[n]
	if o.cut {
		flaw = Long
	}
	s.line = Line{Stream: n.String(), Time: o.time, Text: o.text, Flaw: flaw}
	o.seq, o.cut = 0, false
}

// flush delivers the lines that the end of the log leaves open, the one that
// began first before the other.
func (s *Scanner) flush() bool {
	if s.err != io.EOF {
		return false
	}
	first := streams
	for n := range streams {
		if s.open[n].seq > 0 && (first == streams || s.open[n].seq < s.open[first].seq) {
			first = n
		}
	}
	if first == streams {
		return false
	}
	s.close(first, Partial)
	return true
}

// read returns the next line of the log with its end, cut at the limit.
func (s *Scanner) read() (line []byte, cut bool, err error) {
	line, err = s.r.ReadSlice('\n')
	open := s.f.quoted && odd(line)
	if err != bufio.ErrBufferFull && (err != nil || !open) {
		return line, false, err
	}
	s.long = append(s.long[:0], line...)
	for err == bufio.ErrBufferFull || err == nil && open && !cut {
		line, err = s.r.ReadSlice('\n')
		open = open != (s.f.quoted && odd(line))
		room := s.limit - len(s.long)
		cut = cut || len(line) > room
		s.long = append(s.long, line[:max(min(room, len(line)), 0)]...)
	}
	return s.long, cut, err
}

// odd tells whether a quote is open behind b.
func odd(b []byte) bool { return bytes.Count(b, []byte{'"'})%2 == 1 }

func (n stream) String() string {
	if n == stderr {
		return "stderr"
	}
	return "stdout"
}

// parseStream returns the stream of the given name.
func parseStream(name []byte) (stream, bool) {
	switch string(name) {
	case "stdout":
		return stdout, true
	case "stderr":
		return stderr, true
	}
	return 0, false
}
