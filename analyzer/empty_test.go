package analyzer

import (
	"errors"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/formats"
)

// TestEmpty: an input of which nothing can be read is an error where there is
// nothing else, and a diagnostic beside others.
func TestEmpty(t *testing.T) {
	noise, rows, figures := textFile{"a", "", "noise\nnoise\n"}, textFile{"b", "", "tiny m a 1 1 5\n"}, textFile{"c", "", "tiny m claims ttft mean 5\n"}
	for _, c := range []struct {
		list  []textFile
		want  string
		diags int
	}{
		{[]textFile{noise}, "a: nothing could be read as tiny, which was forced", 1},
		{[]textFile{noise, {"d", "", ""}}, "nothing could be read of any of the 2 inputs; the first, a, as tiny, which was forced", 2},
		{[]textFile{noise, rows}, "", 1},
		{[]textFile{figures, noise}, "", 1},
		{[]textFile{rows}, "", 0},
		{[]textFile{figures}, "", 0},
	} {
		s, err := Open(t.Context(), formats.NewSet(tiny), inputsOf(c.list...), "tiny", load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if s.Empty() != nil {
			t.Error("empty before anything was read")
		}
		r := runTest(t, s, new(query.Query))
		got := ""
		var empty *load.EmptyError
		if err := s.Empty(); errors.As(err, &empty) {
			got = err.Error()
		}
		n := 0
		for _, d := range r.Diags {
			if d.Code == "nothing_read" {
				n++
			}
		}
		if got != c.want || n != c.diags {
			t.Errorf("%q, want %q; %d diags, want %d", got, c.want, n, c.diags)
		}
		s.Close()
	}
}

// TestSidesDiffer: runs of different sides carry a note, and those without
// figures do not count.
func TestSidesDiffer(t *testing.T) {
	set := formats.NewSet(tiny, tinyDocument)
	noted := func(list ...textFile) (n int) {
		s, err := Open(t.Context(), set, inputsOf(list...), "", load.Options{})
		if err != nil {
			t.Fatal(err)
		}
		defer s.Close()
		for _, run := range runTest(t, s, new(query.Query)).Runs {
			for _, note := range run.Notes {
				if strings.HasPrefix(note, "sides_differ: ") && strings.Contains(note, "(client, server)") {
					n++
				}
			}
		}
		return n
	}
	a, b := textFile{"a", "", "tiny m a 1 1 5\n"}, textFile{"b", "", "tiny S a 1 1 5\n"}
	if n := noted(a, b); n != 2 {
		t.Errorf("%d notes, want 2", n)
	}
	if n := noted(a, a) + noted(b) + noted(a, textFile{"b", "", "tiny S note\n"}); n != 0 {
		t.Errorf("%d notes, want none", n)
	}
}
