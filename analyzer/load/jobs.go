package load

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
)

// job is a range of an input that one reader reads.
type job struct {
	file    *dataset.Input
	Rng     formats.Range
	workers int // goroutines that the reader itself may use
	ordered
}

// jobResult is what the reader of one job knows at its end.
type jobResult struct {
	runs    []*trace.RunMeta
	diags   *diag.Log
	account formats.Account
	read    int64 // rows of any table, and figures that the producer computed
}

// largeSource is the size from which a source that only its reader can cut gets
// all workers, however many inputs there are.
const largeSource = 32 << 20

// Jobs cuts the inputs into jobs, in order of input and offset.
func (l *Loader) Jobs() []job {
	var out []job
	left := l.bytes()
	for _, f := range l.Set.Inputs {
		if f.Format == nil {
			continue
		}
		size := f.Source.Size()
		if shape := f.Format.Shape; shape != formats.Records && shape != formats.Blocks || f.Source.At() == nil || size <= l.undivided() {
			out = append(out, job{file: f, Rng: formats.Whole, workers: 1})
			left -= max(size, 0)
			continue
		}
		for from := int64(0); from < size; {
			n := min(l.step(left), size-from)
			rng := formats.Range{From: from, To: from + n}
			if from, left = rng.To, left-n; from == size {
				rng.To = -1
			}
			out = append(out, job{file: f, Rng: rng, workers: 1})
		}
	}
	for i := range out {
		if size := out[i].file.Source.Size(); out[i].Rng == formats.Whole && (size < 0 || size > largeSource) {
			out[i].workers = l.Opt.Workers
		} else {
			out[i].workers = max(1, l.Opt.Workers/len(out))
		}
	}
	return out
}

// undivided returns the length up to which an input is read in one go.
func (l *Loader) undivided() int64 {
	if l.Opt.Remote == nil {
		return l.Cut
	}
	return l.Cut / 4
}

// step returns the length of the next range where so many bytes are left. Remote
// readers take several ranges at a time, so that the last ones are short: no reader
// waits long for the others.
func (l *Loader) step(left int64) int64 {
	if l.Opt.Remote == nil {
		return l.Cut
	}
	return min(l.Cut, max(left/int64(2*l.maxReaders()), l.Cut/64, 1))
}
