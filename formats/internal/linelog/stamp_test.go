package linelog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

func TestCivil(t *testing.T) {
	for d := int64(-200_000); d < 200_000; d += 7 {
		at := time.Unix(d*86400, 0).UTC()
		y, m, day := date(d)
		if y != int64(at.Year()) || int(m) != int(at.Month()) || int(day) != at.Day() || days(y, m, day) != d {
			t.Fatalf("day %d is %d-%d-%d, want %v", d, y, m, day, at)
		}
	}
	for _, c := range []struct {
		year       int64
		month, day int8
		want       bool
	}{{2024, 2, 29, true}, {2025, 2, 29, false}, {1900, 2, 29, false}, {2000, 2, 29, true}, {2026, 4, 31, false}, {2026, 12, 31, true}} {
		if exists(c.year, c.month, c.day) != c.want {
			t.Errorf("%d-%d-%d exists: %v", c.year, c.month, c.day, !c.want)
		}
	}
}

// TestStamps reads what package time prints, with text around it.
func TestStamps(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	zones := []*time.Location{time.UTC, time.FixedZone("", 2*3600), time.FixedZone("", -(3*3600 + 1800))}
	for _, layout := range []string{
		"01-02 15:04:05", "2006-01-02 15:04:05", "2006-01-02 15:04:05.000", "2006-01-02 15:04:05,000", "2006/01/02 15:04:05", "2006-01-02T15:04:05.999999999Z07:00",
		"2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.000000-0700", "Jan _2 15:04:05", "Jan 02 15:04:05.000000", "15:04:05", "15:04:05.000",
	} {
		for range 200 {
			at := time.Unix(r.Int64N(4e9), r.Int64N(1e9)).In(zones[r.IntN(len(zones))])
			text := at.Format(layout)
			before := []string{"", "[", "INFO ", "x: ", "a\t"}[r.IntN(5)]
			want, err := time.ParseInLocation(layout, text, time.UTC)
			if err != nil {
				t.Fatal(err)
			}
			var s Stamp
			if !nextStamp([]byte(before+text+" end"), 0, 0, &s) {
				t.Fatalf("%q: no stamp", before+text)
			}
			year, dated := int32(0), !strings.HasPrefix(layout, "15")
			if strings.Contains(layout, "2006") {
				year = int32(want.Year())
			}
			if s.Year != year || dated && (int(s.Month) != int(want.Month()) || int(s.Day) != want.Day()) || !dated && s.Month != 0 ||
				int(s.Hour) != want.Hour() || int(s.Min) != want.Minute() || int(s.Sec) != want.Second() || int(s.Nano) != want.Nanosecond() || s.Zoned != strings.Contains(layout, "07") {
				t.Fatalf("%q is %+v, want %v", text, s, want)
			}
			if _, offset := want.Zone(); s.Zoned && int(s.Offset) != offset {
				t.Fatalf("%q has offset %d, want %d", text, s.Offset, offset)
			}
			if s.from != len(before) || s.till != len(before)+len(text) {
				t.Fatalf("%q: from %d to %d", before+text, s.from, s.till)
			}
		}
	}
	for _, none := range []string{"", "12:34", "1:23:45", "123:45:678", "25:00:00", "12:60:00", "12:34:567", "a:b:c:d", "::::::::", "12:34:5"} {
		var s Stamp
		if nextStamp([]byte(none), 0, 0, &s) {
			t.Errorf("%q: %+v", none, s)
		}
	}
}

// TestZones compares candidates with a search over all offsets of a zone.
func TestZones(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	for _, name := range []string{"America/Los_Angeles", "Europe/Berlin", "Asia/Kolkata", "Australia/Lord_Howe", "America/St_Johns", "UTC"} {
		zone, err := time.LoadLocation(name)
		if err != nil {
			t.Skip(err)
		}
		c := clock{zone: zone}
		for range 3000 {
			local := 1_700_000_000 + r.Int64N(100_000_000)
			if r.IntN(2) == 0 { // near a change
				_, change := time.Unix(local, 0).In(zone).ZoneBounds()
				if !change.IsZero() {
					_, offset := change.Zone()
					local = change.Unix() + int64(offset) + r.Int64N(4*3600) - 2*3600
				}
			}
			var want []int64
			for offset := int64(-14 * 3600); offset <= 14*3600; offset += 900 {
				if _, o := time.Unix(local-offset, 0).In(zone).Zone(); int64(o) == offset {
					want = append(want, local-offset)
				}
			}
			slices.Sort(want)
			early, late, n := c.candidates(local * second)
			got := []int64{early / second, late / second}[:n]
			if fmt.Sprint(got) != fmt.Sprint(want) {
				t.Fatalf("%s, local %d: %v, want %v", name, local, got, want)
			}
		}
	}
}

// TestRuntime reads framed logs: the stamps of the runtime count, offsets are
// those of the text, and what has none is told by the others.
func TestRuntime(t *testing.T) {
	const msg = "INFO 03-01 10:00:0%d [x.py:1] Rate: 1, Running: %d\n"
	var text strings.Builder
	for i := range 9 {
		if i == 4 {
			text.WriteString("unframed line\n")
			continue
		}
		stamp := fmt.Sprintf("2026-03-01T09:00:0%d.%d25Z", i, i)
		text.WriteString(stamp + " stdout F " + fmt.Sprintf(msg, i, i))
	}
	in, err := source.Unpack([]source.Input{{Source: source.FromBytes("x", []byte(text.String())), Named: true}}, formats.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, opt := range []formats.Options{{Workers: 1}, {Workers: 1, Block: 40}, {Workers: 3, Block: 100}} {
		res := read(t, in.List[0].Source, opt)
		size := int64(len(fmt.Sprintf(msg, 0, 0)))
		for i, rec := range res.records {
			n, off := i, int64(i)*size
			if i >= 4 {
				n, off = i+1, off+int64(len("unframed line\n"))
			}
			if want := fmt.Sprintf("load@%d 2026-03-01T09:00:0%d.%d25/1000000 tps=1 reqs=%d", off, n, n, n); rec != want {
				t.Errorf("%+v: got %s, want %s", opt, rec, want)
			}
		}
		if len(res.records) != 8 || res.account.Total != 9 || !slices.ContainsFunc(res.meta.Notes, func(s string) bool { return strings.Contains(s, "+01:00") }) {
			t.Errorf("%+v: %d records, account %+v, notes %q", opt, len(res.records), res.account, res.meta.Notes)
		}
	}
}
