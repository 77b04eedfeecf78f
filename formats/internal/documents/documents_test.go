package documents

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/internal/assemble"
	"servescope/formats/source"
)

var toy = Dialect{
	Name: "toy",
	Keys: []string{"a b", "c"},
	Table: `
sets[] run
sets[].good[] ok
sets[].bad[] failed
from sent
who.id request_id
who.model model
n output_tokens
x @0
times []0
m.ttft ttft ms
m.rate tps mean:tok/s
m.late ttft ms
m.share - %
length - duration
version = version
opt.rate = rate`,
	HowTo: "ask",
	Row: func(q *Request, b *trace.Builder) *assemble.Problem {
		if stamps, ok := q.List(0); ok {
			q.Chunks(b, stamps)
		}
		if string(q.Text(0)) == "drop" {
			return strayText
		}
		b.EndRow()
		return nil
	},
}

// read reads a text in small pieces and returns what it holds.
func read(t *testing.T, text string) (runs []*trace.RunMeta, rows []string, r formats.Reader) {
	t.Helper()
	r, err := Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Options{Block: 64, Lists: true}, &toy)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			row := fmt.Sprint(b.Run.Key)
			for _, c := range []trace.Col{trace.Sent, trace.FirstToken, trace.LastToken, trace.OutputTokens} {
				if v, ok := b.Ints(c).At(i); ok {
					row += fmt.Sprintf(" %s=%d", trace.Requests.Fields[c].Name, v)
				}
			}
			if id, ok := b.Texts(trace.RequestID).At(i); ok {
				row += " " + string(id)
			}
			gaps, _ := b.Lists(trace.ChunkGaps).At(i)
			counts, _ := b.Lists(trace.ChunkTokens).At(i)
			code, _ := b.Dicts(trace.StatusCol).At(i)
			rows = append(rows, fmt.Sprint(row, " ", gaps, counts, " ", trace.Requests.Fields[trace.StatusCol].Values[code]))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	return r.Runs(), rows, r
}

func TestRead(t *testing.T) {
	one := `{"opt": {"rate": 2.5}, "m": {"ttft": {"mean": 12.5, "p99.9": "30", "count": 7}, "rate": {"mean": 3, "p50": 2}, "share": 50, "other": {"mean": 1}, "late": {"unit": "us", "mean": 1}},
	 "good": [{"from": 1.5, "who": {"id": "a\"]", "model": "m"}, "n": 3, "prompt": "{[\"", "times": [2.0, 2.0, 2.25]}, {"from": 0, "n": "x", "times": [1, null]}],
	 "bad": [{"from": 2e0, "x": "drop"}, {"from": 2}], "length": 1.25}`
	runs, rows, r := read(t, `{"version": "v1", "noise": [[{"from": 1}]], "sets": [`+one+`, {"m": {"ttft": {"min": 1e1, "max": NaN}}}, {}]}`)
	if len(runs) != 3 || runs[0].Duration != 1_250_000_000 || runs[2].NoRequests == "" || runs[1].NoRequests == "" || runs[0].NoRequests != "" {
		t.Fatalf("%d runs, %+v", len(runs), runs)
	}
	if got, want := fmt.Sprint(runs[0].Config, runs[1].Config), "[{version v1} {rate 2.5}] [{version v1}]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	want := "[{m.ttft.mean ttft mean 1.25e+07 ns 0} {m.ttft.p99.9 ttft 0.999 3e+07 ns 0} {m.rate.mean tps value 3 tokens/s 0} {m.rate.p50  0.5 2 tokens/s 0} {m.share  value 0.5 ratio 0} {m.late.mean ttft mean 1000 ns 0}] [{m.ttft.min ttft min 1e+07 ns 0}]"
	if got := fmt.Sprint(runs[0].Reported, runs[1].Reported); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	key := runs[0].Key
	want = strings.ReplaceAll(`[K sent=1500000000 first_token=2000000000 last_token=2250000000 output_tokens=3 a"] [250000000] [2 1] ok K [] [] ok K sent=2000000000 [] [] failed]`, "K", fmt.Sprint(key))
	if got := fmt.Sprint(rows); got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	codes := ""
	for _, d := range r.Diags().All() {
		codes += fmt.Sprintf(" %s×%d", d.Code, d.Count)
	}
	if a := r.Account(); a.Parsed != 5 || a.Diagnosed != 1 || a.Total != 6 || a.Kinds["request"] != 3 || a.Kinds["report"] != 2 {
		t.Errorf("%+v", a)
	}
	for _, code := range []string{"bad_list×1", "bad_value×1", "unknown_stamp×1", "stray_text×1"} {
		if !strings.Contains(codes, code) {
			t.Errorf("%s: no %s", codes, code)
		}
	}
}

// What stands before a break is used, what follows on the next lines too.
func TestBroken(t *testing.T) {
	const set = `{"sets": [{"good": [{"from": 1}, {"from": 2}]}]}`
	for _, tc := range []struct {
		text string
		rows int
	}{
		{set + "\n" + set, 4}, {set + set, 4}, {"text\n" + set, 2}, {set[:len(set)-8] + "\n" + set + "\n" + set, 3}, {`{"sets": 5}` + "\n" + set, 2}, {`{"sets": [1, [2], null, "x"]}`, 0},
		{`{"sets": [{"good": [7, [1], {"from": {"a": 1}}]}]}`, 1}, {strings.Repeat(`{"sets":[`, 300), 0}, {strings.Repeat(`{"a":`, 300) + "1" + strings.Repeat("}", 300) + "\n" + set, 2},
	} {
		_, rows, r := read(t, tc.text)
		a := r.Account()
		if len(rows) != tc.rows || a.Total != a.Parsed+a.Diagnosed || a.Parsed != int64(tc.rows) || tc.rows == 0 && len(r.Diags().All()) == 0 {
			t.Errorf("%.60s: %d rows, %+v %v", tc.text, len(rows), a, r.Diags().All())
		}
	}
}

func TestSniff(t *testing.T) {
	for text, want := range map[string]formats.Score{`{"a": 1, "b": 2}`: formats.Sure, `[{"c": 1}]`: formats.Sure, `{"a": 1}`: formats.No, "x\n{\"c\": 1}": formats.Sure, "": formats.No} {
		if got, why := toy.Sniff(&formats.Head{Start: []byte(text), Size: int64(len(text))}); got != want || why == "" {
			t.Errorf("%s: %d (%s)", text, got, why)
		}
	}
}

func TestMistakeInTable(t *testing.T) {
	for _, line := range []string{"a b c d", "a ttft parsec", "a nothing"} {
		func() {
			defer func() {
				if recover() == nil && len(strings.Fields(line)) < 4 {
					t.Errorf("%s is taken", line)
				}
			}()
			(&Dialect{Table: line}).table()
		}()
	}
}
