package columns

import (
	"os/exec"
	"runtime"
	"strings"
	"testing"

	"servescope/formats"
)

// TestBetterColumns: of several columns whose names fit, the one that says more counts.
func TestBetterColumns(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"the status of a log line is none": {
			`{"status":"info","attributes":{"http":{"status_code":500},"request_id":"a","duration_ms":1200}}` + "\n" +
				`{"status":"info","attributes":{"http":{"status_code":200},"request_id":"b","duration_ms":1300}}` + "\n",
			"a failed end=1200/b ok end=1300"},
		"the stamp of Python's logging": {
			`{"asctime":"2026-01-02 03:04:06,620","levelname":"INFO","request_id":"a","ttft_ms":120,"latency_ms":1620}` + "\n",
			"a ok first=120 end=1620"},
	} {
		rows, codes, run := read(t, textSource(c.text), formats.Options{})
		if got := strings.Join(rows, "/"); got != c.want {
			t.Errorf("%s: %q %v %v", name, got, codes, run.Notes)
		}
	}
	_, _, run := read(t, textSource("request_id,time_iso8601,msec,request_time\na,2026-01-02T03:04:06+00:00,1767323046.620,1.620\n"), formats.Options{})
	if all := strings.Join(run.Notes, ";"); !strings.Contains(all, `finished is column "msec"`) {
		t.Errorf("a stamp of whole seconds beside one of ms: %s", all)
	}
}

// TestTyped runs what the messages say to type through a shell: it must be read.
func TestTyped(t *testing.T) {
	if runtime.GOOS == "js" {
		t.Skip("there are no processes")
	}
	for _, text := range []string{
		"response time,n\n910,5\n2000,6\n1500,7\n",
		"Total Latency $,n\n910,5\n2000,6\n1500,7\n",
		"[Start Time],[End Time]\n500000,501000\n510000,511000\n520000,521500\n",
	} {
		var given []string
		for range 3 {
			_, _, run := read(t, textSource(text), formats.Options{Map: given})
			if run.NoRequests == "" {
				break
			}
			_, said, found := strings.Cut(run.NoRequests, "say --map ")
			if !found {
				t.Fatalf("%q: %s", text, run.NoRequests)
			}
			said, _, _ = strings.Cut(said, " or --map ")
			out, err := exec.Command("sh", "-c", "for a in "+said+"; do printf '%s\\n' \"$a\"; done").Output()
			if err != nil || strings.Count(string(out), "\n") != 1 {
				t.Fatalf("%q: %q is not one word: %q %v", text, said, out, err)
			}
			given = append(given, strings.TrimSpace(string(out)))
		}
		if rows, codes, run := read(t, textSource(text), formats.Options{Map: given}); len(rows) != 3 {
			t.Errorf("%q: %q: %v %s", text, given, codes, run.NoRequests)
		}
	}
}

// TestLoggedLines: of a log whose lines have the stamp of a logger, one that measures
// nothing of a request, or names none where others do, is no request.
func TestLoggedLines(t *testing.T) {
	rows, codes, _ := read(t, textSource(`{"time":"2026-03-01T10:00:00Z","level":"INFO","msg":"server started"}
{"time":"2026-03-01T10:00:01.5Z","level":"INFO","msg":"done","request_id":"a","ttft_ms":85.25,"duration":"1.5s"}
{"time":"2026-03-01T10:00:02Z","level":"INFO","msg":"model loaded","duration":"35s"}
{"time":"2026-03-01T10:00:03Z","level":"ERROR","msg":"done","request_id":"b","error":"EOF"}
`), formats.Options{})
	if got := strings.Join(rows, "/"); got != "a ok first=85.25 end=1500/b failed" || strings.Join(codes, " ") != "other_line 2 empty_cell 2" {
		t.Errorf("%q %q", rows, codes)
	}
}
