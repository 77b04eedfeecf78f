package columns

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
)

// arrivals returns the times at which requests were received, in ms since the first of
// the wanted ones, and what the run says.
func arrivals(t *testing.T, file string, opt formats.Options) (at []int64, run *trace.RunMeta, codes string) {
	t.Helper()
	opt.Workers = 1
	r, err := Format.Open(context.Background(), textSource(file), formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		for i := range r.Batch().Rows {
			if v, ok := r.Batch().Ints(trace.Received).At(i); ok {
				at = append(at, v/1e6)
			}
		}
	}
	for _, d := range r.Diags().All() {
		codes += fmt.Sprintf("%s %d,", d.Code, d.Count)
	}
	return at, r.Runs()[0], codes
}

// TestDates reads one point in time as Go's own package time writes it in the forms that
// loggers, databases, spreadsheets and browsers use.
func TestDates(t *testing.T) {
	when := time.Date(2026, 11, 30, 14, 5, 1, 123e6, time.UTC)
	for layout, step := range map[string]int64{
		"01/02/2006 3:04:05 PM": 1000, "1/2/2006 15:04:05.000": 1, "01/02/2006, 3:04:05\u202fPM": 1000, "1/2/2006 15:04": 60000,
		"02.01.2006 15:04:05,000": 1, "2.1.2006 15:04:05": 1000, "02.01.2006, 15:04:05": 1000,
		"02/01/2006 15:04:05": 1000, "02-01-2006 15:04:05.000": 1, "02/01/2006 15:04:05 -0700": 1000,
		time.RFC1123: 1000, time.RFC1123Z: 1000, time.ANSIC: 1000, time.UnixDate: 1000, "Mon, 2 Jan 2006 15:04:05 -0700": 1000, "2 Jan 2006 15:04:05.000": 1,
		"02-Jan-2006 15:04:05": 1000, "Jan 2, 2006 @ 15:04:05.000": 1, "Jan 2, 2006, 3:04:05 PM": 1000, "Monday, January 2, 2006 3:04:05 PM": 1000,
		"[02/Jan/2006:15:04:05 -0700]": 1000, "02/Jan/2006:15:04:05 -0700": 1000,
		"2006-01-02 15:04:05.000": 1, "2006/01/02 15:04:05": 1000, time.RFC3339Nano: 1,
	} {
		for _, zone := range []*time.Location{time.UTC, time.FixedZone("", 5400)} {
			stated := strings.Contains(layout, "MST") || strings.Contains(layout, "-0700") || layout == time.RFC3339Nano
			if zone != time.UTC && (!stated || strings.Contains(layout, "MST")) {
				continue
			}
			text := when.In(zone).Format(layout)
			for _, file := range []string{"timestamp\tlatency_ms\n" + text + "\t500\n", fmt.Sprintf(`{"timestamp":%q,"latency_ms":500}`, text)} {
				at, run, codes := arrivals(t, file, formats.Options{})
				if len(at) != 1 || at[0] != when.UnixMilli()/step*step || strings.Contains(codes, "zone_assumed") == stated {
					t.Errorf("%q: %v, want %d; %s %v", file, at, when.UnixMilli()/step*step, codes, run.Notes)
				}
			}
		}
	}
}

// TestDateOrder: which of day and month comes first is told by numbers above 12, in any
// column, or asked for; what is given is taken.
func TestDateOrder(t *testing.T) {
	day := func(month time.Month, day int) int64 {
		return time.Date(2026, month, day, 14, 0, 0, 0, time.UTC).UnixMilli()
	}
	for _, c := range []struct {
		file, mapping string
		want          []int64
		says          string
	}{
		{"ts,latency_ms\n03/04/2026 14:00:00,5\n13/04/2026 14:00:00,5\n", "", []int64{day(4, 3), day(4, 13)}, "the day comes first"},
		{"ts,latency_ms\n03/04/2026 14:00:00,5\n04/13/2026 14:00:00,5\n", "", []int64{day(3, 4), day(4, 13)}, "the month comes first"},
		{"ts,latency_ms\n03/04/2026 14:00:00,5\n04/05/2026 14:00:00,5\n", "", nil, "arrival=ts:dmy or --map arrival=ts:mdy"},
		{"ts,latency_ms\n13/04/2026 14:00:00,5\n04/13/2026 14:00:00,5\n", "", nil, "dates with the month first"},
		{"ts,latency_ms\n03/04/2026 14:00:00,5\n", "arrival=ts:dmy", []int64{day(4, 3)}, `arrival is column "ts"`},
		{"ts,latency_ms\n03/04/2026 14:00:00,5\n", "arrival=ts:mdy", []int64{day(3, 4)}, `arrival is column "ts"`},
		{"ts,latency_ms\n03.04.2026 14:00:00,5\n", "", []int64{day(4, 3)}, "points part the day"},
		{"ts,end\n03/04/2026 14:00:00,03/04/2026 14:00:01\n03/04/2026 14:00:00,03/13/2026 14:00:00\n", "", []int64{day(3, 4), day(3, 4)}, "the month comes first"},
		{"Zeitstempel;latency_ms\n30.11.2026 14:00:00;5\n", "", []int64{0}, `column "Zeitstempel" has dates and is not used: its name is that of no role; where it says when requests begin or end, say --map arrival=Zeitstempel`},
		{"Zeitstempel;latency_ms\n30.11.2026 14:00:00;5\n", "arrival=Zeitstempel", []int64{day(11, 30)}, `arrival is column "Zeitstempel"`},
		{"ts,latency_ms\n31/02/2026 14:00:00,5\n13/04/2026 14:00:00,5\n", "", []int64{0, day(4, 13)}, "the day comes first"},
	} {
		at, run, codes := arrivals(t, c.file, formats.Options{Map: strings.Fields(c.mapping)})
		if said := strings.Join(run.Notes, "\n") + run.NoRequests; fmt.Sprint(at) != fmt.Sprint(c.want) || !strings.Contains(said, c.says) {
			t.Errorf("%q: %d, want %d; %s %s", c.file, at, c.want, codes, said)
		}
	}
	list, ask, err := Format.Learn(textSource("ts,latency_ms\n03/04/2026 14:00:00,5\n13/04/2026 14:00:00,5\n"), nil)
	if fmt.Sprint(list) != "[arrival=ts:dmy e2e=latency_ms:ms]" || ask != "" || err != nil {
		t.Error(list, ask, err)
	}
	if _, _, err := Format.Learn(nil, []string{"e2e=x:dmy"}); err == nil {
		t.Error("a latency is a date")
	}
}

// TestDateZone: dates without a zone are those of --tz.
func TestDateZone(t *testing.T) {
	berlin, err := time.LoadLocation("Europe/Berlin")
	if err != nil {
		t.Skip(err)
	}
	at, _, codes := arrivals(t, "ts;latency_ms\n30.11.2026 14:05:01,5;7\n", formats.Options{TZ: berlin})
	if want := time.Date(2026, 11, 30, 14, 5, 1, 5e8, berlin).UnixMilli(); len(at) != 1 || at[0] != want || codes != "" {
		t.Error(at, want, codes)
	}
}
