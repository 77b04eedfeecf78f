package promtext

import (
	"bytes"
	"io"
	"strings"

	"servescope/formats"
	"servescope/formats/internal/numx"
)

// looked is how much of a source is read to learn when it begins.
const looked = 1 << 20

// begins returns when the first scrape of a source was taken: as its text says, or
// else its name (metrics_1738765353.prom), or its modification time.
func begins(src formats.Source) (t int64, ok bool) {
	text := beginning(src)
	for line := range bytes.Lines(text) {
		line = bytes.TrimRight(line, "\r\n")
		if key, value := header(line); key == "Timestamp" {
			if t, _, ok := stampOf(string(value), nil); ok {
				return t, true
			}
		}
		if s, ok := parse(line); ok {
			if s.timed {
				return s.t, true
			}
			break
		}
	}
	for _, mark := range []string{`"values"`, `"value"`} {
		if _, rest, found := bytes.Cut(text, []byte(mark)); found {
			if t, n, ok := numx.Scaled(bytes.TrimLeft(rest, ": [\r\n\t"), numx.Second); ok && n > 0 {
				return t, true
			}
		}
	}
	return fileTime(src)
}

// beginning returns the first bytes of a source.
func beginning(src formats.Source) []byte {
	rc, err := src.Open(0)
	if err != nil {
		return nil
	}
	defer rc.Close()
	text, _ := io.ReadAll(io.LimitReader(rc, looked))
	return text
}

// fileTime returns the time in a source's name, in seconds or milliseconds since
// 1970, or else its modification time.
func fileTime(src formats.Source) (t int64, ok bool) {
	name := src.Name()
	name = name[strings.LastIndexAny(name, "/\\!")+1:]
	for i := 0; i < len(name); i++ {
		n := i
		for n < len(name) && name[n]-'0' <= 9 {
			n++
		}
		if digits := []byte(name[i:n]); len(digits) == 10 || len(digits) == 13 {
			if t, ok := instant(digits); ok && t > 1e18 {
				return t, true
			}
		}
		i = max(i, n)
	}
	if m := src.ModTime(); !m.IsZero() {
		return m.UnixNano(), true
	}
	return 0, false
}

// timeless reports whether a source is one scrape that does not say when it was
// taken: its first sample has no stamp and does not come again.
func timeless(src formats.Source) bool {
	text := beginning(src)
	for line := range bytes.Lines(text) {
		if key, _ := header(line); key != "" {
			return false
		}
		s, ok := parse(bytes.TrimRight(line, "\r\n"))
		if !ok {
			continue
		}
		_, rest, _ := bytes.Cut(text, line)
		return !s.timed && len(text) < looked && !bytes.Contains(append([]byte("\n"), rest...), append(append([]byte("\n"), s.key...), ' '))
	}
	return false
}
