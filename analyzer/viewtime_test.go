package analyzer

import (
	"math"
	"slices"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"servescope/analyzer/view"
)

func TestViewSeries(t *testing.T) {
	s := openView(t, load.Options{Workers: 1}, generated(300, 5))
	for _, p := range []view.Viewport{{Kind: "series", TokenTimes: true}, {Kind: "series", XBins: 13, From: 1e9, To: 3e9, TokenTimes: true}, {Kind: "series", Bucket: 1e9, TokenTimes: true}} {
		q := filtered(t, "not model = m2")
		c := viewOf(t, s, q, p)
		all := viewOf(t, s, q, view.Viewport{Kind: "columns", Columns: []string{"arrival", "end", "prompt_tokens", "status", "queued", "admitted", "received"}})
		from, to, prompt, status := floats(all, t, "arrival"), floats(all, t, "end"), floats(all, t, "prompt_tokens"), texts(all, t, "status")
		times := tokenTimes(t, s, q, c.Clocks[0].Origin)
		length := c.Facts["bucket"]
		for b, begin := range floats(c, t, "t") {
			end := begin + length
			var arrivals, ends, failures, prompts, output, covered, most float64
			for i := range from {
				if from[i] >= begin && from[i] < end {
					arrivals++
					prompts += prompt[i]
				}
				if to[i] >= begin && to[i] < end {
					ends++
					if status[i] == "failed" {
						failures++
					}
				}
				covered += max(0, min(end, to[i])-max(begin, from[i]))
				for _, at := range append([]float64{begin}, from...) { // the number only rises at an arrival
					if at < begin || at >= end {
						continue
					}
					n := 0.0
					for k := range from {
						if from[k] <= at && at < to[k] {
							n++
						}
					}
					if i == 0 {
						most = max(most, n)
					}
				}
			}
			for _, at := range times {
				if at >= begin && at < end {
					output++
				}
			}
			for name, want := range map[string]float64{
				"arrivals": arrivals, "ends": ends, "failures": failures, "prompt_tokens": prompts, "output_tokens": output,
				"running_mean": covered / length, "running_max": most,
			} {
				if got := floats(c, t, name)[b]; math.Abs(got-want) > 1e-9*max(1, want) {
					t.Errorf("%+v: bucket %d has %s %v, want %v", p, b, name, got, want)
				}
			}
		}
		if p.From == 0 && c.Facts["open"]+c.Facts["unplaced"] != 0 {
			t.Errorf("%v", c.Facts)
		}
	}
}

// tokenTimes returns when the tokens of the selected requests came.
func tokenTimes(t *testing.T, s *Session, q *query.Query, origin int64) (out []float64) {
	t.Helper()
	err := s.Rows(t.Context(), q, true, func(b *trace.Batch) error {
		for i := range b.Rows {
			now, ok := b.Ints(trace.FirstToken).At(i)
			if !ok {
				continue
			}
			out = append(out, float64(now-origin))
			list, _ := b.Lists(trace.ChunkGaps).At(i)
			for _, g := range list {
				now += g
				out = append(out, float64(now-origin))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestViewGaps holds the gaps that are listed to a search over the tokens of each
// request, and the longest of them to a sorted list.
func TestViewGaps(t *testing.T) {
	src := generated(250, 6)
	for _, memory := range []int64{0, 1 << 10} {
		s := openView(t, load.Options{Workers: 1, Memory: memory}, src)
		const from, to, low, high = int64(1e9), int64(25e8), int64(15e6), int64(60e6)
		type gap struct{ row, end, length float64 }
		listed := func(p view.Viewport) (out []gap, c *view.Columns) {
			p.Kind = "gaps"
			c = viewOf(t, s, new(query.Query), p)
			for i, row := range floats(c, t, "row") {
				out = append(out, gap{row, floats(c, t, "end")[i], floats(c, t, "gap")[i]})
			}
			return out, c
		}
		var all, want []gap
		for row := range 250 {
			one := viewOf(t, s, new(query.Query), view.Viewport{Kind: "request", Row: int64(row)})
			if slices.ContainsFunc(one.Fields, func(d view.Detail) bool { return d.Name == "status" && d.Text == "failed" }) {
				continue // no metric counts its gaps
			}
			times, gaps := floats(one, t, "t"), floats(one, t, "gap")
			for k := 1; k < len(times); k++ {
				g := gap{float64(row), times[k], gaps[k]}
				all = append(all, g)
				if g.end >= float64(from) && g.end < float64(to) && g.length >= float64(low) && g.length <= float64(high) {
					want = append(want, g)
				}
			}
		}
		if got, c := listed(view.Viewport{}); !slices.Equal(got, all) || c.Facts["total"] != float64(len(all)) {
			t.Errorf("%d gaps are listed, there are %d", len(got), len(all))
		}
		got, _ := listed(view.Viewport{From: from, To: to, Low: low, High: high})
		if !slices.Equal(got, want) || len(want) < 20 || len(want) > len(all)/2 {
			t.Errorf("%d gaps are listed, want %d of %d", len(got), len(want), len(all))
		}
		for _, limit := range []int{1, 10, len(all) / 2, len(all) - 1} {
			got, c := listed(view.Viewport{Limit: limit})
			longest := slices.DeleteFunc(slices.Clone(all), func(g gap) bool { return g.length < c.Facts["low"] })
			next := 0.0 // the longest of those that are left out
			for _, g := range all {
				if g.length < c.Facts["low"] {
					next = max(next, g.length)
				}
			}
			tied := 0
			for _, g := range all {
				if g.length == next {
					tied++
				}
			}
			if !slices.Equal(got, longest) || len(got) > limit || len(got)+tied <= limit || c.Facts["total"] != float64(len(all)) {
				t.Errorf("of %d gaps the longest %d are %d, from %v on", len(all), limit, len(got), c.Facts["low"])
			}
		}
	}
}

func TestViewRequest(t *testing.T) {
	src := generated(60, 8)
	near, far := openView(t, load.Options{Workers: 1}, src), openView(t, load.Options{Workers: 1, Memory: 1 << 10}, src)
	near.in.RangeSize, far.in.RangeSize = 1000, 1000 // several jobs, each with a part of the rows
	for row := range 60 {
		a := viewOf(t, near, new(query.Query), view.Viewport{Kind: "request", Row: int64(row)})
		b := viewOf(t, far, new(query.Query), view.Viewport{Kind: "request", Row: int64(row)})
		field := func(c *view.Columns, name string) view.Detail {
			i := slices.IndexFunc(c.Fields, func(d view.Detail) bool { return d.Name == name })
			if i < 0 {
				t.Fatalf("request %d has no %s", row, name)
			}
			return c.Fields[i]
		}
		if line := field(a, "line").Value; line != float64(row+1) || field(a, "file").Text != src.name {
			t.Errorf("request %d is in line %v", row, line)
		}
		for _, name := range []string{"t", "gap", "tokens"} {
			x, y := floats(a, t, name), floats(b, t, name)
			if !slices.EqualFunc(x, y, func(f, g float64) bool { return f == g || f != f && g != g }) {
				t.Errorf("request %d: %s differs when lists are read again", row, name)
			}
		}
		if n := field(a, "output_tokens").Value; n != float64(len(floats(a, t, "t"))) {
			t.Errorf("request %d: %v tokens and %d chunks", row, n, len(floats(a, t, "t")))
		}
	}
	for _, p := range []view.Viewport{{Kind: "request", Row: 60}, {Kind: "request", Row: -1}, {Kind: "dance"}, {Kind: "columns", Run: 1}, {Kind: "columns", Columns: []string{"chunk_gaps"}}, {Kind: "columns", Columns: []string{"nothing"}}, {Kind: "columns", Side: "moon"}} {
		if _, err := near.View(t.Context(), new(query.Query), p); err == nil {
			t.Errorf("%+v was shown", p)
		}
	}
}

func TestViewSteps(t *testing.T) {
	found := 0
	for _, src := range fixtures(t) {
		s, err := openAll(t, load.Options{Workers: 1}, src)
		if err != nil {
			continue
		}
		r, err := s.Run(t.Context(), new(query.Query))
		if err != nil {
			t.Fatal(err)
		}
		for run := range r.Runs {
			want := int64(0)
			for _, steps := range r.Runs[run].Steps {
				want += steps.N
			}
			names := []string{"running", "waiting", "kv_usage", "duration"}
			all := viewOf(t, s, new(query.Query), view.Viewport{Kind: "steps", Run: run, Columns: names})
			if int64(all.Facts["n"]) != want {
				t.Errorf("%s run %d: %v steps, the report has %d", src.name, run, all.Facts["n"], want)
			}
			if want < 4 {
				continue
			}
			found++
			few := viewOf(t, s, new(query.Query), view.Viewport{Kind: "steps", Run: run, Columns: names, Limit: 3})
			for _, name := range names {
				values, least, most := known(floats(all, t, name)), known(floats(few, t, name+".min")), known(floats(few, t, name+".max"))
				if len(values) > 0 && len(least) > 0 && (slices.Min(values) > slices.Min(least) || slices.Max(values) < slices.Max(most)) {
					t.Errorf("%s run %d: extremes of %s", src.name, run, name)
				}
				sum, n := 0.0, 0.0
				for i, at := range floats(all, t, "t") {
					if v := floats(all, t, name)[i]; v == v && at == at {
						sum += v
						n++
					}
				}
				if len(least) == 0 && n > 0 {
					t.Errorf("%s run %d: no %s", src.name, run, name)
				}
			}
			total := 0.0
			for _, n := range floats(few, t, "count") {
				total += n
			}
			if total != float64(len(known(floats(all, t, "t")))) {
				t.Errorf("%s run %d: %v steps in parts, want %d", src.name, run, total, want)
			}
		}
		s.Close()
	}
	if found == 0 {
		t.Error("no fixture has steps")
	}
}
