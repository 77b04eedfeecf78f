package columns

import (
	"strings"
	"testing"

	"servescope/formats"
)

// TestCommas: numbers with a comma are asked for, and none is taken for one a thousand
// times as small or as large.
func TestCommas(t *testing.T) {
	const ask = "which may part decimals or thousands"
	for name, text := range map[string]string{
		"decimals":          "id;ttft_ms;latency_ms\n1;85,2;1340,500\n2;70,25;700\n",
		"thousands":         "id;ttft_ms;latency_ms\n1;85;1,340\n2;70;2,700\n",
		"points too":        "id;ttft_ms;latency_ms\n1;85,2;12.340,5\n2;70,2;11.700,2\n",
		"tokens":            "id;ttft_ms;latency_ms;output_tokens\n1;85.2;1340.5;1,024\n2;70.2;700.2;2,048\n",
		"cut off":           "id;ttft_ms;latency_ms\n1;85,200;1340,5",
		"thousands of JSON": `{"id":"1","ttft_ms":"85","latency_ms":"1,340"}` + "\n",
	} {
		if rows, _, run := read(t, textSource(text), formats.Options{}); len(rows) > 0 || !strings.Contains(run.NoRequests, ask) {
			t.Errorf("%s: read without asking: %q, %q", name, rows, run.NoRequests)
		}
	}
	rows, codes, _ := read(t, textSource("id;ttft_ms;latency_ms\n"+strings.Repeat("1;85.2;340.5\n", 600)+"2;85.5;1,340\n"), formats.Options{})
	if got := rows[len(rows)-1]; got != "2 ok first=85.5" || !strings.Contains(strings.Join(codes, ","), "bad_value 1") {
		t.Errorf("a comma behind the sampled rows: %q %q", got, codes)
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
