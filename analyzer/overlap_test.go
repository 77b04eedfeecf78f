package analyzer

import (
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/query"
)

// TestP52RotatedCopies: two inputs that hold the same lines are noted, and
// nothing is left out.
func TestP52RotatedCopies(t *testing.T) {
	line := func(n int) string {
		return fmt.Sprintf("INFO 03-01 09:00:0%d [logger.py:1] Received request r%d: params: SamplingParams(n=1), lora_request: None.\n", n, n)
	}
	all := line(1) + line(2) + line(3) + line(4)
	f := func(second, want string, total int64) {
		t.Helper()
		r := analyze(t, new(query.Query), textFile{name: "a.log", text: all}, textFile{name: "a.log.1", text: second})
		got := ""
		for _, d := range r.Diags {
			if d.Code == "repeated_lines" {
				got = d.Msg
			}
		}
		if !strings.HasPrefix(got, want) || want == "" && got != "" {
			t.Errorf("%q: %q, want %q", second, got, want)
		}
		var n int64
		for _, run := range r.Runs {
			n += run.Requests.Total
		}
		if n != total {
			t.Errorf("%q: %d requests, want %d", second, n, total)
		}
	}
	f(line(1)+line(2), "2 of 6 lines occur in two inputs, here and in a.log: ", 6)
	f(line(5), "", 5)
	f(line(1)+line(1)+"banner\n\n", "1 of 6 lines occur in two inputs", 5) // the second line is an arrival of the same request
}
