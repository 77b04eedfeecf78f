package rates

import (
	"maps"
	"slices"

	"servescope/analyzer/kernel/cell"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
)

// flow holds what passes through a place: sums over the requests or tokens that
// belong to it. All are integers, so that they do not depend on their order.
type flow struct {
	requests, ok     int64 // by arrival
	completed        int64 // ok requests, by their end
	tokens, tokensOK int64 // by their own time
	firsts           int64 // tokens that are the first of their request
	prompt, promptOK int64 // prompt tokens, by the first token
	prompts          int64 // requests whose prompt counts
	noPrompt         int64 // of unknown length
	toldPrompt       int64 // prompt tokens of the requests that tell their output tokens as well
	toldOutput       int64 // output tokens of the requests that tell their prompt as well
	cached           int64 // cached prompt tokens, by the first token
	cachedOf         int64 // prompt tokens of the requests that tell these
	noCached         int64 // requests that do not say
	overCached       int64 // requests that say more than their prompt has
	span             int64 // decode time of sequences, ns
	timed, steps     int64 // decode time, and tokens after the first, of sequences whose N is known
	instant, undated int64 // sequences whose tokens came at one instant; requests that do not tell their decode time
	tpot, tpots      int64 // sum of the TPOTs of timed sequences in 1/fraction ns, and how many
	beams            int64 // sequences of beam search, whose time includes lost beams: in every window
	byChunk, spread  int64 // requests whose tokens are counted by chunk; are spread evenly
	long             int64 // requests that are too long to spread
	unlisted         int64 // requests whose chunks are not recorded, where a tool counts these
	unnamed          int64 // tokens of requests without a replica's name
	stalled          int64 // decode time in which sequences were not scheduled, ns
	running          int64 // time from admission to the last token, ns

	// Requests whose tokens are not counted, the ok ones among them, and
	// sequences of unknown N: each once, by its arrival, and in every window of
	// time that it may have emitted in. byChunkIn and spreadIn are byChunk and
	// spread of every window.
	unknown, unknownOK, untimed       int64
	unknownIn, unknownOKIn, untimedIn int64
	byChunkIn, spreadIn               int64

	// Sequences with a span whose stalls are unknown, whose stalls lie at unknown
	// times, and whose admission is unknown: once, and in every window.
	// severed ones are partly elsewhere, adrift ones partly in another window.
	unstalled, severed, unadmitted    int64
	unstalledIn, adrift, unadmittedIn int64

	dated               int64 // completions that are stamped
	firstDone, lastDone int64 // of these, or none
	replicas            map[string]replica
	crowd               bool // there are more than maxReplicas
}

func newFlow() *flow { return &flow{firstDone: request.None, lastDone: request.None} }

// lack returns what the flow of a window of time, or of a wide cell, lacks.
func (f *flow) lack(wide bool) lack {
	if wide {
		return lack{f.unknown, f.unknownOK, f.untimed, f.byChunk, 0, f.unstalled, f.severed, f.unadmitted} // however spread, all of them are in it
	}
	return lack{f.unknownIn, f.unknownOKIn, f.untimedIn, f.byChunkIn, f.spreadIn, f.unstalledIn, f.adrift, f.unadmittedIn}
}

func (f *flow) sums() []*int64 {
	return []*int64{&f.requests, &f.ok, &f.completed, &f.tokens, &f.tokensOK, &f.firsts, &f.prompt, &f.promptOK, &f.prompts, &f.noPrompt,
		&f.toldPrompt, &f.toldOutput, &f.cached, &f.cachedOf, &f.noCached, &f.overCached, &f.span, &f.timed, &f.steps, &f.instant, &f.undated, &f.tpot, &f.tpots, &f.beams,
		&f.byChunk, &f.spread, &f.long, &f.unlisted, &f.unnamed, &f.unknown, &f.unknownOK, &f.untimed,
		&f.unknownIn, &f.unknownOKIn, &f.untimedIn, &f.byChunkIn, &f.spreadIn, &f.dated,
		&f.stalled, &f.running, &f.unstalled, &f.severed, &f.unadmitted, &f.unstalledIn, &f.adrift, &f.unadmittedIn}
}

func (f *flow) Merge(o *flow) {
	mine := f.sums()
	for i, n := range o.sums() {
		*mine[i] += *n
	}
	f.firstDone = request.Earlier(f.firstDone, o.firstDone)
	f.lastDone = max(f.lastDone, o.lastDone)
	f.crowd = f.crowd || o.crowd
	for name, r := range o.replicas {
		f.replica(name, r)
	}
}

// replica adds to the part of a replica.
func (f *flow) replica(name string, r replica) {
	if f.replicas == nil {
		f.replicas = make(map[string]replica)
	}
	sum := f.replicas[name]
	f.replicas[name] = replica{sum.span + r.span, sum.timed + r.timed, sum.steps + r.steps, sum.tokens + r.tokens}
	if f.crowd = f.crowd || len(f.replicas) > maxReplicas; f.crowd {
		clear(f.replicas)
	}
}

func (f *flow) Weight() int64 { return f.requests + f.tokens }

func (f *flow) Size() int64 { return 256 + 64*int64(len(f.replicas)) }

func (f *flow) AppendTo(dst []byte) []byte {
	for _, n := range f.sums() {
		dst = cell.AppendInts(dst, *n)
	}
	dst = cell.AppendFlag(cell.AppendInts(dst, f.firstDone, f.lastDone), f.crowd)
	dst = cell.AppendInts(dst, int64(len(f.replicas)))
	for _, name := range slices.Sorted(maps.Keys(f.replicas)) {
		r := f.replicas[name]
		dst = cell.AppendInts(cell.AppendText(dst, name), r.span, r.timed, r.steps, r.tokens)
	}
	return dst
}

func (f *flow) Load(src *cell.Reader) {
	src.Ints(f.sums()...)
	src.Ints(&f.firstDone, &f.lastDone)
	f.crowd = src.Flag()
	for n := src.Count(); n > 0 && src.Err == nil; n-- {
		name := src.Text()
		var r replica
		src.Ints(&r.span, &r.timed, &r.steps, &r.tokens)
		f.replica(name, r)
	}
}

// without says which sequences the model leaves out.
func (f *flow) without(untimed int64) string {
	note := cell.Counted(untimed, "1 sequence has an unknown number of tokens and is left out", "%d sequences have an unknown number of tokens and are left out")
	if f.beams > 0 {
		note = cell.Joined(note, "sequences of beam search are left out")
	}
	return note
}

// timeless tells why no time per token is known.
func (f *flow) timeless(untimed int64) metric.Reason {
	switch {
	case f.beams > 0 && f.timed == 0:
		return metric.Beam
	case untimed > 0 && f.timed == 0:
		return metric.NUnknown
	case f.instant > 0:
		return metric.NoSpan
	case f.undated == 0 && f.firsts > 0:
		return metric.NLessThan2
	}
	return metric.NotRecorded
}

// named reports whether all tokens came from replicas with a name.
func (f *flow) named() bool { return f.unnamed == 0 && !f.crowd && len(f.replicas) > 0 }

// assumed counts a request whose tokens are not all counted and timed.
func (f *flow) assumed(e *request.Emission) {
	if e.ByChunk {
		f.byChunk++
	}
	if e.Spread {
		f.spread++
	}
}

// replica is one replica's part of a flow.
type replica struct{ span, timed, steps, tokens int64 }

// lack is how many requests a cell is short of, or guesses about.
type lack struct{ unknown, unknownOK, untimed, byChunk, spread, unstalled, adrift, unadmitted int64 }

// maxReplicas bounds the names: beyond, the column does not name replicas.
const maxReplicas = 4096
