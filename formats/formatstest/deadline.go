package formatstest

import (
	"bytes"
	"errors"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

// inputDeadline is how long one input of maxFuzz bytes may take. It takes some
// milliseconds; the rest is for slow and busy machines.
const inputDeadline = 30 * time.Second

// watch panics with the stacks of all goroutines unless stop is called in time: nothing
// else ends a loop that does not move on.
func watch(what string) (stop func() bool) {
	return time.AfterFunc(inputDeadline, func() {
		stacks := make([]byte, 1<<20)
		stacks = stacks[:runtime.Stack(stacks, true)]
		panic(fmt.Sprintf("%s: not read after %v\n\n%s", what, inputDeadline, stacks))
	}).Stop
}

// Ends detects the format of a text and reads it, then does so with versions of the text
// that are damaged in ways that happen to logs, each within a deadline.
func Ends(t *testing.T, set *formats.Set, name string, text []byte) {
	text = text[:min(len(text), maxFuzz)]
	sum := fnv.New64a()
	sum.Write(text)
	r := rand.New(rand.NewPCG(sum.Sum64(), 1))
	versions := [][]byte{text}
	for _, damage := range damages {
		versions = append(versions, damage.apply(r, bytes.Clone(text)))
	}
	for i, version := range versions {
		how := "as it is"
		if i > 0 {
			how = damages[i-1].name
		}
		stop := watch(fmt.Sprintf("%s, %s: %.300q", name, how, version))
		err := detectAndRead(set, version)
		stop()
		if errors.Is(err, errBroken) {
			t.Errorf("%s, %s: %v", name, how, err)
		}
	}
}

// detectAndRead reads a text as the format that is detected.
func detectAndRead(set *formats.Set, text []byte) error {
	var src formats.Source = source.FromBytes("damaged", text)
	head, err := formats.ReadHead(src)
	if err != nil {
		return err
	}
	found, err := set.Detect(head)
	if inner, of, within := source.Within(set, src, head, found, err); within {
		src, found, err = inner, of, nil
	}
	if err != nil {
		return err
	}
	if head, err := formats.ReadHead(src); err == nil {
		set.Others(head, found.Format)
	}
	_, err = readWhole(found.Format, src, options())
	return err
}

// damages are what becomes of the text of logs.
var damages = []struct {
	name  string
	apply func(r *rand.Rand, text []byte) []byte
}{
	{"cut off", func(r *rand.Rand, text []byte) []byte { return text[:r.IntN(len(text)+1)] }},
	{"cut off at both ends", func(r *rand.Rand, text []byte) []byte {
		from := r.IntN(len(text) + 1)
		return text[from : from+r.IntN(len(text)-from+1)]
	}},
	{"without line ends", func(_ *rand.Rand, text []byte) []byte { return bytes.ReplaceAll(text, []byte("\n"), nil) }},
	{"lines glued", func(r *rand.Rand, text []byte) []byte {
		return eachLine(text, func(line []byte) []byte {
			if r.IntN(3) == 0 {
				return line
			}
			return append(line, '\n')
		})
	}},
	{"pairs in front of lines", func(_ *rand.Rand, text []byte) []byte {
		return eachLine(text, func(line []byte) []byte { return fmt.Appendf(nil, "level=info msg=done id=a %s\n", line) })
	}},
	{"a stamp in front of lines", func(_ *rand.Rand, text []byte) []byte {
		return eachLine(text, func(line []byte) []byte { return fmt.Appendf(nil, "2026-03-01 10:00:01,500 INFO x: %s\n", line) })
	}},
	{"an object behind lines", func(_ *rand.Rand, text []byte) []byte {
		return eachLine(text, func(line []byte) []byte { return append(line, ` {"ttft_ms": 1}`+"\n"...) })
	}},
	{"lines cut off", func(r *rand.Rand, text []byte) []byte {
		return eachLine(text, func(line []byte) []byte { return append(line[:r.IntN(len(line)+1)], '\n') })
	}},
	{"signs lost", func(r *rand.Rand, text []byte) []byte {
		var kept []byte
		for _, c := range text {
			if bytes.IndexByte([]byte("\"'{}[]():=,\\"), c) < 0 || r.IntN(8) > 0 {
				kept = append(kept, c)
			}
		}
		return kept
	}},
	{"bytes changed", func(r *rand.Rand, text []byte) []byte {
		const others = "\"'{}[]()<>:=,;|\\ \t\r\n0-.eE\x00\xff"
		for i := range text {
			if r.IntN(100) == 0 {
				text[i] = others[r.IntN(len(others))]
			}
		}
		return text
	}},
}

// eachLine returns the text with its lines changed.
func eachLine(text []byte, change func(line []byte) []byte) []byte {
	var out []byte
	for line := range bytes.Lines(text) {
		out = append(out, change(bytes.Clone(bytes.TrimSuffix(line, []byte("\n"))))...)
	}
	return out
}
