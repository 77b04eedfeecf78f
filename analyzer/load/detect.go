package load

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/source"
)

// forced is the reason of a format that the caller named.
const forced = "forced"

// detect finds the format of every input.
func detect(ctx context.Context, set *dataset.Set, inputs *source.Inputs, known *formats.Set, force string, opt *Options) error {
	var named *formats.Format
	if force != "" {
		f, err := known.Lookup(force)
		if err != nil {
			return err
		}
		named = f
	}
	if len(inputs.List) == 0 {
		return errors.New("there is no input")
	}
	var first error
	recognised := 0
	for i, in := range inputs.List {
		set.Inputs = append(set.Inputs, &dataset.Input{Index: i, Source: in.Source, Label: in.Label, Diags: new(diag.Log)})
	}
	errs := detectEach(ctx, set.Inputs, opt.Workers, func(f *dataset.Input) error {
		if named != nil {
			forceFormat(f, named)
			return nil
		}
		return detectFormat(f, known, len(opt.Map) > 0)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, in := range inputs.List {
		f, err := set.Inputs[i], errs[i]
		if err == nil {
			recognised++
			continue
		}
		var unknown *formats.DetectError
		if !errors.As(err, &unknown) && in.Named {
			return err
		}
		if first == nil {
			first = err
		}
		set.Diags.Add(skipped(f, err, in.Named))
	}
	if recognised > 0 {
		return nil
	}
	if n := len(set.Inputs); n > 1 {
		return fmt.Errorf("none of the %d inputs can be read; the first: %w", n, first)
	}
	return first
}

// detectEach calls detect for every input, several at a time, until ctx ends.
func detectEach(ctx context.Context, inputs []*dataset.Input, workers int, detect func(*dataset.Input) error) []error {
	errs := make([]error, len(inputs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(workers, len(inputs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(errs) {
					return
				}
				errs[i] = detect(inputs[i])
			}
		})
	}
	wg.Wait()
	return errs
}

// mapped is the reason of a format that reads columns as the caller says.
const mapped = "what its columns mean is given"

// forceFormat has a file read as the caller says: its lines may be within the records of a log
// collector. An error of reading comes again when the file is opened.
func forceFormat(f *dataset.Input, named *formats.Format) {
	f.Format, f.Reason = named, forced
	if head, err := formats.ReadHead(f.Source); err == nil {
		if inner := source.WithinAs(f.Source, head, named); inner != nil {
			f.Source = inner
		}
	}
}

func detectFormat(f *dataset.Input, set *formats.Set, given bool) error {
	head, err := formats.ReadHead(f.Source)
	if err != nil {
		f.Reason = err.Error()
		return err
	}
	if given {
		if inner := source.Answered(f.Source, head); inner != nil {
			f.Source = inner
			if head, err = formats.ReadHead(inner); err != nil {
				f.Reason = err.Error()
				return err
			}
		}
		if f.Format, f.Reason = set.Learner(head), mapped; f.Format != nil {
			return nil
		}
	}
	found, err := set.Detect(head)
	if src, inner, ok := source.Within(set, f.Source, head, found, err); ok {
		f.Source, found, err = src, inner, nil
	}
	if err != nil {
		f.Reason = Reasons(err)
		return err
	}
	f.Format, f.Reason = found.Format, found.Reason
	return nil
}

// fewFormats is how many formats say each why a file is not of theirs; beside other
// files, more of them would hide what there is to say of those.
const fewFormats = 4

// Reasons is a detection error on one line.
func Reasons(err error) string {
	var e *formats.DetectError
	if !errors.As(err, &e) {
		return err.Error()
	}
	if e.Plain != "" {
		return e.Plain
	}
	if n := len(e.Tried); n > fewFormats {
		return fmt.Sprintf("none of %d formats recognises it; inspect it alone to see why", n)
	}
	var each []string
	for _, a := range e.Tried {
		each = append(each, a.Format.Name+": "+a.Reason)
	}
	return "no format recognises it (" + strings.Join(each, "; ") + ")"
}

// skipped is the diagnostic of an input that is left out. A file that the user
// named is missed more than one that lies in the same directory.
func skipped(f *dataset.Input, err error, named bool) diag.Diag {
	d := diag.Diag{Code: "not_recognised", Severity: diag.Notice, File: f.Source.Name(), Offset: -1, Msg: f.Reason}
	var e *formats.DetectError
	switch {
	case !errors.As(err, &e):
		d.Code, d.Severity = "unreadable", diag.Error
		var h interface{ Hint() string }
		if errors.As(err, &h) {
			d.Fix = h.Hint()
		}
	case e.Plain == "":
		d.Fix = e.Hint()
		fallthrough
	default:
		if named {
			d.Severity = diag.Error
		}
	}
	return d
}
