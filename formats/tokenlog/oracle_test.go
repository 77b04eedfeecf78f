package tokenlog

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats/internal/assemble"
	"servescope/formats/internal/block"
)

// facts is what a line says, as encoding/json and math/big read it: the oracle
// that the scanner is compared with.
type facts struct {
	ints   map[trace.Col]int64
	texts  map[trace.Col]string
	lists  map[kind][]int64
	failed bool
}

// oracle reads a line that is a JSON object.
func oracle(line []byte) (facts, bool) {
	if !json.Valid(line) || bytes.TrimLeft(line, " \t\r\n")[0] != '{' {
		return facts{}, false
	}
	o := facts{map[trace.Col]int64{}, map[trace.Col]string{}, map[kind][]int64{}, false}
	members := json.NewDecoder(bytes.NewReader(line))
	for members.Token(); members.More(); {
		key, _ := members.Token()
		var raw json.RawMessage
		if err := members.Decode(&raw); err != nil {
			panic(err)
		}
		name := key.(string)
		f := keys.lookup(append([]byte(name), make([]byte, 8)...), 0, len(name))
		if f == nil || f.kind >= eventTime {
			continue
		}
		o.forget(f) // the last of several members counts
		var v any
		d := json.NewDecoder(bytes.NewReader(raw))
		d.UseNumber()
		if err := d.Decode(&v); err != nil {
			panic(err)
		}
		switch f.kind {
		case stamp, duration, count, arrival:
			col := f.col
			if f.kind == arrival {
				col = arrivalCol
			}
			if n, ok := o.number(v, f); ok {
				o.ints[col] = n
			}
		case boolean:
			if b, ok := v.(bool); ok {
				o.ints[f.col] = map[bool]int64{true: 1}[b]
			}
		case text, code, statusCode:
			o.name(v, raw, f)
		case tokenTimes, gapList, tokenCounts:
			if list, ok := v.([]any); ok {
				o.list(list, f)
			}
		case failure:
			o.failure(v, raw)
		}
	}
	return o, true
}

// forget makes a field unknown again.
func (o *facts) forget(f *field) {
	switch f.kind {
	case arrival:
		delete(o.ints, arrivalCol)
	case failure:
		o.failed = false
	case tokenTimes, gapList, tokenCounts:
		delete(o.lists, f.kind)
	default:
		delete(o.ints, f.col)
		delete(o.texts, f.col)
	}
}

// arrivalCol stands for the arrival in facts.
const arrivalCol = trace.Col(1000)

// scaled returns a decimal text times 10^scale, rounded half to even.
func scaled(s string, scale int) (n int64, exact, ok bool) {
	if _, exp, ok := strings.Cut(strings.ToLower(s), "e"); ok && len(strings.TrimLeft(exp, "+-0")) > 3 {
		return 0, false, false // out of range; the tests write no such zeros
	}
	r, ok := new(big.Rat).SetString(s)
	if !ok {
		return 0, false, false
	}
	r.Mul(r, new(big.Rat).SetInt(new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(scale)), nil)))
	sum := new(big.Rat).Add(r, big.NewRat(1, 2))
	q := new(big.Int).Div(sum.Num(), sum.Denom())
	if sum.IsInt() && q.Bit(0) == 1 {
		q.Sub(q, big.NewInt(1))
	}
	return q.Int64(), r.IsInt(), q.IsInt64()
}

// number reads a number, perhaps in quotes. -1, and a negative count, are unknown.
func (o *facts) number(v any, f *field) (int64, bool) {
	var s string
	switch v := v.(type) {
	case json.Number:
		s = v.String()
	case string:
		if s = strings.TrimSpace(v); !json.Valid([]byte(s)) || strings.ContainsAny(s, `"[{tfn`) {
			return 0, false
		}
	default:
		return 0, false
	}
	if f.kind == count {
		n, exact, ok := scaled(s, 0)
		return n, ok && exact && n >= 0
	}
	n, _, ok := scaled(s, int(f.scale))
	minus, _, _ := scaled("-1", int(f.scale))
	return n, ok && (n != minus || f.col == trace.ScheduledSend)
}

func (o *facts) name(v any, raw json.RawMessage, f *field) {
	s := ""
	switch v := v.(type) {
	case string:
		s = v
	case json.Number, bool:
		s = string(raw)
	}
	switch {
	case s == "":
	case f.kind == text:
		o.texts[f.col] = s
	default:
		if i := slices.Index(trace.Requests.Fields[f.col].Values, s); i >= 0 {
			o.ints[f.col] = int64(i)
		}
	}
}

func (o *facts) list(list []any, f *field) {
	scale := int(f.scale)
	if f.kind == tokenCounts {
		scale = 0
	}
	out := []int64{}
	for _, v := range list {
		n := assemble.Unknown
		var s string
		switch v := v.(type) {
		case json.Number:
			s = v.String()
		case string:
			if json.Valid([]byte(v)) && !strings.ContainsAny(v, "\"[{tfn \t\r\n") {
				s = v
			}
		}
		if s != "" {
			if x, _, ok := scaled(s, scale); ok {
				n = x
			}
		}
		out = append(out, n)
	}
	o.lists[f.kind] = out
}

// failure reads an error; only whether there is one. Its class has its own test.
func (o *facts) failure(v any, raw json.RawMessage) {
	switch v := v.(type) {
	case nil:
	case bool:
		o.failed = v
	case string:
		o.failed = v != ""
	case map[string]any:
		o.failed = len(v) > 0
	default:
		o.failed = string(raw) != "0" && string(raw) != "[]"
	}
}

// compare parses a line with the scanner and reports how that differs from the
// oracle, which accepts it.
func compare(line []byte, want facts) error {
	p := &parser{Notes: assemble.Notes{Log: new(diag.Log)}}
	p.text = append(slices.Clone(line), bytes.Repeat([]byte{'\n'}, block.Pad)...)
	p.start(0)
	if problem, more := p.record(0); problem == badJSON || problem == blank || more {
		return fmt.Errorf("problem %+v, more %v", problem, more)
	}
	r := &p.row
	for c, f := range trace.Requests.Fields {
		c := trace.Col(c)
		if f.Name == "error_class" {
			continue
		}
		got, ok := r.Int(c)
		if v, has := want.ints[c]; ok != has || v != got {
			return fmt.Errorf("%s is %d, %v, want %d, %v", f.Name, got, ok, v, has)
		}
		text := r.Text(c)
		if v, has := want.texts[c]; (text != nil) != has || v != string(text) {
			return fmt.Errorf("%s is %q, want %q", f.Name, text, v)
		}
	}
	if v, has := want.ints[arrivalCol]; has != r.HasArrival || has && v != r.Arrival {
		return fmt.Errorf("arrival is %d, %v, want %d, %v", r.Arrival, r.HasArrival, v, has)
	}
	for _, l := range []struct {
		kind kind
		has  bool
		got  []int64
	}{{tokenTimes, r.HasTokens, r.Tokens}, {gapList, r.HasGaps, r.Gaps}, {tokenCounts, r.HasTokenCount, r.ChunkTokens}} {
		if v, has := want.lists[l.kind]; has != l.has || has && !slices.Equal(v, l.got) {
			return fmt.Errorf("list %d is %d, %v, want %d, %v", l.kind, l.got, l.has, v, has)
		}
		if l.has && slices.Contains(l.got, assemble.Unknown) && !r.HasUnknown {
			return fmt.Errorf("an unknown element is not announced")
		}
	}
	if r.Error != want.failed {
		return fmt.Errorf("error is %v, want %v", r.Error, want.failed)
	}
	return nil
}

// TestAgainstOracle reads random records of all fields with escapes, nested
// junk and odd spacing.
func TestAgainstOracle(t *testing.T) {
	g := &generator{Rand: rand.New(rand.NewPCG(11, 12))}
	for range 20_000 {
		line := g.record()
		want, ok := oracle(line)
		if !ok {
			t.Fatalf("the generator writes no JSON: %s", line)
		}
		if err := compare(line, want); err != nil {
			t.Fatalf("%v in %.2000s", err, line)
		}
	}
}

// FuzzRecord does the same with lines that are not made up so kindly.
func FuzzRecord(f *testing.F) {
	g := &generator{Rand: rand.New(rand.NewPCG(13, 14))}
	for range 20 {
		f.Add(g.record())
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if bytes.ContainsRune(line, '\n') || !utf8.Valid(line) {
			return
		}
		want, ok := oracle(line)
		if !ok { // lenient or not, it must end
			p := &parser{Notes: assemble.Notes{Log: new(diag.Log)}}
			p.text = append(slices.Clone(line), bytes.Repeat([]byte{'\n'}, block.Pad)...)
			p.start(0)
			p.record(0)
			if p.i > len(line) || p.lineEnd() != len(line) {
				t.Fatalf("the cursor is at %d of %d, the line's end at %d", p.i, len(line), p.end)
			}
			return
		}
		if err := compare(line, want); err != nil {
			t.Fatalf("%v in %q", err, line)
		}
	})
}
