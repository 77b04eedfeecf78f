package benchconsole

import (
	"math/rand/v2"
	"regexp"
	"strings"
	"testing"
)

// The same forms as regular expressions: the matchers are compared with them.
var (
	rowForm        = regexp.MustCompile(`^([A-Za-z#][^:=]{0,60}):\s+(\S.{0,199}?)$`)
	argumentForm   = regexp.MustCompile(`\b(backend|model|dataset_name|num_prompts|request_rate|max_concurrency|random_input_len|random_output_len|burstiness)=('[^']{0,200}'|[^,()' ]{1,200})`)
	throughputForm = regexp.MustCompile(`^Throughput: ([\d.]+) requests/s, ([\d.]+) (?:total )?tokens/s(?:, ([\d.]+) output tokens/s)?$`)
)

// TestMatchers compares the matchers with regular expressions on lines put
// together at random from pieces of real ones.
func TestMatchers(t *testing.T) {
	pieces := []string{"Throughput: ", "12.5", "3", " requests/s", ", ", " total tokens/s", " tokens/s", " output tokens/s", ":", " ", "  ", "=", "'",
		"Mean TTFT (ms)", "model", "backend", "xmodel", "num_prompts", "Namespace(", ")", "é", "#", "None", strings.Repeat("a", 30), strings.Repeat("'b", 70)}
	lines := []string{"Throughput: 12.5 requests/s, 3 total tokens/s, 3 output tokens/s", "Throughput: 12.5 requests/s, 3 tokens/s"}
	r := rand.New(rand.NewPCG(1, 2))
	for range 50_000 {
		var b strings.Builder
		for range 1 + r.IntN(9) {
			b.WriteString(pieces[r.IntN(len(pieces))])
		}
		lines = append(lines, strings.TrimSpace(b.String()))
	}
	matched := [3]int{}
	for _, line := range lines {
		label, text, ok := row([]byte(line))
		if m := rowForm.FindStringSubmatch(line); ok != (m != nil) || ok && (label != m[1] || text != m[2]) {
			t.Fatalf("row %q: %q %q, want %q", line, label, text, m)
		} else if ok {
			matched[0]++
		}
		figures := throughput([]byte(line))
		if m := throughputForm.FindStringSubmatch(line); (figures != nil) != (m != nil) || m != nil && len(figures) != 3 && m[3] != "" {
			t.Fatalf("throughput %q: %v, want %q", line, figures, m)
		} else if m != nil {
			matched[1]++
		}
		at := 0
		for _, m := range argumentForm.FindAllStringSubmatch(line, -1) {
			var name, value string
			if name, value, at = argument([]byte(line), at); at < 0 || name != m[1] || value != m[2] {
				t.Fatalf("argument of %q: %q %q, want %q", line, name, value, m)
			}
			matched[2]++
		}
		if name, value, next := argument([]byte(line), at); next >= 0 {
			t.Fatalf("one argument too many in %q: %q %q", line, name, value)
		}
	}
	for i, n := range matched {
		if n == 0 {
			t.Errorf("form %d: no line was one", i)
		}
	}
}
