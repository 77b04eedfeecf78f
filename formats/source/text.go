package source

import (
	"bytes"
	"fmt"
	"io"
	"unicode/utf16"
	"unicode/utf8"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/frame"
)

// text returns src as UTF-8 without byte order mark and without the framing of
// a container runtime; start is its beginning. A source that needs nothing is
// returned as it is, with random access if it has any.
func (u *unpacker) text(src formats.Source, start []byte) formats.Source {
	if bom := "\xef\xbb\xbf"; bytes.HasPrefix(start, []byte(bom)) {
		start = start[len(bom):]
		if at := src.At(); at != nil {
			n := int64(len(bom))
			src = &section{name: src.Name(), at: at, off: n, size: src.Size() - n, mod: src.ModTime(), base: src}
		} else {
			src = u.layer(src, skipper(len(bom)))
		}
	} else if big, ok := isUTF16(start); ok {
		src = u.layer(src, transcoder(big))
		t := &utf16Reader{r: bytes.NewReader(start), big: big}
		start, _ = formats.ReadUpTo(t, formats.HeadSize)
	}
	if f := frame.Recognise(start); f != nil {
		text := &framed{layer: layer{base: src, limits: u.limits}}
		text.decode = unframer(f, u.line, &text.faults, frame.NewReader)
		text.stamped = layer{base: src, limits: u.limits, decode: unframer(f, u.line, &text.faults, frame.NewStampedReader)}
		src = text
	}
	return src
}

// framed is the text of a log without the framing of a container runtime.
type framed struct {
	layer
	stamped layer // reports to the faults of the other
}

// Stamped implements Stamped.
func (f *framed) Stamped() formats.Source { return &f.stamped }

// Stamped is implemented by sources whose lines carried stamps that were taken
// off: those of a container runtime, which have a zone and a fraction where
// stamps of the log itself may have none.
type Stamped interface {
	// Stamped returns the same lines, each behind frame.Mark, its stamp as the
	// runtime wrote it (or nothing, where a line had none) and a space. It is
	// nil when there are no stamps.
	Stamped() formats.Source
}

// StampedOf returns the view of src with stamps, or nil if it has none.
func StampedOf(src formats.Source) formats.Source {
	if s, ok := src.(Stamped); ok {
		return s.Stamped()
	}
	return nil
}

// skipper drops the first n bytes.
func skipper(n int) decode {
	return func(_ *layer, raw *counter) (io.ReadCloser, error) {
		_, err := formats.ReadUpTo(raw, n)
		return io.NopCloser(raw), err
	}
}

// unframer takes off the framing f with the given kind of reader. Lines longer
// than limit are cut. Flaws are told to found.
func unframer(f *frame.Framing, limit int, found *faults, open func(io.Reader, *frame.Framing, int, func(frame.Flaw, int64, int64)) *frame.Reader) decode {
	return func(l *layer, raw *counter) (io.ReadCloser, error) {
		return io.NopCloser(open(raw, f, limit, func(flaw frame.Flaw, n, first int64) {
			d := diag.Diag{Severity: diag.Notice, File: l.Name(), Offset: first, Count: n}
			switch flaw {
			case frame.Unframed:
				d.Code, d.Msg = "unframed_line", "lines without the framing of the other lines ("+f.Name+") were read as they are"
			case frame.Partial:
				d.Code, d.Msg = "partial_line", "the log ends before the last part of a line; what there is was used"
			case frame.Long:
				d.Code, d.Severity = "line_too_long", diag.DataLoss
				d.Msg = fmt.Sprintf("lines of more than %d bytes were cut there", limit)
				d.Fix = "take the log from a file that the server writes itself"
			}
			found.set(d)
		})), nil
	}
}

// isUTF16 reports whether text that begins with b is UTF-16, and its byte order:
// it has a byte order mark, or nearly every other byte is 0, as in ASCII text.
func isUTF16(b []byte) (big, ok bool) {
	switch {
	case bytes.HasPrefix(b, []byte("\xff\xfe")):
		return false, true
	case bytes.HasPrefix(b, []byte("\xfe\xff")):
		return true, true
	}
	b = b[:min(len(b), 4096)&^1]
	var zeros [2]int
	for i, c := range b {
		if c == 0 {
			zeros[i&1]++
		}
	}
	const most = 0.8
	want := int(most * float64(len(b)/2))
	switch {
	case len(b) < 4:
	case zeros[0] == 0 && zeros[1] > want:
		return false, true
	case zeros[1] == 0 && zeros[0] > want:
		return true, true
	}
	return false, false
}

// transcoder makes UTF-8 from UTF-16. What is not valid becomes U+FFFD.
func transcoder(big bool) decode {
	return func(l *layer, raw *counter) (io.ReadCloser, error) {
		return io.NopCloser(&utf16Reader{r: raw, big: big, note: func(n, first int64) {
			l.set(diag.Diag{Code: "invalid_utf16", Severity: diag.Notice, File: l.Name(), Offset: first, Count: n,
				Msg: "characters that are not valid UTF-16 were replaced"})
		}}), nil
	}
}

// utf16Reader reads UTF-16 as UTF-8. A byte order mark at the start is dropped.
type utf16Reader struct {
	r     io.Reader
	big   bool
	note  func(count, first int64) // of invalid units; may be nil
	in    [32 << 10]byte
	n     int    // bytes in in
	out   []byte // decoded, not yet delivered
	buf   []byte // of out
	off   int64  // decoded bytes so far
	bad   int64
	first int64 // offset of the first invalid unit
	begun bool
	err   error
}

func (u *utf16Reader) Read(p []byte) (int, error) {
	for len(u.out) == 0 {
		if u.err != nil {
			return 0, u.err
		}
		n, err := u.r.Read(u.in[u.n:])
		u.n += n
		u.err = err
		u.convert()
	}
	n := copy(p, u.out)
	u.out = u.out[n:]
	return n, nil
}

// convert decodes the bytes read so far, but for an incomplete character.
func (u *utf16Reader) convert() {
	i, atEnd := 0, u.err == io.EOF
	u.buf = u.buf[:0]
	for i+2 <= u.n {
		r := u.unit(i)
		size := 2
		if utf16.IsSurrogate(r) {
			if i+4 > u.n && !atEnd {
				break
			}
			low := rune(utf8.RuneError)
			if i+4 <= u.n {
				low = u.unit(i + 2)
			}
			if r = utf16.DecodeRune(r, low); r != utf8.RuneError {
				size = 4
			} else {
				u.invalid()
			}
		}
		if r != 0xfeff || u.begun {
			u.buf = utf8.AppendRune(u.buf, r)
		}
		u.begun = true
		i += size
	}
	if atEnd && i < u.n { // half a unit
		u.invalid()
		u.buf = utf8.AppendRune(u.buf, utf8.RuneError)
		i = u.n
	}
	u.n = copy(u.in[:], u.in[i:u.n])
	u.out = u.buf
	u.off += int64(len(u.buf))
}

func (u *utf16Reader) unit(i int) rune {
	if u.big {
		return rune(u.in[i])<<8 | rune(u.in[i+1])
	}
	return rune(u.in[i+1])<<8 | rune(u.in[i])
}

func (u *utf16Reader) invalid() {
	if u.bad == 0 {
		u.first = u.off + int64(len(u.buf))
	}
	u.bad++
	if u.note != nil {
		u.note(u.bad, u.first)
	}
}
