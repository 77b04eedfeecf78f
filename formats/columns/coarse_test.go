package columns

import (
	"strings"
	"testing"

	"servescope/formats"
)

// TestCoarse: stamps that a spreadsheet has rounded to 10,000 s are not used, what
// stands beside them is.
func TestCoarse(t *testing.T) {
	rows, _, run := read(t, textSource("id,time,finished,ttft_ms\n1,1.76732E+09,1.76732E+09,80\n2,1.76732E+09,1.76732E+09,90\n"), formats.Options{})
	if got := strings.Join(rows, "/"); got != "1 ok first=80/2 ok first=90" || !strings.Contains(strings.Join(run.Notes, ";"), `"time" is not used: by its name it is arrival, but its times since 1970 are rounded`) {
		t.Errorf("%q %q", got, run.Notes)
	}
	for _, given := range [][]string{nil, {"arrival=time:s"}} {
		rows, _, run = read(t, textSource("id,time,finished\n1,1.76732E+09,1.76732E+09\n2,1.76732E+09,1.76732E+09\n"), formats.Options{Map: given})
		if len(rows) > 0 || !strings.Contains(run.NoRequests, "are rounded") {
			t.Errorf("%q %s", rows, run.NoRequests)
		}
	}
	rows, codes, _ := read(t, textSource("id,time,finished\n1,1.767323045123e9,1.767323046123E+09\n"), formats.Options{})
	if len(rows) != 1 || rows[0] != "1 ok end=1000" {
		t.Errorf("all digits: %q %v", rows, codes)
	}
}
