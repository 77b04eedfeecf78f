package bridge

import (
	"bytes"

	"servescope/formats"
	"servescope/formats/source"
)

// estimate says what reading is going to take, before anything is read.
type estimate struct {
	Bytes  int64 `json:"bytes"`  // of all inputs
	Memory int64 `json:"memory"` // that the engine will hold at most, as a rule
	Limit  int64 `json:"limit"`  // that it may
	Runs   int64 `json:"runs"`   // of results that begin on lines of their own, about; 0 where they are few or formats are others
	Fits   bool  `json:"fits"`   // neither the memory nor the runs are too many
}

// started is what an engine in Chromium holds before it has read anything, with what it
// lets be thrown away before it collects that.
const started = 112 << 20

// What an engine in Chromium held, less started, and a seventh more; measured after a
// first report with logs of 30 to 350 MB as package shapes makes them and with one of
// requests of a single token, and after many queries with one of 195 MB.
const (
	perLine  = 700      // bytes for a line that is a request or a step of an engine; 500 to 620 were measured
	perInput = 64 << 20 // for a document, beside an eighth of its length
)

// What a run takes whatever it holds, with its part of the report, measured with results
// of four requests; and how many runs a tab is asked for at most: 1000 take seconds.
const (
	perRun   = 400_000
	mostRuns = 2500
)

// runsByLine are formats in which each line may be the result of a run.
var runsByLine = map[string]bool{"vllmbench": true, "sglangbench": true}

// perLineOf are formats whose lines are mostly not rows: events of tokens, or steps
// that several lines tell.
var perLineOf = map[string]int64{"tokenlog-events": 60, "sglanglog": 380}

// estimateOf estimates what reading the inputs takes, of which formats are known. It is
// nil where there is no limit, and where nothing tells: of an input that does not know
// its length before it is read through, and of tables in blocks, whose rows are packed.
func (e *Engine) estimateOf(inputs []source.Input, known []*formats.Format) *estimate {
	if e.opt.Limit <= 0 {
		return nil
	}
	out := &estimate{Memory: started, Limit: e.opt.Limit}
	for i, in := range inputs {
		size := in.Source.Size()
		if known[i] == nil {
			continue // it is not read
		}
		if size < 0 || known[i].Shape == formats.Blocks {
			return nil
		}
		out.Bytes += size
		out.Memory += min(2*e.opt.Lists, size) // before what is thrown away is collected
		if runsByLine[known[i].Name] {
			if n := countOf(in.Source, "\n{"); n > 1 {
				out.Runs += n
				out.Memory += perRun * n
			}
		}
		if known[i].Shape == formats.Document {
			out.Memory += perInput + size/8
			continue
		}
		each, ok := perLineOf[known[i].Name]
		if !ok {
			each = perLine
		}
		out.Memory += each * linesOf(in.Source)
	}
	out.Fits = out.Memory <= out.Limit && out.Runs <= mostRuns
	return out
}

// linesOf estimates the lines of a source.
func linesOf(src formats.Source) int64 { return countOf(src, "\n") }

// countOf estimates how often a source holds a mark by its samples, with one before it.
func countOf(src formats.Source, mark string) int64 {
	head, err := formats.ReadHead(src)
	if err != nil {
		return 0 // reading will say so
	}
	found, n := int64(1), int64(1)
	for _, text := range append(head.Samples, head.Start) {
		found, n = found+int64(bytes.Count(text, []byte(mark))), n+int64(len(text))
	}
	return int64(float64(src.Size()) / float64(n) * float64(found))
}
