package accesslog

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// read returns the first row of a text as "received took resolution", in ns, the first
// since 9 o'clock of the first of March 2026, and the codes of its diags.
func read(t *testing.T, text string, opt formats.Options) (row string, codes string) {
	t.Helper()
	opt.Workers = 1
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, opt)
	if err != nil {
		return err.Error(), ""
	}
	defer r.Close()
	nine := time.Date(2026, 3, 1, 9, 0, 0, 0, time.UTC).UnixNano()
	for r.Next() {
		b := r.Batch()
		at, _ := b.Ints(trace.Received).At(0)
		end, ended := b.Ints(trace.Finished).At(0)
		step, _ := b.Ints(trace.Resolution).At(0)
		if row = fmt.Sprint(at-nine, " - ", step); ended {
			row = fmt.Sprint(at-nine, " ", end-at, " ", step)
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for _, d := range r.Diags().All() {
		codes += d.Code + " "
	}
	return row, strings.TrimSpace(codes)
}

const begin = `10.0.0.1 - - [01/Mar/2026:09:00:02 +0000] "POST /v1/completions HTTP/1.1" 200 12 "-" "x" `

// TestUnits: what a time is in is what its writer is known for, or is asked for.
func TestUnits(t *testing.T) {
	for _, c := range []struct{ tail, given, row, codes string }{
		{"rt=0.250", "", "1750000000 250000000 1000000000", ""},
		{"request_time=0.250 urt=0.249", "", "1750000000 250000000 1000000000", ""},
		{`rt="0.000"`, "", "2000000000 0 1000000000", ""},
		{"0.250", "", "1750000000 250000000 1000000000", ""},
		{`"10.1.2.3" 0.250 0.001 0.249`, "", "1750000000 250000000 1000000000", ""},
		{`"10.1.2.3" "0.250"`, "", "1750000000 250000000 1000000000", ""},
		{"0.249 0.260", "", "", "unknown_order"},
		{"0.25", "", "", "unknown_unit"},
		{"250", "", "", "unknown_unit"},
		{"250", "e2e=number1:ms", "2000000000 250000000 1000000000", ""},
		{"250000", "e2e=number1:us", "2000000000 250000000 1000000000", ""},
		{"2", "e2e=number1:s", "2000000000 2000000000 1000000000", ""},
		{"", "", "", "no_duration"},
		{"rt=-", "", "", "no_duration"},
		{"rt=soon", "", "", "no_duration"},
		{`7 "llm" "http://10.0.0.2:8000" 250ms`, "", "2000000000 250000000 1000000000", ""},
	} {
		opt := formats.Options{}
		if c.given != "" {
			opt.Map = []string{c.given}
		}
		if row, codes := read(t, begin+c.tail+"\n", opt); row != c.row || codes != c.codes {
			t.Errorf("%s: %q, %q; want %q, %q", c.tail, row, codes, c.row, c.codes)
		}
	}
	if row, _ := read(t, begin+"250\n", formats.Options{Map: []string{"e2e=number1:h"}}); !strings.Contains(row, "e2e=number1:s") {
		t.Error(row)
	}
	if _, unknown, err := Format.Learn(source.FromBytes("t", []byte(begin+"250\n")), nil); unknown != ask || err != nil {
		t.Error(unknown, err)
	}
	if list, unknown, err := Format.Learn(source.FromBytes("t", []byte(begin+"250\n")), []string{"e2e=number1:us"}); len(list) != 1 || unknown != "" || err != nil {
		t.Error(list, unknown, err)
	}
}

// TestZones: a date without a zone is in that of the caller, or UTC, which is said.
func TestZones(t *testing.T) {
	const line = `lb haproxy[1]: 10.0.1.2:1 [01/Mar/2026:09:00:01.500] in llm/a 1/2/3/4/250 200 2 - - ---- 1/1/1/1/0 0/0 "POST /v1/completions HTTP/1.1"` + "\n"
	if row, codes := read(t, line, formats.Options{}); row != "1500000000 250000000 1000000" || codes != "zone_assumed" {
		t.Error(row, codes)
	}
	if row, codes := read(t, line, formats.Options{TZ: time.FixedZone("", 3600)}); row != "-3598500000000 250000000 1000000" || codes != "" {
		t.Error(row, codes)
	}
}

// TestNotMine: what servers of models and their clients print is no access log with times.
func TestNotMine(t *testing.T) {
	for _, text := range []string{
		`INFO:     10.0.0.5:40000 - "POST /v1/chat/completions HTTP/1.1" 200 OK`,
		`[2026-03-01 09:00:00] INFO:     127.0.0.1:3 - "POST /generate HTTP/1.1" 200 OK`,
		`[GIN] 2026/03/01 - 10:00:00 | 200 | 1.2s | 127.0.0.1 | POST     "/api/chat"`,
		`HTTP Request: POST http://127.0.0.1:8000/v1/chat/completions "HTTP/1.1 200 OK"`,
		begin,
		`10.0.0.1 - - [01/Mar/2026:09:00:02 +0000] "GET / HTTP/1.1" 200 12 "-" "x" 0.250`,
		`{"duration":1.5,"status":200,"ts":1772355600}`,
		`"POST `, `[ "POST /v1/completions"`, `[] "POST /v1/completions HTTP/1.1" 200 1 2 3 4 "`,
	} {
		h, err := formats.ReadHead(source.FromBytes("t", []byte(text+"\n")))
		if err != nil {
			t.Fatal(err)
		}
		if score, why := Format.Sniff(h); score != formats.No {
			t.Errorf("%s: %d, %s", text, score, why)
		}
	}
}
