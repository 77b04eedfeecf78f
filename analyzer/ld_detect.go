package analyzer

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/source"
)

// forced is the reason of a format that the caller named.
const forced = "forced"

// detect finds the format of every input.
func (l *Loader) detect(ctx context.Context, set *formats.Set, force string) error {
	var named *formats.Format
	if force != "" {
		f, err := set.Lookup(force)
		if err != nil {
			return err
		}
		named = f
	}
	if len(l.inputs.List) == 0 {
		return errors.New("there is no input")
	}
	var first error
	recognised := 0
	for i, in := range l.inputs.List {
		l.set.inputs = append(l.set.inputs, &Input{index: i, source: in.Source, label: in.Label, diags: new(diag.Log)})
	}
	errs := l.detectEach(ctx, func(f *Input) error {
		if named != nil {
			forceFormat(f, named)
			return nil
		}
		return detectFormat(f, set, len(l.opt.Map) > 0)
	})
	if err := ctx.Err(); err != nil {
		return err
	}
	for i, in := range l.inputs.List {
		f, err := l.set.inputs[i], errs[i]
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
		l.set.diags.Add(skipped(f, err, in.Named))
	}
	if recognised > 0 {
		return nil
	}
	if n := len(l.set.inputs); n > 1 {
		return fmt.Errorf("none of the %d inputs can be read; the first: %w", n, first)
	}
	return first
}

// detectEach calls detect for every input, several at a time, until ctx ends.
func (l *Loader) detectEach(ctx context.Context, detect func(*Input) error) []error {
	errs := make([]error, len(l.set.inputs))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(l.opt.Workers, len(l.set.inputs)) {
		wg.Go(func() {
			for ctx.Err() == nil {
				i := int(next.Add(1)) - 1
				if i >= len(errs) {
					return
				}
				errs[i] = detect(l.set.inputs[i])
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
func forceFormat(f *Input, named *formats.Format) {
	f.format, f.reason = named, forced
	if head, err := formats.ReadHead(f.source); err == nil {
		if inner := source.WithinAs(f.source, head, named); inner != nil {
			f.source = inner
		}
	}
}

func detectFormat(f *Input, set *formats.Set, given bool) error {
	head, err := formats.ReadHead(f.source)
	if err != nil {
		f.reason = err.Error()
		return err
	}
	if given {
		if inner := source.Answered(f.source, head); inner != nil {
			f.source = inner
			if head, err = formats.ReadHead(inner); err != nil {
				f.reason = err.Error()
				return err
			}
		}
		if f.format, f.reason = set.Learner(head), mapped; f.format != nil {
			return nil
		}
	}
	found, err := set.Detect(head)
	if src, inner, ok := source.Within(set, f.source, head, found, err); ok {
		f.source, found, err = src, inner, nil
	}
	if err != nil {
		f.reason = reasons(err)
		return err
	}
	f.format, f.reason = found.Format, found.Reason
	return nil
}

// fewFormats is how many formats say each why a file is not of theirs; beside other
// files, more of them would hide what there is to say of those.
const fewFormats = 4

// reasons is a detection error on one line.
func reasons(err error) string {
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
func skipped(f *Input, err error, named bool) diag.Diag {
	d := diag.Diag{Code: "not_recognised", Severity: diag.Notice, File: f.source.Name(), Offset: -1, Msg: f.reason}
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
