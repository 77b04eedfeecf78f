package servebench

import (
	"bytes"
	"context"
	"fmt"
	"math/rand/v2"
	"reflect"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// everything is all that a reader says about a text.
func everything(t *testing.T, text []byte, opt formats.Options) []string {
	t.Helper()
	src := source.FromBytes("x", text)
	out, _ := stamps(t, src, opt)
	r, err := Open(context.Background(), src, formats.Whole, opt, &plain)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			status, _ := b.Dicts(trace.StatusCol).At(i)
			at, _ := b.Ints(trace.Offset).At(i)
			out = append(out, fmt.Sprint(status, at))
		}
	}
	out = append(out, fmt.Sprintf("%+v", r.Account()))
	for _, d := range r.Diags().All() {
		out = append(out, fmt.Sprintf("%+v", d))
	}
	for _, m := range r.Runs() {
		out = append(out, fmt.Sprintf("%+v", *m))
	}
	return out
}

// TestSurvey breaks results at random places: what one goroutine reads in large
// blocks, several must read in small ones.
func TestSurvey(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.Bench(&text, shapes.Config{Seed: 7, Count: 60, Tokens: 12, Open: 20}); err != nil {
		t.Fatal(err)
	}
	pretty := bytes.ReplaceAll(bytes.ReplaceAll(text.Bytes(), []byte(`, "`), []byte(",\n \"")), []byte("{\"date"), []byte("{\n\"date"))
	odd := []string{"[", "]", "]]", "[]", "[[", `"`, `""`, "{", "}", "\n", "\n{", ",", " ", "null", "-", "e9", "x", "1", "], [", `"itls": [[1], [2]], `}
	r := rand.New(rand.NewPCG(11, 12))
	for round := range 800 {
		b := bytes.Clone(text.Bytes())
		if round%2 == 1 {
			b = bytes.Clone(pretty)
		}
		from, to := bytes.Index(b, []byte(`"itls"`)), bytes.Index(b, []byte(`"start_times"`))+20
		for range r.IntN(3) {
			at, what := from+r.IntN(to-from), odd[r.IntN(len(odd))]
			rest := b[at+r.IntN(2)*min(len(what), len(b)-at):]
			b = append(bytes.Clone(b[:at]), append([]byte(what), rest...)...)
		}
		if r.IntN(4) == 0 {
			b = b[:from+r.IntN(len(b)-from)]
		}
		if r.IntN(4) == 0 { // another record behind it
			b = append(append(b, '\n'), text.Bytes()...)
		}
		want := everything(t, b, formats.Options{Workers: 1, Lists: true})
		opt := formats.Options{Workers: 2 + r.IntN(3), Block: 64 + r.IntN(600), Lists: true}
		if got := everything(t, b, opt); !reflect.DeepEqual(got, want) {
			i := 0
			for i < min(len(got), len(want)) && got[i] == want[i] {
				i++
			}
			t.Fatalf("round %d, %+v: line %d of %d and %d:\n got %.300s\nwant %.300s", round, opt, i, len(got), len(want), append(got, "nothing")[i], append(want, "nothing")[i])
		}
	}
}

// TestSurveyed: of a long region all but its first blocks and its last are left
// to several goroutines.
func TestSurveyed(t *testing.T) {
	src := newEndless(2000)
	r, err := Open(context.Background(), src, formats.Whole, formats.Options{Workers: 2, Lists: true}, &plain)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	x := &r.(*reader).index
	survey, from, to := x.survey, int64(0), int64(0)
	x.survey = func(g *region) bool {
		from = g.to
		defer func() { to = g.to }()
		return survey(g)
	}
	if rec := x.next(); rec == nil || rec.Broken || rec.lists.n != 2000 || rec.lists.filled != 2000 {
		t.Fatalf("%+v", rec)
	} else if block := int64(x.block); from > rec.lists.from+(longRegion+1)*block || to < rec.lists.to-block {
		t.Errorf("surveyed %d to %d of %d to %d", from, to, rec.lists.from, rec.lists.to)
	}
}
