package frame

import (
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"testing/iotest"
	"time"
)

// flaws is what note was told last, per flaw.
type flaws map[Flaw][2]int64

// text returns log without its framing, which must be of the given name.
func text(t *testing.T, name, log string, limit int) (string, flaws) {
	t.Helper()
	f := Recognise([]byte(log))
	if f == nil || f.Name != name {
		t.Fatalf("framing %v, want %s, of\n%.200s", f, name, log)
	}
	got := flaws{}
	b, err := io.ReadAll(NewReader(strings.NewReader(log), f, limit, func(f Flaw, n, first int64) { got[f] = [2]int64{n, first} }))
	if err != nil {
		t.Fatal(err)
	}
	return string(b), got
}

const record = `{"id":"r1","tokens":[1,2,3]}`

func TestP47CRI(t *testing.T) {
	log := `2026-03-01T09:00:00.100000000Z stdout P {"id":"r1","toke
2026-03-01T09:00:00.150000000Z stderr F a warning
2026-03-01T09:00:00.200000000Z stdout P ns":[1,2
2026-03-01T09:00:00.250000000Z stderr F another
2026-03-01T09:00:00.300000000Z stdout F ,3]}
`
	if got, flaws := text(t, "cri", log, 1<<20); got != "a warning\nanother\n"+record+"\n" || len(flaws) != 0 {
		t.Errorf("got %q, %v", got, flaws)
	}
	s := NewScanner(strings.NewReader(log), framings[1], 1<<20)
	var last Line
	for s.Next() {
		last = s.Line()
	}
	if string(last.Text) != record || string(last.Time) != "2026-03-01T09:00:00.100000000Z" || last.Stream != "stdout" {
		t.Errorf("the joined line is %s of %s at %s, not at the time of its first part", last.Text, last.Stream, last.Time)
	}
}

func TestP47Docker(t *testing.T) {
	log := `{"log":"{\"id\":\"r1\",","stream":"stdout","time":"2026-03-01T09:00:00.1Z"}
{"log":"warning\n","stream":"stderr","time":"2026-03-01T09:00:00.15Z"}
{"log":"\"n\":3}\n","stream":"stdout","time":"2026-03-01T09:00:00.2Z"}
`
	if got, flaws := text(t, "docker", log, 1<<20); got != "warning\n{\"id\":\"r1\",\"n\":3}\n" || len(flaws) != 0 {
		t.Errorf("got %q, %v", got, flaws)
	}
}

func TestP47UnterminatedPart(t *testing.T) {
	log := `2026-03-01T09:00:00.1Z stdout F whole
2026-03-01T09:00:00.2Z stderr P err
2026-03-01T09:00:00.3Z stdout P out
2026-03-01T09:00:00.4Z stderr P or`
	got, flaws := text(t, "cri", log, 1<<20)
	if got != "whole\nerror\nout\n" || flaws[Partial] != [2]int64{2, 6} {
		t.Errorf("got %q, %v", got, flaws)
	}
}

func TestFlaws(t *testing.T) {
	const stamp = "2026-03-01T09:00:00Z stdout "
	got, flaws := text(t, "cri", stamp+"F ok\nnot framed\n"+stamp+"F \n"+stamp+"F\n"+stamp+"P:x 12345\n"+stamp+"F 67890\n"+stamp+"F end\n", 8)
	if got != "ok\nnot framed\n\n\n12345678\nend\n" {
		t.Errorf("got %q", got)
	}
	if flaws[Unframed] != [2]int64{1, 3} || flaws[Long] != [2]int64{1, 16} {
		t.Errorf("flaws %v", flaws)
	}
}

// TestHugeLine reads a line of 1 GB without an end, framed and not.
func TestHugeLine(t *testing.T) {
	const limit = 1 << 20
	f := func(head, part string, n int, tail, want string) {
		t.Helper()
		r := NewReader(io.MultiReader(strings.NewReader(head), repeat(part, n), strings.NewReader(tail)), framings[1], limit, func(Flaw, int64, int64) {})
		got, err := io.ReadAll(r)
		if err != nil || string(got) != want {
			t.Errorf("%d bytes, %v; want %d", len(got), err, len(want))
		}
		if held := cap(r.s.long) + cap(r.s.text) + cap(r.s.open[stdout].text); held > 8*limit {
			t.Errorf("%d bytes held", held)
		}
	}
	const stamp = "2026-03-01T09:00:00Z stdout "
	kib := strings.Repeat("x", 1024)
	f("", kib, 1<<20, "\n"+stamp+"F end\n", strings.Repeat("x", limit)+"\nend\n")
	f("", stamp+"P "+kib+"\n", 1<<18, stamp+"F last\n"+stamp+"F end\n", strings.Repeat("x", limit)+"\nend\n")
}

// repeat reads as s, n times.
func repeat(s string, n int) io.Reader { return &repeated{s: s, n: n} }

type repeated struct {
	s      string
	n, off int
}

func (r *repeated) Read(p []byte) (int, error) {
	if r.n == 0 {
		return 0, io.EOF
	}
	n := copy(p, r.s[r.off:])
	if r.off += n; r.off == len(r.s) {
		r.off, r.n = 0, r.n-1
	}
	return n, nil
}

func TestRecognise(t *testing.T) {
	f := func(text, want string) {
		t.Helper()
		got := ""
		if f := Recognise([]byte(text)); f != nil {
			got = f.Name
		}
		if got != want {
			t.Errorf("%q is %q, want %q", text, got, want)
		}
	}
	const docker = `{"log":"a\n","stream":"stdout","time":"2026-03-01T09:00:00.1Z"}`
	f(docker, "docker")
	f("rest of a line\n"+docker+"\n", "docker")
	f(`{"log":"a\n","stream":"stdout","attrs":{"a":"}","b":[1]},"time":"2026-03-01T09:00:00.1Z"}`+"\n", "docker")
	f(`{"stream":"stderr", "time":"2026-03-01T09:00:00.1Z", "log":"a"}`, "docker")
	f("2026-03-01T09:00:00.1+02:00 stdout F x\n", "cri")
	f("\n\n2026-03-01T09:00:00.1Z stderr P x\n", "cri")
	// Not framed.
	f("", "")
	f("\n\n", "")
	f(`{"log":"a","n":1}`, "")
	f(`{"log":"a","stream":"other","time":"2026-03-01T09:00:00.1Z"}`, "")
	f(`{"log":"a","stream":"stdout","time":"now"}`, "")
	f(`{"log":1,"stream":"stdout","time":"2026-03-01T09:00:00.1Z"}`, "")
	f(docker+"x", "")
	f("2026-03-01 09:00:00 stdout F x\n", "")
	f("2026-03-01T09:00:00.1Z stdout X x\n", "")
	f("2026-03-01T09:00:00.1Z INFO F x\n", "")
	f(strings.Repeat("plain\n", 5)+docker, "")
}

// TestRandom frames random lines with a writer of its own, cut at random and
// interleaved, and compares what comes out, however the bytes arrive.
func TestRandom(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	alphabet := []rune("ab\"\\{}[]:, \t\u00e9\u4e2d\U0001F600<>&/\x01\u2028")
	for round := range 200 {
		docker := round%2 == 0
		var log, want strings.Builder
		name := [2]string{"stdout", "stderr"}
		var open [2]string
		for range 30 {
			n := r.IntN(2)
			last := r.IntN(3) > 0
			stamp := time.Unix(1772355600, r.Int64N(1e9)).UTC().Format(time.RFC3339Nano)
			part := random(r, alphabet)
			open[n] += part
			if docker {
				if last {
					part += "\n"
				}
				line, _ := json.Marshal(map[string]string{"log": part, "stream": name[n], "time": stamp})
				fmt.Fprintf(&log, "%s\n", line)
			} else {
				fmt.Fprintf(&log, "%s %s %c %s\n", stamp, name[n], "PF"[b2i(last)], part)
			}
			if last {
				want.WriteString(open[n] + "\n")
				open[n] = ""
			}
		}
		framing := framings[b2i(!docker)]
		got, err := io.ReadAll(NewReader(iotest.OneByteReader(strings.NewReader(log.String())), framing, 1<<20, func(Flaw, int64, int64) {}))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasPrefix(string(got), want.String()) {
			t.Fatalf("from\n%s\ngot  %q\nwant %q", log.String(), got, want.String())
		}
		again, err := io.ReadAll(iotest.OneByteReader(NewReader(strings.NewReader(log.String()), framing, 1<<20, func(Flaw, int64, int64) {})))
		if err != nil || string(again) != string(got) {
			t.Fatalf("read byte by byte: %q, %v; want %q", again, err, got)
		}
	}
}

func random(r *rand.Rand, alphabet []rune) string {
	var b strings.Builder
	for range r.IntN(12) {
		b.WriteRune(alphabet[r.IntN(len(alphabet))])
	}
	return b.String()
}

func b2i(b bool) int {
	if b {
		return 1
	}
	return 0
}

func TestReadErrorEndsText(t *testing.T) {
	const stamp = "2026-03-01T09:00:00Z stdout "
	r := NewReader(io.MultiReader(strings.NewReader(stamp+"F a\n"+stamp+"P b\n"), iotest.ErrReader(io.ErrClosedPipe)), framings[1], 99, func(Flaw, int64, int64) {})
	got, err := io.ReadAll(r)
	if string(got) != "a\n" || err != io.ErrClosedPipe {
		t.Errorf("got %q, %v", got, err)
	}
}

func FuzzFrame(f *testing.F) {
	f.Add([]byte(`{"log":"a\n","stream":"stdout","time":"2026-03-01T09:00:00.1Z"}`), true)
	f.Add([]byte("2026-03-01T09:00:00Z stdout P a\n2026-03-01T09:00:00Z stdout F b\n"), false)
	f.Fuzz(func(t *testing.T, log []byte, docker bool) {
		Recognise(log)
		_, err := io.ReadAll(NewReader(strings.NewReader(string(log)), framings[b2i(!docker)], 50, func(flaw Flaw, n, first int64) {
			if n < 1 || first < 0 || flaw == Sound {
				t.Errorf("flaw %d: %d since %d", flaw, n, first)
			}
		}))
		if err != nil {
			t.Error(err)
		}
	})
}

func BenchmarkDocker(b *testing.B) {
	line, _ := json.Marshal(map[string]string{"log": `{"ts":1764428000.25,"request_id":"r1","event":"token","text":"payload"}` + "\n", "stream": "stdout", "time": "2026-03-01T09:00:00.1Z"})
	log := strings.Repeat(string(line)+"\n", 10000)
	b.SetBytes(int64(len(log)))
	b.ReportAllocs()
	for b.Loop() {
		io.Copy(io.Discard, NewReader(strings.NewReader(log), framings[0], 1<<20, func(Flaw, int64, int64) {}))
	}
}
