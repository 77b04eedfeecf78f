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
	rng     formats.Range
	workers int // goroutines that the reader itself may use
	ordered
}

// jobResult holds the runs, diagnostics and counts of a job's reader at its end.
type jobResult struct {
	runs    []*trace.RunMeta
	diags   *diag.Log
	account formats.Account
	read    int64 // rows of any table, and figures that the producer computed
}

// largeSource is the size from which a source that only its reader can cut gets
// all workers, however many inputs there are.
const largeSource = 32 << 20

// cutter cuts inputs into jobs.
type cutter struct {
	inputs []*dataset.Input
	opt    *Options
	length int64 // of a range
}

// bytesOf returns the length of all inputs that know it.
func bytesOf(inputs []*dataset.Input) int64 {
	sum := int64(0)
	for _, f := range inputs {
		sum += max(f.Source.Size(), 0)
	}
	return sum
}

// jobs cuts the inputs into jobs, in order of input and offset.
func (c *cutter) jobs() []job {
	var out []job
	left := bytesOf(c.inputs)
	for _, f := range c.inputs {
		if f.Format == nil {
			continue
		}
		size := f.Source.Size()
		if shape := f.Format.Shape; shape != formats.Records && shape != formats.Blocks || f.Source.At() == nil || size <= c.undivided() {
			out = append(out, job{file: f, rng: formats.Whole, workers: 1})
			left -= max(size, 0)
			continue
		}
		for from := int64(0); from < size; {
			n := min(c.step(left), size-from)
			rng := formats.Range{From: from, To: from + n}
			if from, left = rng.To, left-n; from == size {
				rng.To = -1
			}
			out = append(out, job{file: f, rng: rng, workers: 1})
		}
	}
	for i := range out {
		if size := out[i].file.Source.Size(); out[i].rng == formats.Whole && (size < 0 || size > largeSource) {
			out[i].workers = c.opt.Workers
		} else {
			out[i].workers = max(1, c.opt.Workers/len(out))
		}
	}
	return out
}

// undivided returns the length up to which an input is read in one go.
func (c *cutter) undivided() int64 {
	if c.opt.Remote == nil {
		return c.length
	}
	return c.length / 4
}

// step returns the length of the next range where so many bytes are left. Remote
// readers take several ranges at a time, so that the last ones are short: no reader
// waits long for the others.
func (c *cutter) step(left int64) int64 {
	if c.opt.Remote == nil {
		return c.length
	}
	return min(c.length, max(left/int64(2*maxReaders(c.opt)), c.length/64, 1))
}
