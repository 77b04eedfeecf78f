package formatstest

import (
	"bytes"
	"compress/gzip"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing/iotest"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/klauspost/compress/zstd"

	"servescope/formats"
	"servescope/formats/source"
)

// check is one property of the kit.
type check struct {
	name string
	run  func(*Case) error
}

var checks = []check{
	{"detect", (*Case).detect},
	{"encodings", (*Case).encodings},
	{"crlf", (*Case).crlf},
	{"streams", (*Case).streams},
	{"cuts", (*Case).cuts},
	{"lists", (*Case).lists},
	{"truncated", (*Case).truncated},
	{"garbage", (*Case).garbage},
	{"forced", (*Case).forced},
	{"io-error", (*Case).ioError},
	{"close-early", (*Case).closeEarly},
}

// rnd returns the same random numbers for a case in every run.
func (c *Case) rnd() *rand.Rand {
	return rand.New(rand.NewPCG(uint64(len(c.text)), uint64(len(c.Name))))
}

// detect: the format is found by content, under any name.
func (c *Case) detect() error {
	for _, name := range []string{c.src.Name(), "unknown", "x.csv"} {
		src, _, err := unpack(name, c.raw)
		if err != nil {
			return err
		}
		head, err := formats.ReadHead(src)
		if err != nil {
			return err
		}
		d, err := c.set.Detect(head)
		if err != nil {
			return err
		}
		if d.Format != c.Format {
			return fmt.Errorf("named %s it is detected as %s (%s), want %s", name, d.Format.Name, d.Reason, c.Format.Name)
		}
		if d.Reason == "" {
			return fmt.Errorf("%s says not why", c.Format.Name)
		}
	}
	return nil
}

// encodings: what wraps the text does not change what it says.
func (c *Case) encodings() error {
	variants := map[string][]byte{
		"gzip": gz(c.text),
		"zstd": zst(c.text),
	}
	if c.Format.Shape != formats.Blocks {
		variants["UTF-8"] = append([]byte("\xef\xbb\xbf"), c.text...)
	}
	if utf8.Valid(c.text) {
		variants["UTF-16LE"] = encode16(c.text, binary.LittleEndian)
		variants["UTF-16BE"] = encode16(c.text, binary.BigEndian)
		if bytes.HasSuffix(c.text, []byte("\n")) {
			variants["docker"] = c.framed(func(part, stamp string, end bool) string {
				if end {
					part += "\n"
				}
				line, _ := json.Marshal(map[string]string{"log": part, "stream": "stdout", "time": stamp})
				return string(line) + "\n"
			})
			variants["cri"] = c.framed(func(part, stamp string, end bool) string {
				tag := "P"
				if end {
					tag = "F"
				}
				return stamp + " stdout " + tag + " " + part + "\n"
			})
		}
	}
	for name, data := range variants {
		src, text, err := unpack("input", data)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		if !bytes.Equal(text, c.text) {
			return fmt.Errorf("%s: the text has changed: %d bytes, want %d", name, len(text), len(c.text))
		}
		res, err := readWhole(c.Format, src, options())
		if err := c.same(name, res, err, without{}); err != nil {
			return err
		}
	}
	return nil
}

// framed returns the text as the log of a container that cuts its lines.
func (c *Case) framed(wrap func(part, stamp string, end bool) string) []byte {
	const most = 4000
	var b strings.Builder
	for i, line := range c.lines() {
		line, end := strings.CutSuffix(line, "\n")
		if !end {
			break // nothing behind the last end
		}
		for n := 0; ; n++ {
			stamp := fmt.Sprintf("2026-03-01T%02d:%02d:%02d.%09dZ", i/3600%24, i/60%60, i%60, n)
			cut := min(most, len(line))
			for cut < len(line) && !utf8.RuneStart(line[cut]) {
				cut--
			}
			b.WriteString(wrap(line[:cut], stamp, cut == len(line)))
			if line = line[cut:]; line == "" {
				break
			}
		}
	}
	return []byte(b.String())
}

func gz(text []byte) []byte {
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	w.Write(text)
	w.Close()
	return b.Bytes()
}

func zst(text []byte) []byte {
	w, err := zstd.NewWriter(nil)
	if err != nil {
		panic(err)
	}
	return w.EncodeAll(text, nil)
}

func encode16(text []byte, order binary.AppendByteOrder) []byte {
	b := order.AppendUint16(nil, 0xfeff)
	for _, u := range utf16.Encode([]rune(string(text))) {
		b = order.AppendUint16(b, u)
	}
	return b
}

// crlf: the line ends of Windows move the offsets and change nothing else.
func (c *Case) crlf() error {
	if c.Format.Shape == formats.Blocks || bytes.Contains(c.text, []byte("\r")) {
		return nil
	}
	text := bytes.ReplaceAll(c.text, []byte("\n"), []byte("\r\n"))
	res, err := readWhole(c.Format, source.FromBytes(c.src.Name(), text), options())
	return c.same("with \\r\\n", res, err, without{offsets: true})
}

// streams: the pieces in which bytes arrive do not matter, nor does random access.
func (c *Case) streams() error {
	plain := source.FromBytes(c.src.Name(), c.text)
	for name, wrap := range map[string]func(io.Reader) io.Reader{
		"a stream":                func(r io.Reader) io.Reader { return r },
		"one byte at a time":      iotest.OneByteReader,
		"half reads":              iotest.HalfReader,
		"the end beside the data": iotest.DataErrReader,
	} {
		opt := options()
		opt.Workers = 2
		res, err := readWhole(c.Format, stream{plain, wrap}, opt)
		if err := c.same(name, res, err, without{}); err != nil {
			return err
		}
	}
	return nil
}

// cuts: neither blocks, workers nor ranges change the result.
func (c *Case) cuts() error {
	r := c.rnd()
	src := source.FromBytes(c.src.Name(), c.text)
	n := int64(len(c.text))
	for range min(max(1<<21/(n+1), 4), 60) {
		opt := options()
		opt.Workers = []int{1, 2, 5}[r.IntN(3)]
		opt.Block = 1 + r.IntN(int(min(n, 1<<uint(1+r.IntN(17))))+1)
		ranges := []formats.Range{formats.Whole}
		if c.Format.Shape == formats.Records || c.Format.Shape == formats.Blocks {
			ranges = cut(r, n)
		}
		res, err := read(c.Format, src, opt, ranges...)
		how := fmt.Sprintf("%d workers, blocks of %d, ranges %v", opt.Workers, opt.Block, ranges)
		if err := c.same(how, res, err, without{}); err != nil {
			return err
		}
	}
	return nil
}

// cut returns random ranges that make up n bytes, some of them empty.
func cut(r *rand.Rand, n int64) []formats.Range {
	var ranges []formats.Range
	from := int64(0)
	for range r.IntN(6) {
		to := from + r.Int64N(n-from+1)
		ranges = append(ranges, formats.Range{From: from, To: to})
		from = to
	}
	return append(ranges, formats.Range{From: from, To: -1})
}

// lists: rows do not depend on whether their lists are wanted.
func (c *Case) lists() error {
	opt := options()
	opt.Lists = false
	res, err := readWhole(c.Format, source.FromBytes(c.src.Name(), c.text), opt)
	if err := c.same("without lists", res, err, without{lists: true}); err != nil {
		return err
	}
	for i, row := range res.rows {
		if row.lists != "" {
			return fmt.Errorf("row %d has lists nobody wants: %s", i, row.lists)
		}
	}
	return nil
}
