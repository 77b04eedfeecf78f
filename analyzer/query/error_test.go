package query

import "testing"

func TestDistance(t *testing.T) {
	f := func(a, b string, want int) {
		t.Helper()
		if got := distance(a, b); got != want {
			t.Errorf("distance(%q, %q) = %d, want %d", a, b, got, want)
		}
	}
	f("", "", 0)
	f("abc", "", 3)
	f("", "abc", 3)
	f("kitten", "sitting", 3)
	f("flaw", "lawn", 2)
	f("analyse", "analyze", 1)
}

func TestNearest(t *testing.T) {
	f := func(got, want string) {
		t.Helper()
		if name := Nearest(got, []string{"analyze", "convert", "define"}); name != want {
			t.Errorf("Nearest(%q) = %q, want %q", got, name, want)
		}
	}
	f("analyse", "analyze")
	f("CONVERT", "convert")
	f("defin", "define")
	f("result.json", "")
	f("", "")
}
