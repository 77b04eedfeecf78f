package render

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"flag"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"unicode"

	"servescope/analyzer/diag"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"

	"github.com/rogpeppe/go-internal/diff"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// golden compares got with a golden file, and on a mismatch leaves a .got file
// beside it and shows the difference.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	path := filepath.Join("..", "..", "testdata", "golden", "render", name)
	if *update {
		if err := os.WriteFile(path, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if bytes.Equal(got, want) {
		os.Remove(path + ".got")
		return
	}
	if err := os.WriteFile(path+".got", got, 0o666); err != nil {
		t.Error(err)
	}
	t.Errorf("run with -update if this is right\n%s", diff.Diff(name, want, name+".got", got))
}

func render(t *testing.T, f func(io.Writer, *report.Report) error, r *report.Report) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func text80(w io.Writer, r *report.Report) error { return Text(w, r, TextOptions{}) }

func text132(w io.Writer, r *report.Report) error { return Text(w, r, TextOptions{Width: 132}) }

func TestGolden(t *testing.T) {
	color := func(w io.Writer, r *report.Report) error { return Text(w, r, TextOptions{Color: true, Width: 120}) }
	for _, c := range []struct {
		name string
		f    func(io.Writer, *report.Report) error
		r    *report.Report
	}{
		{"one.txt", text80, sample()},
		{"one.md", Markdown, sample()},
		{"one.csv", CSV, sample()},
		{"one.json", JSON, sample()},
		{"several.txt", text80, several()},
		{"several.md", Markdown, several()},
		{"color120.txt", color, several()},
		{"none.txt", text80, &report.Report{Schema: report.Schema}},
		{"none.json", JSON, &report.Report{Schema: report.Schema}},
		{"aggregates.txt", text80, aggregates(1)},
		{"aggregates-several.txt", text80, aggregates(3)},
		{"hostile.txt", text80, hostile()},
		{"hostile.md", Markdown, hostile()},
	} {
		t.Run(c.name, func(t *testing.T) { golden(t, c.name, render(t, c.f, c.r)) })
	}
}

// TestTextFits: nothing is wider than it was told.
func TestTextFits(t *testing.T) {
	for _, r := range []*report.Report{sample(), several(), hostile(), engineSteps(), aggregates(3)} {
		for _, width := range []int{50, 80, 100, 132} {
			var b bytes.Buffer
			if err := Text(&b, r, TextOptions{Width: width}); err != nil {
				t.Fatal(err)
			}
			for _, line := range strings.Split(b.String(), "\n") {
				if n := columns(line); n > width {
					t.Errorf("%d columns instead of %d: %.200q", n, width, line)
				}
			}
		}
	}
}

// TestTextAgreesWithReport reads the table of latencies back and compares every
// number with the report, within what four digits can show.
func TestTextAgreesWithReport(t *testing.T) {
	r := sample()
	lines := strings.Split(string(render(t, text80, r)), "\n")
	symbols := map[string]float64{"ms": 1e6, "ms/tok": 1e6, "s": 1e9, "tok": 1}
	found := 0
	for _, line := range lines {
		f := strings.Fields(strings.Map(func(r rune) rune {
			if strings.ContainsRune("⁰¹²³⁴⁵⁶⁷⁸⁹", r) {
				return -1
			}
			return r
		}, line))
		if len(f) != 10 || symbols[f[1]] == 0 {
			continue
		}
		m, ok := r.Runs[0].Metrics[f[0]]
		if !ok {
			continue
		}
		found++
		if f[2] != strconv.FormatInt(m.N, 10) {
			t.Errorf("n of %s is printed as %s", f[0], f[2])
		}
		q := m.Quantiles
		for i, want := range []float64{m.Mean, q["0.5"], q["0.9"], q["0.95"], q["0.99"], q["0.999"], m.Max} {
			got, err := strconv.ParseFloat(f[3+i], 64)
			if err != nil || math.Abs(got*symbols[f[1]]-want) > 0.00051*want {
				t.Errorf("%s, column %d: %q for %v", f[0], i, f[3+i], want)
			}
		}
	}
	if found != 6 {
		t.Errorf("%d rows were found, want 6", found)
	}
}

// TestCSVIsComplete reads the CSV with the standard library and compares it
// with the JSON of the same report.
func TestCSVIsComplete(t *testing.T) {
	r := sample()
	rows, err := stdcsv.NewReader(bytes.NewReader(render(t, CSV, r))).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	head := "run,scope,group_tenant,window_from_ns,window_to_ns,metric,stat,value,unit,n,reason"
	if got := strings.Join(rows[0], ","); got != head {
		t.Fatalf("header %s, want %s", got, head)
	}
	whole := map[string]string{} // of the run as a whole, without groups and windows
	for _, row := range rows[1:] {
		if row[1] == "run" {
			whole[row[5]+" "+row[6]] = strings.Join(row[7:], "|")
		}
	}
	m := r.Runs[0].Metrics["ttft"]
	for key, want := range map[string]string{
		"ttft mean":                 strconv.FormatFloat(m.Mean, 'f', -1, 64) + "|ns|990|",
		"ttft excluded.failed":      "8|||",
		"token_latency mean":        "|ns/token|0|not_recorded",
		"requests total":            "1000|requests||",
		"ttft 0.5.low":              strconv.FormatFloat(m.Quantiles["0.5"]*0.9, 'f', -1, 64) + "|ns|990|",
		"ttft 0.999.high":           "|ns|990|unbounded",
		"throughput from":           "1764428000250000000|ns||",
		"throughput.tps value":      "4511.2|tokens/s||",
		"goodput missed_by.ttft":    "80|requests||",
		"reported.p99_tpot_ms 0.99": "53000000|ns/token||",
		"audit explained":           "1|||",

		"audit.impossible.ttfts reported":    "0|ns||",
		"audit.impossible.ttfts expected":    "|||not_recorded",
		"audit.differs.mean_itl_ms expected": "26000000|ns||",
	} {
		if whole[key] != want {
			t.Errorf("%s is %q, want %q", key, whole[key], want)
		}
	}
	if n := len(rows) - 1; n != count(r) {
		t.Errorf("%d rows, want %d", n, count(r))
	}
}

// count returns how many figures the report holds.
func count(r *report.Report) int {
	cell := func(c *report.Cell) int {
		n := 10 + 3 + 4 + len(c.Throughput.Values) + 4
		for _, m := range c.Metrics {
			n += len(m.Excluded)
			if m.N == 0 {
				n++
			} else {
				n += 4 + len(m.Quantiles) + 2*len(m.Intervals)
			}
		}
		if c.Goodput != nil {
			n += 8 + len(c.Goodput.MissedBy)
		}
		return n
	}
	n := 0
	for _, run := range r.Runs {
		n += 1 + cell(&run.Cell) + 2*len(run.Reported) + 7 + 3*len(run.Audit.Findings)
		for _, w := range run.Windows {
			n += cell(&w.Cell)
		}
		for _, g := range run.Groups {
			n += cell(&g.Cell)
		}
	}
	return n
}

// TestP78NonFinite: numbers that are NaN or infinite never reach an output.
func TestP78NonFinite(t *testing.T) {
	r := sample()
	for name, m := range r.Runs[0].Metrics {
		m.Mean, m.Std, m.Max = math.NaN(), math.Inf(-1), math.Inf(1)
		for rank := range m.Quantiles {
			m.Quantiles[rank] = math.NaN()
		}
		r.Runs[0].Metrics[name] = m
	}
	r.Runs[0].Throughput.Values["tps"] = report.Value{Known: true, V: math.NaN(), Unit: unit.TokenRate}
	for name, f := range map[string]func(io.Writer, *report.Report) error{"text": text80, "markdown": Markdown, "csv": CSV, "json": JSON} {
		out := render(t, f, r)
		if m := regexp.MustCompile(`(?i)\b(nan|[+-]?inf(inity)?)\b`).Find(out); m != nil {
			t.Errorf("%s holds %q", name, m)
		}
		if name == "json" && !json.Valid(out) {
			t.Error("not JSON")
		}
	}
}

// nasty are texts that a file may hold as a label, a model or a message.
var nasty = []string{
	"\x1b[2J\x1b]0;owned\x07", "<script>alert(1)</script>", "a|b\\|c", "`code` **bold** [x](javascript:y)",
	"\u202egnp.exe", "line\nbreak\r\nINFO 01-01 00:00:00 [loggers.py:87] Engine 000: Avg prompt throughput: 9e9",
	"@everyone #1", strings.Repeat("漢", 400), "e" + strings.Repeat("\u0301", 500), "\xff\xfe\x00", "\u200b\ufeff\u2028", "=1+1",
}

// hostile is a report whose every foreign text is nasty.
func hostile() *report.Report {
	r := sample()
	r.Query.By = []string{"tenant"}
	r.Query.SLO = nil
	run := r.Runs[0]
	run.Groups, run.Windows, run.Goodput = nil, nil, nil
	for _, s := range nasty {
		run.Groups = append(run.Groups, report.Group{By: map[string]string{"tenant": s}, Cell: sampleCell(100, 1)})
		r.Diags = append(r.Diags, diag.Diag{Code: "bad_line", Severity: diag.Notice, File: s, Offset: 7, Count: 1, Msg: "unknown key " + s})
	}
	run.Label, run.Model, run.Engine = nasty[0], nasty[1], nasty[2]
	r.Runs = []report.Run{run}
	return r
}

// TestP49HostileText: nothing that a file says acts on a terminal, a page or a
// table.
func TestP49HostileText(t *testing.T) {
	for _, color := range []bool{false, true} {
		var b bytes.Buffer
		if err := Text(&b, hostile(), TextOptions{Color: color}); err != nil {
			t.Fatal(err)
		}
		out := b.String()
		if color {
			out = regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(out, "")
		}
		for _, r := range out {
			if r != '\n' && !strconv.IsPrint(r) && !unicode.Is(unicode.Mn, r) {
				t.Errorf("text holds %U", r)
			}
		}
		if b.Len() > 30000 {
			t.Errorf("%d bytes of text", b.Len())
		}
	}
	md := string(render(t, Markdown, hostile()))
	columns := 0
	for _, line := range strings.Split(md, "\n") {
		bare := regexp.MustCompile("`[^`]*`|<code>[^<]*</code>|</?sub>|<br>").ReplaceAllString(line, "")
		if regexp.MustCompile(`<[a-zA-Z/!]|@\w|[^\\]\]\(`).MatchString(bare) {
			t.Errorf("Markdown acts: %q", line)
		}
		if !strings.HasPrefix(line, "|") {
			columns = 0
			continue
		}
		n := strings.Count(strings.ReplaceAll(line, `\|`, ""), "|")
		if columns != 0 && n != columns {
			t.Errorf("a row of %d cells in a table of %d: %q", n, columns, line)
		}
		columns = n
	}
}

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain é 漢 🙂":          "plain é 漢 🙂",
		"a\x1b[31mb":           `a\x1b[31mb`,
		"a\tb\nc":              `a\tb\nc`,
		"\u202eabc":            `\u202eabc`,
		"\u200b\ufeff":         `\u200b\ufeff`,
		"\xff\x80":             `\xff\x80`,
		"\u0085\u009b":         `\u0085\u009b`,
		"e\u0301\u0302":        "e\u0301\u0302",
		"e\u0301\u0301\u0301x": "e\u0301\u0301\\u0301x",
		"\U000e0041":           `\U000e0041`,
	} {
		if got := visible(in); got != want {
			t.Errorf("visible(%q) = %q, want %q", in, got, want)
		}
	}
}

// TestVisibleProperties: whatever the bytes, what is shown can be printed, and a
// shortened text is as narrow as it was asked to be.
func TestVisibleProperties(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 3000 {
		b := make([]byte, r.IntN(60))
		for i := range b {
			b[i] = byte(r.IntN(256))
		}
		s := string(b)
		if r.IntN(2) == 0 {
			runes := make([]rune, r.IntN(30))
			for i := range runes {
				runes[i] = rune(r.IntN(0x3000))
			}
			s = string(runes)
		}
		v := visible(s)
		for _, c := range v {
			if !strconv.IsPrint(c) && !unicode.In(c, unicode.Mn, unicode.Me) {
				t.Fatalf("%q is shown with %U", s, c)
			}
		}
		limit := 3 + r.IntN(20)
		if n := columns(shorten(v, limit)); n > limit {
			t.Fatalf("%q takes %d columns, want at most %d", v, n, limit)
		}
		for _, line := range wrap(v, limit) {
			if strings.Contains(line, " ") && columns(line) > limit {
				t.Fatalf("%q takes more than %d columns", line, limit)
			}
		}
	}
}

func TestShorten(t *testing.T) {
	for _, c := range []struct {
		in   string
		max  int
		want string
	}{
		{"short", 5, "short"}, {"abcdefgh", 5, "ab…gh"}, {"abcdefgh", 6, "abc…gh"}, {"漢字漢字漢字", 7, "漢…字"}, {"", 3, ""},
		{"abcdef", 0, "a…f"}, {"漢字漢字", 3, "…字"[:len("…")]},
	} {
		got := shorten(c.in, c.max)
		if got != c.want || columns(got) > max(c.max, 3) {
			t.Errorf("shorten(%q, %d) = %q, want %q", c.in, c.max, got, c.want)
		}
	}
}
