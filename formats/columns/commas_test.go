package columns

import (
	"strings"
	"testing"

	"servescope/formats"
)

// TestCommas: a comma parts decimals only where nothing that is used says otherwise,
// and no number is taken for one a thousand times as small.
func TestCommas(t *testing.T) {
	const ask = "which may part decimals or thousands"
	for name, c := range map[string]struct{ text, want string }{
		"decimals":                      {"id;ttft_ms;latency_ms\n1;85,2;1340,500\n2;70,25;700\n", "1 ok first=85.2 end=1340.5/2 ok first=70.25 end=700"},
		"thousands":                     {"id;ttft_ms;latency_ms\n1;85;1,340\n2;70;2,700\n", ask},
		"a list of another column":      {"id;ttft_ms;latency_ms;gpus\n1;85;1,340;0,1\n2;70;2,700;2,3\n", ask},
		"a place of another column":     {"id;ttft_ms;latency_ms;place\n1;85;1,340;52,51\n2;70;2,700;52,52\n", ask},
		"thousands of tokens":           {"id;ttft_ms;latency_ms;output_tokens\n1;85,2;1340,5;1,024\n2;70,2;700,2;2,048\n", ask},
		"points part thousands":         {"id;ttft_ms;latency_ms\n1;1.185;12340,5\n2;1.170;11700,2\n", ask},
		"both":                          {"id;ttft_ms;latency_ms\n1;85,2;12.340,5\n2;70,2;11.700,2\n", ask},
		"points in a column not used":   {"id;ttft_ms;latency_ms;temperature\n1;85,2;1340,5;0.7\n2;70,2;700,5;0.7\n", "1 ok first=85.2 end=1340.5/2 ok first=70.2 end=700.5"},
		"a list in a column not used":   {"id;ttft_ms;latency_ms;gpus\n1;85,2;1340,5;0,1,2\n2;70,2;700,5;0,1,3\n", "1 ok first=85.2 end=1340.5/2 ok first=70.2 end=700.5"},
		"points part thousands, later":  {"id;ttft_ms;latency_ms\n" + strings.Repeat("1;85,2;1340,5\n", 600) + "2;1.185;13400,5\n", "2 ok end=13400.5"},
		"commas part thousands, later":  {"id;ttft_ms;latency_ms\n" + strings.Repeat("1;85.2;340.5\n", 600) + "2;85.5;1,340\n", "2 ok first=85.5"},
		"thousands, cut off":            {"id;ttft_ms;latency_ms\n1;85,200;1340,5", ask},
		"commas part thousands of JSON": {`{"id":"1","ttft_ms":"85","latency_ms":"1,340"}` + "\n", ask},
	} {
		rows, codes, run := read(t, textSource(c.text), formats.Options{})
		got := strings.Join(rows[max(0, len(rows)-2):], "/")
		if strings.HasSuffix(name, "later") {
			if got = rows[len(rows)-1]; !strings.Contains(strings.Join(codes, ","), "bad_value 1") {
				t.Errorf("%s: nothing said: %q", name, codes)
			}
		}
		if c.want == ask {
			if len(rows) > 0 || !strings.Contains(run.NoRequests, ask) {
				t.Errorf("%s: read without asking: %q, %q", name, rows, run.NoRequests)
			}
		} else if got != c.want {
			t.Errorf("%s: %q, want %q: %v", name, got, c.want, run.Notes)
		}
	}
}

// TestDurationForms reads latencies as pandas, Polars, DuckDB and Python write them.
func TestDurationForms(t *testing.T) {
	for _, form := range [...][2]string{
		{"0 days 00:00:00.288477", "0 days 00:01:02.500000"}, {"PT0.288477S", "PT1M2.5S"}, {"00:00:00.288477", "00:01:02.5"}, {"0:00:00.288477", "0:01:02.500000"},
	} {
		for _, text := range []string{
			"id,ttft,e2e\nr1," + form[0] + "," + form[1] + "\n",
			`{"id":"r1","ttft":"` + form[0] + `","e2e":"` + form[1] + `"}` + "\n",
		} {
			if rows, codes, _ := read(t, textSource(text), formats.Options{}); len(rows) != 1 || rows[0] != "r1 ok first=288.477 end=62500" {
				t.Errorf("%s: %q %v", text, rows, codes)
			}
		}
	}
}

// TestWholeTimes reads times of tokens that are whole numbers since 1970.
func TestWholeTimes(t *testing.T) {
	for _, zeros := range []string{"", "000", "000000"} {
		text := strings.ReplaceAll(`{"id":"t1","received_at":1772359200000~,"token_times":[1772359200250~,1772359200270~,null]}`+"\n", "~", zeros)
		if rows, codes, _ := read(t, textSource(text), formats.Options{}); len(rows) != 1 || !strings.HasPrefix(rows[0], "t1 ok first=250") {
			t.Errorf("%s: %q %v", text, rows, codes)
		}
	}
}
