package formatstest

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// truncated: a text that ends anywhere gives no more rows than the whole.
func (c *Case) truncated() error {
	r := c.rnd()
	var cuts []int
	if len(c.text) <= 400 {
		for i := range c.text {
			cuts = append(cuts, i)
		}
	} else {
		for range min(max(1<<21/len(c.text), 20), 200) {
			cuts = append(cuts, r.IntN(len(c.text)))
		}
	}
	for _, n := range cuts {
		res, err := readWhole(c.Format, source.FromBytes(c.src.Name(), c.text[:n]), options())
		if err != nil {
			return fmt.Errorf("cut at byte %d: %w", n, err)
		}
		if len(res.rows) > len(c.want.rows) {
			return fmt.Errorf("cut at byte %d: %d rows, the whole has %d", n, len(res.rows), len(c.want.rows))
		}
	}
	return nil
}

// rubbish are lines that no format can use.
var rubbish = []string{
	"garbage", "{", "}", "[", "]", `"`, `{"a":`, `{"a":"`, "[1,2", "null", "\x00\x01\x02", "\xff\xfe\xff", "NaN", "1e999", `\`,
	strings.Repeat("x", 100_000), strings.Repeat("[", 10_000), strings.Repeat(`{"a":`, 10_000), `{"request_id":`,
}

// garbage: other lines among those of the format are accounted for. In a
// format of records they cost no row.
func (c *Case) garbage() error {
	r := c.rnd()
	lines := c.lines()
	for round := range 6 {
		strange := rubbish
		if round%2 == 1 && len(c.others) > 0 {
			strange = c.others[r.IntN(len(c.others))].lines()
		}
		var b strings.Builder
		n := 0
		for i, line := range lines {
			if r.IntN(len(lines)) < 20 && (c.Format.Shape != formats.Document && c.Format.Shape != formats.Blocks || i == len(lines)-1) {
				b.WriteString(strings.TrimSuffix(strange[r.IntN(len(strange))], "\n") + "\n")
				n++
			}
			b.WriteString(line)
		}
		res, err := readWhole(c.Format, source.FromBytes(c.src.Name(), []byte(b.String())), options())
		if err != nil {
			return fmt.Errorf("with %d strange lines: %w", n, err)
		}
		if c.Format.Shape != formats.Records || round%2 == 1 {
			continue
		}
		if got, want := rowsOf(res), rowsOf(c.want); got != want {
			return fmt.Errorf("with %d strange lines: %s", n, firstDifference(got, want))
		}
		if got, want := res.account.Total, c.want.account.Total+int64(n); got != want {
			return fmt.Errorf("with %d strange lines: %d lines in the account, want %d", n, got, want)
		}
	}
	return nil
}

// rowsOf returns the rows of a result without what names an offset.
func rowsOf(res *result) string {
	var b strings.Builder
	for _, row := range res.rows {
		b.WriteString(row.rest + row.lists + "\n")
	}
	return b.String()
}

// forced: what is not of the format gives an error that names the file, or diags.
func (c *Case) forced() error {
	if !c.first { // what a format makes of other files is the same for each of its cases
		return nil
	}
	wrong := map[string][]byte{
		"an empty file": {},
		"blank lines":   []byte("\n\n\r\n"),
		"binary":        []byte("\x7fELF\x02\x01\x01\x00\x00\x00\n\x00\xff\xff\xff\xfe{[\"\x00"),
		"prose":         []byte("It was a dark and stormy night;\nthe rain fell in torrents.\n"),
		"a number":      []byte("12345"),
		"brackets":      []byte(strings.Repeat("[", 200_000)),
	}
	for _, other := range c.others {
		wrong[other.Name] = other.text
	}
	for name, text := range wrong {
		res, err := readWhole(c.Format, source.FromBytes("wrong.file", text), options())
		switch {
		case errors.Is(err, errBroken):
			return fmt.Errorf("%s: %w", name, err)
		case err != nil && !strings.Contains(err.Error(), "wrong.file"):
			return fmt.Errorf("%s: the error does not name the file: %w", name, err)
		case err == nil && len(res.rows) == 0 && len(res.diags.All()) == 0 && !res.explains():
			return fmt.Errorf("%s: no row, no diag, no error, and no run that says why", name)
		}
	}
	return nil
}

// explains reports whether a run says why it has no rows.
func (res *result) explains() bool {
	return slices.ContainsFunc(res.runs, func(m *trace.RunMeta) bool { return m.NoRequests != "" })
}

// ioError: an error of reading is not the end of the file.
func (c *Case) ioError() error {
	src := source.FromBytes(c.src.Name(), c.text)
	r := c.rnd()
	for range 10 {
		limit := r.Int64N(int64(len(c.text)))
		for _, workers := range []int{1, 3} {
			opt := options()
			opt.Workers, opt.Block = workers, 1+r.IntN(5000)
			if _, err := readWhole(c.Format, failing{src, limit}, opt); !errors.Is(err, errDisk) {
				return fmt.Errorf("the disk fails at byte %d of %d, with %d workers: the error is %v", limit, len(c.text), workers, err)
			}
		}
	}
	return nil
}

// closeEarly: a reader may be closed at any time, and a cancelled one ends.
func (c *Case) closeEarly() error {
	before := runtime.NumGoroutine()
	opt := options()
	opt.Workers, opt.Block = 3, 100
	for _, batches := range []int{0, 1} {
		src := &watched{Source: source.FromBytes(c.src.Name(), c.text)}
		r, err := c.Format.Open(context.Background(), src, formats.Whole, opt)
		if err != nil {
			return err
		}
		for range batches {
			r.Next()
		}
		if err := r.Close(); err != nil {
			return err
		}
		if n := src.open.Load(); n != 0 {
			return broken("%d readers of the source are open after Close", n)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	r, err := c.Format.Open(ctx, source.FromBytes(c.src.Name(), c.text), formats.Whole, opt)
	if err == nil {
		for r.Next() {
		}
		err = r.Err()
		r.Close()
	}
	if err != nil && !errors.Is(err, context.Canceled) {
		return fmt.Errorf("cancelled, it ends with %w", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return nil
		}
		time.Sleep(10 * time.Millisecond)
	}
	return fmt.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
