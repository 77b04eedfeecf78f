package analyzer

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/selection"
)

// modelRequest is what the writer of a log knows of a request; times in ms.
type modelRequest struct {
	start, first, last int64
	tokens             int64
	paces              []float64 // of its sequences
}

// choiceLog writes requests of one to four choices, each choice a line.
func choiceLog(r *rand.Rand, requests int) (lines []string, model []modelRequest) {
	for i := range requests {
		m := modelRequest{start: int64(i/3) * 100, first: 1 << 40} // three arrive at a time
		for choice := range 1 + r.IntN(4) {
			n := 1 + r.Int64N(5)
			at := m.start + 1 + r.Int64N(400)
			begin := at
			m.first = min(m.first, at)
			stamps := fmt.Sprintf("%d.%03d", at/1000, at%1000)
			for range n - 1 {
				at += 1 + r.Int64N(50)
				stamps += fmt.Sprintf(",%d.%03d", at/1000, at%1000)
			}
			if n > 1 {
				m.paces = append(m.paces, float64(at-begin)/float64(n-1))
			}
			m.last, m.tokens = max(m.last, at), m.tokens+n
			lines = append(lines, fmt.Sprintf(`{"request_id":"r%d","choice":%d,"side":"client","clock":"run","arrival":%d.%03d,"output_tokens":%d,"token_timestamps":[%s]}`+"\n",
				i, choice, m.start/1000, m.start%1000, n, stamps))
		}
		model = append(model, m)
	}
	return lines, model
}

// askInParts answers a query about one log that is read in small parts.
func askInParts(t *testing.T, q *query.Query, opt load.Options, cut int64, text string) string {
	t.Helper()
	s, err := openAll(t, opt, textFile{name: "log.jsonl", text: text})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.in.RangeSize, s.in.BatchRows = cut, 1+int(cut%13)
	r, err := s.Run(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	c := &r.Runs[0].Cell
	x := c.Requests
	ttft := c.Metrics["ttft"]
	return fmt.Sprint(x.Total, x.Filtered, r.Runs[0].Removed, ttft.N, c.Metrics["output_tokens"].N, c.Throughput.Tokens.Output.V)
}

// TestWholeRequestsAreSelected: filters and trims judge requests and not their
// choices, whatever the order of lines, the cuts, the workers and the memory.
func TestWholeRequestsAreSelected(t *testing.T) {
	r := rand.New(rand.NewPCG(8, 15))
	lines, model := choiceLog(r, 90)
	for _, c := range []struct {
		filter, trim string
		keeps        func(*modelRequest) bool
	}{
		{"ttft > 100ms", "", func(m *modelRequest) bool { return m.first-m.start > 100 }},
		{"not ttft > 100ms", "", func(m *modelRequest) bool { return m.first-m.start <= 100 }},
		{"output_tokens >= 7", "", func(m *modelRequest) bool { return m.tokens >= 7 }},
		{"e2e < 350ms and output_tokens < 12", "", func(m *modelRequest) bool { return m.last-m.start < 350 && m.tokens < 12 }},
		{"first_token < 1s", "", func(m *modelRequest) bool { return m.first < 1000 }},
		{"tpot > 30ms", "", func(m *modelRequest) bool {
			return slices.ContainsFunc(m.paces, func(p float64) bool { return p > 30 })
		}},
		{"", "warmup=1s", func(m *modelRequest) bool { return m.start >= 1000 }},
		{"", "warmup=30", func(m *modelRequest) bool { return m.start >= 1000 }},
	} {
		q := new(query.Query)
		if c.filter != "" {
			f, err := query.ParseFilter(c.filter)
			if err != nil {
				t.Fatal(err)
			}
			q.Filter = f
		}
		if c.trim != "" {
			var err error
			if q.Trim, err = query.ParseTrim(c.trim); err != nil {
				t.Fatal(err)
			}
		}
		var kept, tokens int64
		for i := range model {
			if c.keeps(&model[i]) {
				kept, tokens = kept+1, tokens+model[i].tokens
			}
		}
		gone := int64(len(model)) - kept
		if kept == 0 || gone == 0 {
			t.Fatalf("%s: %d kept and %d removed test nothing", c.filter+c.trim, kept, gone)
		}
		var got string
		for round := range 4 {
			opt := load.Options{Workers: 1 + r.IntN(3)}
			if round%2 == 1 {
				opt.Memory = 1 // the lists are read again
			}
			answer := askInParts(t, q, opt, int64(1+r.IntN(4000)), strings.Join(lines, ""))
			if round == 0 {
				got = answer
			} else if answer != got {
				t.Errorf("%s: %s, in other parts %s", c.filter+c.trim, got, answer)
			}
			r.Shuffle(len(lines), func(i, k int) { lines[i], lines[k] = lines[k], lines[i] })
		}
		removed := fmt.Sprintf("{%d 0 0 0}", gone)
		if c.trim != "" {
			removed = fmt.Sprintf("{0 0 %d 0}", gone)
		}
		want := fmt.Sprintf("%d %d %s %d ", kept, gone, removed, kept)
		if c.trim == "" { // tokens and ends of others are in what a trim leaves
			want += fmt.Sprintf("%d %d ", kept, tokens)
		}
		if !strings.HasPrefix(got+" ", want) {
			t.Errorf("%s: requests, removed, why, TTFTs, ends, tokens: %s, want %s", c.filter+c.trim, got, want)
		}
	}
}

// TestGroupsOfChoicesAreCapped: the groups that are put together are counted in
// requests, whatever the number of their choices.
func TestGroupsOfChoicesAreCapped(t *testing.T) {
	var text strings.Builder
	for i := range selection.MaxGroups + 10 {
		for choice := range 3 {
			fmt.Fprintf(&text, `{"request_id":"r%d","tenant":"t%04d","choice":%d,"side":"client","clock":"run","arrival":0,"output_tokens":1,"token_timestamps":[1]}`+"\n", i, i, choice)
		}
	}
	run, r := ask(t, []string{"by=tenant"}, textFile{name: "log.jsonl", text: text.String()})
	total := int64(0)
	for _, g := range run.Groups {
		total += g.Requests.Total
	}
	if d := diagNamed(r, "groups_capped"); d == nil || !strings.Contains(d.Msg, "the 11 smallest, with 11 requests") || total != selection.MaxGroups+10 || run.Groups[selection.MaxGroups-1].Requests.Total != 11 {
		t.Errorf("%+v, %d requests in %d groups", d, total, len(run.Groups))
	}
}
