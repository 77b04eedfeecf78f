package pyrepr

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"
)

// values lists path=value of a text, without the opening brackets of what nests.
func values(text string) (out []string, whole bool) {
	whole = Walk([]byte(text), func(path, value []byte, kind Kind) {
		if v := string(value); !strings.HasSuffix(v, "{") && !(kind == Word && strings.HasSuffix(v, "(")) {
			out = append(out, string(path)+"="+v)
		}
	})
	return out, whole
}

func TestWalk(t *testing.T) {
	for _, c := range []struct {
		text  string
		want  []string
		whole bool
	}{
		{`obj=GenerateReqInput(rid='a', stream=True, sampling_params={'n': 1, "temperature": 0.5}, x=None), out={'meta_info': {'id': 'a', 'finish_reason': {'type': 'stop'}}}`,
			[]string{"obj.rid=a", "obj.stream=True", "obj.sampling_params.n=1", "obj.sampling_params.temperature=0.5", "obj.x=None",
				"out.meta_info.id=a", "out.meta_info.finish_reason.type=stop"}, true},
		{`{"event": "request.finished", "obj": {"rid": "a", "t": "it's {x: 1}, \"y\": 2"}, "n": -1.5e3, "l": [1, 2], "z": null}`,
			[]string{"event=request.finished", "obj.rid=a", `obj.t=it's {x: 1}, \"y\": 2`, "n=-1.5e3", "l=[1, 2]", "z=null"}, true},
		{`text='head' ... 'tail, rid=\'b\'', ids=[1, 2, '...', [3]], o=<A object at 0x7f, k=1>, e=<Mode.X: 'x'>, u=UUID('a'), rid='c'`,
			[]string{"text=head", "ids=[1, 2, '...', [3]]", "o=<A object at 0x7f, k=1>", "e=<Mode.X: 'x'>", "u=a", "rid=c"}, true},
		{`a={'b': {'c': 1}, 'd': (1, 2)}, e=2`, []string{"a.b.c=1", "a.d=(1, 2)", "e=2"}, true},
		{`a={'b': 'unclosed, c=1`, []string{"a.b=unclosed, c=1"}, false},
		{`a={'b': 1`, []string{"a.b=1"}, false},
		{`a='x\\', b='y\'z'`, []string{`a=x\\`, `b=y\'z`}, true},
		{``, nil, true},
		{`}}))]`, nil, true},
	} {
		got, whole := values(c.text)
		if !slices.Equal(got, c.want) || whole != c.whole {
			t.Errorf("%s\n got %q %v\nwant %q %v", c.text, got, whole, c.want, c.whole)
		}
	}
}

func TestTexts(t *testing.T) {
	var got []string
	Texts([]byte(`['a', "b's", 'c\'d', 1, 'open`), func(s []byte) { got = append(got, string(s)) })
	if want := []string{"a", "b's", `c\'d`}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

// TestWalkIsBounded reads hostile texts: deep nesting, and what strings of
// brackets and quotes chance brings.
func TestWalkIsBounded(t *testing.T) {
	start := time.Now()
	for _, s := range []string{"a=(", "a={", "{", "[", "a=[", "'", "<", "a=<", "a=1 [", "{'a':", `\'`} {
		Walk([]byte(strings.Repeat(s, 1<<20/len(s))), func(path, _ []byte, _ Kind) {
			if len(path) > 100 {
				t.Fatalf("%q: a path of %d bytes", s, len(path))
			}
		})
	}
	if d := time.Since(start); d > 10*time.Second {
		t.Errorf("a few megabytes took %v", d)
	}
	r := rand.New(rand.NewPCG(1, 1))
	for range 20000 {
		var b strings.Builder
		for range r.IntN(30) {
			b.WriteByte("ab=:,'\"\\{}[]()<>. 1"[r.IntN(19)])
		}
		text := b.String()
		Walk([]byte(text), func(_, value []byte, _ Kind) {
			if !strings.Contains(text, string(value)) {
				panic(fmt.Sprintf("%q is not in %q", value, text))
			}
		})
	}
}

func BenchmarkWalk(b *testing.B) {
	text := []byte(`obj=GenerateReqInput(rid='a', text='` + strings.Repeat("word ", 400) + `', stream=True, sampling_params={'n': 1}), out={'meta_info': {'id': 'a', 'finish_reason': {'type': 'stop'}, 'prompt_tokens': 12, 'e2e_latency': 1.5}}`)
	b.SetBytes(int64(len(text)))
	n := 0
	for b.Loop() {
		Walk(text, func(path, _ []byte, _ Kind) { n += len(path) })
	}
}
