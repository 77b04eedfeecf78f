package columns

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"servescope/formats"
)

// stamped is a table of ten requests, one per 0.5 s from a time in s on, whose
// first of 100 tokens comes after 0.2 s and whose end after 2.2 s.
func stamped(from, unit float64) string {
	var b strings.Builder
	b.WriteString("id,start,first_token_at,end,completion_tokens\n")
	for i := range 10 {
		t := from + float64(i)/2
		fmt.Fprintf(&b, "%d", i)
		for _, t := range []float64{t, t + 0.2, t + 2.2} {
			fmt.Fprintf(&b, ",%d", int64(math.Round(t*1000))*int64(unit/1000))
		}
		b.WriteString(",100\n")
	}
	return b.String()
}

// TestOtherClock reads stamps of a clock that began with the machine, which look
// like times since 1970 in a unit a thousand times as long: 20 days are 1.7e15 ns.
func TestOtherClock(t *testing.T) {
	const day = 86400
	for _, c := range []struct {
		from, unit float64
		asked      []string // the units to choose from, none: it is known
	}{
		{1_767_323_045, 1e3, nil}, {1_767_323_045, 1e6, nil}, {1_767_323_045, 1e9, nil},
		{20 * day, 1e9, []string{"us", "ns"}}, {20 * day, 1e3, []string{"s", "ms"}}, {1728, 1e9, []string{"ms", "us"}},
		{1728, 1e6, []string{"s", "ms"}}, {12 * day, 1e9, []string{"s", "ms", "us", "ns"}},
	} {
		text := stamped(c.from, c.unit)
		rows, codes, run := read(t, textSource(text), formats.Options{})
		if c.asked == nil {
			if len(rows) != 10 || rows[0] != "0 ok first=200 end=2200 out=100" {
				t.Errorf("%v s in %v: %q %v", c.from, c.unit, rows, codes)
			}
			continue
		}
		if len(rows) > 0 || run.NoRequests == "" {
			t.Errorf("%v s in %v: read without asking: %v %q", c.from, c.unit, codes, rows[0])
		}
		for _, u := range c.asked {
			if !strings.Contains(run.NoRequests, "arrival=start:"+u) {
				t.Errorf("%v s in %v: does not suggest %s: %s", c.from, c.unit, u, run.NoRequests)
			}
		}
	}
	given := []string{"arrival=start:ns", "first_token=first_token_at:ns", "finished=end:ns"}
	rows, _, _ := read(t, textSource(stamped(20*day, 1e9)), formats.Options{Map: given})
	if len(rows) != 10 || rows[9] != "9 ok first=200 end=2200 out=100" {
		t.Errorf("as given: %q", rows)
	}
}

// TestLatencyNames reads names that may be those of a stamp or of a latency.
func TestLatencyNames(t *testing.T) {
	for _, c := range [][2]string{
		{"response_time_ms,completion_tokens\n1500,100\n1600,90\n", " ok end=1500 out=100| ok end=1600 out=90"},
		{"id,request_time_ms,ttft_ms\na,1500,200\nb,1600,210\n", "a ok first=200 end=1500|b ok first=210 end=1600"},
		{"id,request_time_ms,last_token_at\na,1500,2026-01-02T03:04:05.5Z\nb,1600,2026-01-02T03:04:06.5Z\n", "a ok end=1500|b ok end=1600"},
		{"id,request_time,response_at\na,2026-01-02T03:04:05.000Z,2026-01-02T03:04:06.500Z\n", "a ok end=1500"},
		{"id,request_time,response_at\na,1767323045.000,1767323046.500\n", "a ok end=1500"},
	} {
		rows, codes, _ := read(t, textSource(c[0]), formats.Options{})
		if got := strings.Join(rows, "|"); got != c[1] {
			t.Errorf("%q:\n%s\nwant\n%s\n%v", c[0], got, c[1], codes)
		}
	}
}

// TestNoArrival reads latencies beside stamps of something else than the arrival.
func TestNoArrival(t *testing.T) {
	for _, c := range [][2]string{
		{"id,first_token_at,ttft_ms\na,2026-01-02T03:04:05.500Z,200\n", "a ok first=200"},
		{"id,last_token_at,ttft_ms\na,2026-01-02T03:04:05.500Z,200\n", "a ok first=200"},
		{"id,first_token_at,finished_at,ttft_ms\na,2026-01-02T03:04:05.500Z,2026-01-02T03:04:06.000Z,200\n", "a ok first=200 end=700"},
	} {
		rows, codes, _ := read(t, textSource(c[0]), formats.Options{})
		if got := strings.Join(rows, "|"); got != c[1] {
			t.Errorf("%q:\n%s\nwant\n%s\n%v", c[0], got, c[1], codes)
		}
	}
}

// TestTornElement: an element of an array on one line that is torn costs itself.
func TestTornElement(t *testing.T) {
	text := `[{"id":"a","latency_ms":100}, {"id":"b,"latency_ms":100}, {"id":"c","x":[{"y":1},"z"2],"latency_ms":200}, {"id":"d","latency_ms":300}]`
	for size := 1; size < 200; size += 29 {
		rows, codes, _ := read(t, textSource(text), formats.Options{Block: size})
		if got := strings.Join(rows, "|"); got != "a ok end=100|d ok end=300" || strings.Join(codes, ",") != "bad_record 2" {
			t.Errorf("in blocks of %d: %s %v", size, got, codes)
		}
	}
}

// TestSuccess reads success written as numbers.
func TestSuccess(t *testing.T) {
	for _, name := range []string{"success", "ok", "response.success"} {
		text := "id," + name + ",latency_ms\na,1,100\nb,0,90\nc,1.0,80\nd,0.0,70\ne,2,60\n"
		rows, codes, _ := read(t, textSource(text), formats.Options{})
		if got := strings.Join(rows, "|"); got != "a ok end=100|b failed end=90|c ok end=80|d failed end=70|e ok end=60" || strings.Join(codes, ",") != "unknown_status 1" {
			t.Errorf("%s: %s %v", name, got, codes)
		}
	}
	rows, codes, _ := read(t, textSource("id,exit_status,latency_ms\na,0,100\n"), formats.Options{})
	if len(rows) != 1 || rows[0] != "a ok end=100" {
		t.Errorf("%q %v", rows, codes)
	}
}

// TestBeforehand: what lies before the arrival is no stamp of its clock, also in
// the record where it happens to lie behind.
func TestBeforehand(t *testing.T) {
	text := "id,arrival_ms,first_token_ms,finish_ms\na,100,200,1500\nb,1000,210,1600\nc,2000,230,1700\nd,3000,230,1800\n"
	rows, codes, run := read(t, textSource(text), formats.Options{})
	if len(rows) > 0 || !strings.Contains(run.NoRequests, "--map ttft=first_token_ms:ms") {
		t.Errorf("%q %v %s", rows, codes, run.NoRequests)
	}
	rows, codes, _ = read(t, textSource(text), formats.Options{Map: []string{"ttft=first_token_ms:ms", "e2e=finish_ms:ms"}})
	if got := strings.Join(rows, "|"); got != "a ok first=200 end=1500|b ok first=210 end=1600|c ok first=230 end=1700|d ok first=230 end=1800" {
		t.Errorf("as given: %s %v", got, codes)
	}
}

// TestTornElementOfLines: of an element printed over several lines that is torn,
// each line counts, also behind an element that is torn on its first line.
func TestTornElementOfLines(t *testing.T) {
	more := "\nx" + strings.Repeat(" more", 20) + "\n"
	for _, text := range []string{
		"[{\"id\":\"a\",\"latency_ms\":100},\n{\"id\":\"b\",\n\"latency_ms\":100," + more + "{\"id\":\"c\",\"latency_ms\":200}]",
		"[{\"id\":\"z,\"latency_ms\":1},{\"id\":\"a\",\"latency_ms\":100},{\"id\":\"b\"," + more + "{\"id\":\"c\",\"latency_ms\":200}]",
	} {
		for size := 1; size < 200; size += 29 {
			rows, codes, _ := read(t, textSource(text), formats.Options{Block: size})
			if got := strings.Join(rows, "|"); got != "a ok end=100|c ok end=200" || strings.Join(codes, ",") != "bad_record 3" {
				t.Errorf("%s in blocks of %d: %s %v", text, size, got, codes)
			}
		}
	}
}
