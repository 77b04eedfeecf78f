package torchtrace

import (
	"bytes"
	"cmp"
	"slices"

	"servescope/analyzer/trace"
)

// maxSteps is how many step ranges are kept (56 bytes each): at one step per
// 5 kB that is more than a file of 5 GB can have.
const maxSteps = 1 << 20

// unknownKind is the kind of a step whose boundaries were inferred.
const unknownKind trace.StepKind = -1

// step is one engine step as the host ran it. Counts are -1 where unknown.
type step struct {
	start, end int64 // ns, on the trace's clock
	offset     int64 // of its event in the file
	process    uint32
	what
}

// what holds the facts that the name of a step states.
type what struct {
	kind            trace.StepKind
	decoding        int32 // decode sequences (g)
	context         int32 // sequences of which prompt tokens are computed
	prefill, decode int32 // tokens
	form            form
}

// form is the shape of a step's name, which tells engine and version.
type form uint8

// The forms of step names.
const (
	inferred     form = iota // no step range: one step per graph launch
	vllmCounts               // execute_new_1_cached_3
	vllmTokens               // execute_context_2(6144)_generation_3(3)
	vllmDetailed             // execute_6147_context_2(sq6144sk…)_generation_3(sq3sk…)
	sglangStep               // step[DECODE bs=64]
)

// forms lists what each form says about the producer: the version it was first
// seen in. None has disappeared yet.
var forms = [...]struct{ engine, version string }{
	vllmCounts:   {"vllm", "≥v0.11.1"},
	vllmTokens:   {"vllm", "≥v0.14"},
	vllmDetailed: {"vllm", "≥v0.26"},
	sglangStep:   {"sglang", "≥v0.5.11"},
}

// vllm reports whether sampling is launched behind the step's range.
func (f form) vllm() bool { return f == vllmCounts || f == vllmTokens || f == vllmDetailed }

// parseStep reads the name of a step range.
func parseStep(text []byte) (w what, ok bool) {
	if rest, ok := bytes.CutPrefix(text, []byte("execute_")); ok {
		return parseExecute(rest)
	}
	if rest, ok := bytes.CutPrefix(text, []byte("step[")); ok && bytes.HasSuffix(rest, []byte("]")) {
		return parseBracket(rest[:len(rest)-1])
	}
	return what{}, false
}

// parseExecute reads what follows execute_ in vLLM's names.
func parseExecute(text []byte) (w what, ok bool) {
	p := pattern{text: text, ok: true}
	switch {
	case bytes.HasPrefix(text, []byte("new_")):
		w = what{form: vllmCounts, prefill: -1, decode: -1}
		p.word("new_").number(&w.context).word("_cached_").number(&w.decoding)
		w.kind = kindOf(w.context > 0, w.decoding > 0)
	case bytes.HasPrefix(text, []byte("context_")):
		w = what{form: vllmTokens}
		p.word("context_").number(&w.context).word("(").number(&w.prefill).word(")_generation_").
			number(&w.decoding).word("(").number(&w.decode).word(")")
		w.kind = kindOf(w.prefill > 0, w.decoding > 0)
	default:
		w = what{form: vllmDetailed}
		var skip int32
		p.number(&skip).word("_context_").number(&w.context).word("(sq").number(&w.prefill).word("sk").number(nil).
			word("sqsq").number(nil).word("sqsk").number(nil).word(")_generation_").number(&w.decoding).word("(sq").
			number(&w.decode).word("sk").number(nil).word("sqsq").number(nil).word("sqsk").number(nil).word(")")
		w.kind = kindOf(w.prefill > 0, w.decoding > 0)
	}
	return w, p.ok && len(p.text) == 0
}

func kindOf(prefill, decode bool) trace.StepKind {
	switch {
	case prefill && decode:
		return trace.StepMixed
	case prefill:
		return trace.StepPrefill
	case decode:
		return trace.StepDecode
	}
	return trace.StepDummy
}

// pattern takes a text apart from the left.
type pattern struct {
	text []byte
	ok   bool
}

func (p *pattern) word(w string) *pattern {
	rest, ok := bytes.CutPrefix(p.text, []byte(w))
	p.text, p.ok = rest, p.ok && ok
	return p
}

// number reads digits into v, which may be nil for numbers that are not used
// and may be of any size.
func (p *pattern) number(v *int32) *pattern {
	n := 0
	for n < len(p.text) && p.text[n]-'0' <= 9 {
		n++
	}
	value, ok := count(p.text[:n])
	if v != nil {
		*v = value
	}
	p.text, p.ok = p.text[n:], p.ok && n > 0 && (ok || v == nil)
	return p
}

// count reads a whole number.
func count(digits []byte) (int32, bool) {
	v, ok := unsigned(digits)
	if !ok || v > 1<<31-1 {
		return -1, false
	}
	return int32(v), true
}

// parseBracket reads SGLang's "MODE key=value …". The detailed form, which adds
// c=, g=, c_sq= and g_sq=, tells the two groups of a mixed step apart.
func parseBracket(text []byte) (w what, ok bool) {
	mode, rest, _ := bytes.Cut(text, []byte(" "))
	bs, toks, c, g, csq, gsq := int32(-1), int32(-1), int32(-1), int32(-1), int32(-1), int32(-1)
	for field := range bytes.FieldsSeq(rest) {
		key, value, _ := bytes.Cut(field, []byte("="))
		n, ok := count(value)
		if !ok {
			continue
		}
		switch string(key) {
		case "bs":
			bs = n
		case "toks":
			toks = n
		case "c":
			c = n
		case "g":
			g = n
		case "c_sq":
			csq = n
		case "g_sq":
			gsq = n
		}
	}
	w = what{form: sglangStep, decoding: -1, context: -1, prefill: -1, decode: -1}
	switch string(mode) {
	case "EXTEND", "SPLIT_PREFILL", "PREBUILT":
		w.kind, w.decoding, w.context, w.prefill, w.decode = trace.StepPrefill, 0, bs, max(toks, csq), 0
	case "DECODE":
		w.kind, w.decoding, w.context, w.prefill, w.decode = trace.StepDecode, bs, 0, 0, max(gsq, bs)
	case "MIXED":
		w.kind, w.decoding, w.context, w.prefill, w.decode = trace.StepMixed, g, c, csq, gsq
	case "TARGET_VERIFY", "DRAFT_EXTEND", "DRAFT_EXTEND_V2":
		w.kind, w.decoding, w.context, w.prefill, w.decode = trace.StepVerify, bs, 0, 0, max(gsq, toks)
	case "IDLE", "DUMMY_FIRST":
		w.kind, w.decoding, w.context, w.prefill, w.decode = trace.StepDummy, 0, 0, 0, 0
	default:
		w.kind = unknownKind
	}
	return w, len(mode) > 0
}

// outermost sorts step ranges by process and start and drops those that lie in
// another one, as a drafting step lies in the step it belongs to.
func outermost(steps []step) []step {
	slices.SortStableFunc(steps, func(a, b step) int {
		return cmp.Or(cmp.Compare(a.process, b.process), cmp.Compare(a.start, b.start), cmp.Compare(b.end, a.end))
	})
	out := steps[:0]
	var process uint32
	var reach int64 // end of the ranges of the process so far
	for _, s := range steps {
		if len(out) == 0 || s.process != process {
			process, reach = s.process, s.start
		}
		if s.start < reach && s.end <= reach {
			continue
		}
		reach = max(reach, s.end)
		out = append(out, s)
	}
	return out
}
