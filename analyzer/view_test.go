package analyzer

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/load"
	"servescope/analyzer/query"
	"servescope/analyzer/report"
	"servescope/analyzer/trace"
	"servescope/analyzer/view"
)

// viewOf makes a view, which must work.
func viewOf(t *testing.T, s *Session, q *query.Query, p view.Viewport) *view.Columns {
	t.Helper()
	c, err := s.View(t.Context(), q, p)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	return c
}

// floats returns a column of a view by name.
func floats(c *view.Columns, t *testing.T, name string) []float64 {
	t.Helper()
	for _, col := range c.List {
		if col.Name == name && !col.Text {
			return col.Floats
		}
	}
	t.Fatalf("%s has no column %s", c.Kind, name)
	return nil
}

func texts(c *view.Columns, t *testing.T, name string) []string {
	t.Helper()
	for _, col := range c.List {
		if col.Name == name && col.Text {
			out := make([]string, len(col.Codes))
			for i, code := range col.Codes {
				if out[i] = "(null)"; code >= 0 {
					out[i] = col.Values[code]
				}
			}
			return out
		}
	}
	t.Fatalf("%s has no texts %s", c.Kind, name)
	return nil
}

func known(list []float64) []float64 {
	var out []float64
	for _, f := range list {
		if f == f {
			out = append(out, f)
		}
	}
	return out
}

// generated is a log of n requests with random times, some failed, some of one
// token, under three models.
func generated(n int, seed uint64) textFile {
	r := rand.New(rand.NewPCG(seed, 7))
	var b strings.Builder
	at := 1764428000.0
	for i := range n {
		at += r.ExpFloat64() * 0.02
		fmt.Fprintf(&b, `{"request_id":"r-%d","model":"m%d","arrival":%.6f,"prompt_tokens":%d,`, i, r.IntN(3), at, 1+r.IntN(2000))
		tokens, stamp := 1+r.IntN(40), at+0.05+r.ExpFloat64()*0.2
		if r.IntN(20) == 0 {
			fmt.Fprintf(&b, `"status":"failed","finished":%.6f,`, stamp)
			tokens = r.IntN(2)
		}
		fmt.Fprintf(&b, `"admitted":%.6f,"output_tokens":%d,"token_timestamps":[`, at+r.Float64()*0.05, tokens)
		for k := range tokens {
			if k > 0 {
				b.WriteByte(',')
			}
			fmt.Fprintf(&b, "%.6f", stamp)
			stamp += r.ExpFloat64() * 0.03
		}
		b.WriteString("]}\n")
	}
	return textFile{name: "generated.jsonl", text: b.String()}
}

func openView(t *testing.T, opt load.Options, list ...textFile) *Session {
	t.Helper()
	s, err := openAll(t, opt, list...)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func filtered(t *testing.T, text string) *query.Query {
	t.Helper()
	f, err := query.ParseFilter(text)
	if err != nil {
		t.Fatal(err)
	}
	return &query.Query{Filter: f}
}

// TestViewColumnsAreTheReports holds the columns of single requests to the figures
// of the report for every fixture: as many, and the same least, greatest and median.
func TestViewColumnsAreTheReports(t *testing.T) {
	checked := 0
	for _, src := range append(fixtures(t), generated(300, 1)) {
		s, err := openAll(t, load.Options{Workers: 1}, src)
		if err != nil {
			continue
		}
		for _, q := range []*query.Query{{}, filtered(t, "prompt_tokens > 500 or e2e > 1s")} {
			r, err := s.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for i := range r.Runs {
				c := viewOf(t, s, q, view.Viewport{Kind: "columns", Run: i, Columns: []string{"ttft", "tpot", "e2e", "prompt_tokens", "arrival", "parts"}})
				if got := int64(c.Facts["n"]); got != r.Runs[i].Requests.Total {
					t.Errorf("%s run %d: %d rows, the report counts %d", src.name, i, got, r.Runs[i].Requests.Total)
				}
				for _, name := range []string{"ttft", "tpot", "e2e"} {
					m := r.Runs[i].Metrics[name]
					if name == "tpot" && s.set.Multi != nil {
						continue // in the report each sequence of a request has its own
					}
					if side := trace.Requests.Fields[trace.SideCol].Values[int(c.Facts["side"])]; m.Side != "" && m.Side != side {
						continue // the report prefers another side of the run
					}
					list := known(floats(c, t, name))
					if int64(len(list)) != m.N {
						t.Errorf("%s run %d: %d values of %s, the report has %d", src.name, i, len(list), name, m.N)
					} else if m.N > 0 {
						checked++
						slices.Sort(list)
						if list[0] != m.Min || list[len(list)-1] != m.Max || view.QuantileOf(len(list), 0.5, func(k int) float64 { return list[k] }) != m.Quantiles["0.5"] {
							t.Errorf("%s run %d: %s differs", src.name, i, name)
						}
					}
				}
				checkParts(t, src.name, c, &r.Runs[i])
			}
		}
		s.Close()
	}
	least := 100
	if testing.Short() {
		least = 50
	}
	if checked < least {
		t.Errorf("only %d distributions were compared", checked)
	}
}

// checkParts holds parts to what they are: they add up, and their totals are
// those of the report.
func checkParts(t *testing.T, name string, c *view.Columns, run *report.Run) {
	t.Helper()
	var parts [][]float64
	var total []float64
	for _, col := range c.List {
		switch {
		case col.Name == "part.total":
			total = col.Floats
		case strings.HasPrefix(col.Name, "part."):
			parts = append(parts, col.Floats)
		}
	}
	sum, n := 0.0, int64(0)
	for i, want := range total {
		if want != want {
			continue
		}
		sum += want
		n++
		got := 0.0
		for _, p := range parts {
			if p[i] == p[i] {
				got += p[i]
			}
		}
		if got != want {
			t.Errorf("%s: the parts of request %d are %v, the whole is %v", name, i, got, want)
		}
	}
	for _, d := range run.Decompositions {
		if d.Of != "ttft" || d.N != n || n == 0 {
			continue
		}
		if mean := sum / float64(n); math.Abs(mean-d.Total.V) > 1e-6*math.Abs(mean) {
			t.Errorf("%s: the mean total is %v, in the report %v", name, mean, d.Total.V)
		}
		return
	}
	if n > 0 && len(run.Sides) == 0 {
		t.Errorf("%s: no decomposition of the report is of %d requests", name, n)
	}
}

func TestViewRequestsPages(t *testing.T) {
	s := openView(t, load.Options{Workers: 1}, generated(500, 2))
	all := viewOf(t, s, new(query.Query), view.Viewport{Kind: "columns", Columns: []string{"ttft", "model", "request_id"}})
	ttft, model, row := floats(all, t, "ttft"), texts(all, t, "model"), floats(all, t, "row")
	for _, desc := range []bool{false, true} {
		order := make([]int, len(row))
		for i := range order {
			order[i] = i
		}
		slices.SortStableFunc(order, func(a, b int) int {
			x, y := ttft[a], ttft[b]
			switch {
			case x != x && y != y, x == y:
				return 0
			case x != x:
				return 1
			case y != y || (x < y) != desc:
				return -1
			}
			return 1
		})
		for from := 0; from < len(row); from += 170 {
			page := viewOf(t, s, new(query.Query), view.Viewport{Kind: "requests", Columns: []string{"model"}, Sort: "ttft", Desc: desc, Offset: from, Limit: 170})
			if page.Facts["total"] != 500 {
				t.Fatalf("%v", page.Facts)
			}
			for i, n := range floats(page, t, "row") {
				if want := order[from+i]; n != row[want] || texts(page, t, "model")[i] != model[want] {
					t.Fatalf("desc %v: place %d holds row %v, want %v", desc, from+i, n, row[want])
				}
			}
		}
	}
	values := viewOf(t, s, new(query.Query), view.Viewport{Kind: "values", Column: "model"})
	for i, name := range texts(values, t, "value") {
		n := 0.0
		for _, m := range model {
			if m == name {
				n++
			}
		}
		if got := floats(values, t, "count")[i]; got != n {
			t.Errorf("%s: %v, want %v", name, got, n)
		}
	}
}

func TestViewPoints(t *testing.T) {
	s := openView(t, load.Options{Workers: 1}, generated(1500, 3))
	q := new(query.Query)
	all := viewOf(t, s, q, view.Viewport{Kind: "columns", Columns: []string{"ttft", "prompt_tokens"}})
	ttft := known(floats(all, t, "ttft"))
	for _, points := range []int{0, 50} {
		c := viewOf(t, s, q, view.Viewport{Kind: "ecdf", Metric: "ttft", Limit: points})
		value, count := floats(c, t, "value"), floats(c, t, "count")
		for i, x := range value {
			n := 0.0
			for _, v := range ttft {
				if v <= x {
					n++
				}
			}
			if n != count[i] {
				t.Fatalf("%v requests have at most %v, want %v", count[i], x, n)
			}
		}
		if c.Facts["n"] != float64(len(ttft)) || count[len(count)-1] != float64(len(ttft)) || points == 50 && len(value) > 400 {
			t.Errorf("%d points, %v", len(value), c.Facts)
		}
	}
	scatter := viewOf(t, s, q, view.Viewport{Kind: "scatter", X: "prompt_tokens", Y: "ttft", Color: "model"})
	bins := viewOf(t, s, q, view.Viewport{Kind: "scatter", X: "prompt_tokens", Y: "ttft", Limit: 10, XBins: 7, YBins: 5})
	if scatter.Mode != "points" || bins.Mode != "bins" || len(floats(scatter, t, "x")) != len(ttft) {
		t.Fatalf("%s, %s", scatter.Mode, bins.Mode)
	}
	sum := 0.0
	for i, n := range floats(bins, t, "count") {
		sum += n
		x, y := floats(bins, t, "x")[i], floats(bins, t, "y")[i]
		inside := 0.0
		for k, px := range floats(scatter, t, "x") {
			py := floats(scatter, t, "y")[k]
			if px > x-1e-6 && px < x+bins.Facts["dx"]-1e-6 && py > y-1e-3 && py < y+bins.Facts["dy"]-1e-3 {
				inside++
			}
		}
		if math.Abs(inside-n) > 2 { // points on an edge, and the greatest
			t.Errorf("cell %d counts %v points, want %v", i, n, inside)
		}
	}
	trend := 0.0
	for _, n := range floats(bins, t, "trend_n") {
		trend += n
	}
	if sum != float64(len(ttft)) || trend != sum {
		t.Errorf("cells hold %v points and bins %v, want %d", sum, trend, len(ttft))
	}
}

// chunkTimes returns the gaps of the run's selected requests and the times of
// their ends, by the lists of the table.
func chunkTimes(t *testing.T, s *Session, q *query.Query, origin int64) (at, gaps []float64) {
	t.Helper()
	err := s.Rows(t.Context(), q, true, func(b *trace.Batch) error {
		for i := range b.Rows {
			list, ok := b.Lists(trace.ChunkGaps).At(i)
			if code, known := b.Dicts(trace.StatusCol).At(i); !ok || known && trace.Status(code) != trace.OK {
				continue
			}
			now, _ := b.Ints(trace.FirstToken).At(i)
			for _, g := range list {
				now += g
				at, gaps = append(at, float64(now-origin)), append(gaps, float64(g))
			}
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return at, gaps
}

func TestViewHeatmap(t *testing.T) {
	src := generated(400, 4)
	for _, memory := range []int64{0, 1 << 10} { // lists in memory, and read again
		s := openView(t, load.Options{Workers: 1, Memory: memory}, src)
		for _, q := range []*query.Query{{}, filtered(t, "model = m1")} {
			r, err := s.Run(t.Context(), q)
			if err != nil {
				t.Fatal(err)
			}
			for _, p := range []view.Viewport{{Kind: "heatmap"}, {Kind: "heatmap", XBins: 7, YBins: 9, From: 1e9, To: 5e9, Low: 1e6, High: 50e6}} {
				c := viewOf(t, s, q, p)
				at, gaps := chunkTimes(t, s, q, c.Clocks[0].Origin)
				x, y := floats(c, t, "x"), floats(c, t, "y")
				want := make([]float64, (len(x)-1)*(len(y)-1))
				other := 0.0
				for k, gap := range gaps {
					i := slices.IndexFunc(x, func(e float64) bool { return e > at[k] }) - 1
					j := slices.IndexFunc(y, func(e float64) bool { return e > gap }) - 1
					low, high := p.Low, p.High
					if i < 0 || j < 0 || low < high && (gap < float64(low) || gap > float64(high)) {
						other++
						continue
					}
					want[i*(len(y)-1)+j]++
				}
				if !slices.Equal(floats(c, t, "count"), want) {
					t.Errorf("memory %d, %+v: the cells differ", memory, p)
				}
				f := c.Facts
				if f["below"]+f["above"]+f["outside"]+f["unplaced"]+f["negative"] != other || f["n"] != float64(r.Runs[0].Metrics["chunk_gap"].N) {
					t.Errorf("memory %d, %+v: %v, want %v in no cell of %d", memory, p, f, other, r.Runs[0].Metrics["chunk_gap"].N)
				}
			}
			c := viewOf(t, s, q, view.Viewport{Kind: "ecdf", Metric: "chunk_gap"})
			_, gaps := chunkTimes(t, s, q, 0)
			for i, x := range floats(c, t, "value") {
				n := 0.0
				for _, g := range gaps {
					if g <= x {
						n++
					}
				}
				if n != floats(c, t, "count")[i] {
					t.Fatalf("%v gaps are at most %v, want %v", floats(c, t, "count")[i], x, n)
				}
			}
		}
	}
}

// TestViewLongGaps counts the gaps of each request once more, from its own view.
func TestViewLongGaps(t *testing.T) {
	const least = 30_000_000
	s, err := openAll(t, load.Options{Workers: 1}, generated(60, 4))
	if err != nil {
		t.Fatal(err)
	}
	c := viewOf(t, s, &query.Query{}, view.Viewport{Kind: "columns", Columns: []string{"gaps_ge.30000000"}})
	some := 0
	for i, n := range floats(c, t, "gaps_ge.30000000") {
		want, row := 0.0, floats(c, t, "row")[i]
		gaps := known(floats(viewOf(t, s, &query.Query{}, view.Viewport{Kind: "request", Row: int64(row)}), t, "gap"))
		for _, gap := range gaps {
			if gap >= least {
				want++
			}
		}
		if len(gaps) == 0 {
			want = math.NaN()
		}
		if n != want && !(n != n && want != want) {
			t.Errorf("request %v: %v long gaps, want %v", row, n, want)
		}
		if n > 0 {
			some++
		}
	}
	if some < 20 {
		t.Errorf("%d requests have a long gap: this tests nothing", some)
	}
	for _, name := range []string{"gaps_ge.", "gaps_ge.x", "gaps_ge.0", "gaps_ge.-1"} {
		if _, err := s.View(t.Context(), &query.Query{}, view.Viewport{Kind: "columns", Columns: []string{name}}); err == nil {
			t.Errorf("%s is a column", name)
		}
	}
}
