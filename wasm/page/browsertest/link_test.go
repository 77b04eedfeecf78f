package browsertest

import (
	"strings"
	"testing"
)

// TestBadLink: what a link asks for and the engine does not understand is left out with
// a notice, and the rest of it holds: the files are shown.
func TestBadLink(t *testing.T) {
	ctx := newTab(t)
	show(t, ctx, "v=1&view=load&f=ttft+%3E+&slo=nonsense:5s&def=nobody&groups=nothing&t=2.5s..4.6s", sampleFiles()[0])
	wait(t, ctx, drawn)
	notices := eval[string](t, ctx, `document.querySelector('.notices').textContent`)
	if n := strings.Count(notices, "left out of the link"); n != 4 {
		t.Errorf("%d notices: %s", n, notices)
	}
	if hash := eval[string](t, ctx, `location.hash.replace(/&h=.*/, '')`); hash != "#v=1&view=load&t=2.5s..4.6s" {
		t.Errorf("the link is %s", hash)
	}
	if n := eval[int](t, ctx, `document.querySelectorAll('#view figure').length`); n < 3 {
		t.Errorf("%d charts", n)
	}
}
