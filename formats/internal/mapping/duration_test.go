package mapping

import "testing"

// TestDuration holds the forms that Go, pandas, Polars, Python, DuckDB and ISO 8601
// write, worked out by hand.
func TestDuration(t *testing.T) {
	for text, want := range map[string]int64{
		"1.5s":                    1_500_000_000,
		"120 ms":                  120_000_000,
		"2m3s":                    123_000_000_000,
		"PT0.288477S":             288_477_000,
		"PT1M2.5S":                62_500_000_000,
		"PT1H":                    3600_000_000_000,
		"P0DT0H0M0.25S":           250_000_000,
		"P1DT1S":                  86401_000_000_000,
		"00:00:00.288477":         288_477_000,
		"0:00:00.288477":          288_477_000,
		"00:01:02":                62_000_000_000,
		"0 days 00:00:00.288477":  288_477_000,
		"+0 days 00:00:01.500000": 1_500_000_000,
		"00:00:00.2884770":        288_477_000,
		"":                        -1,
		"P":                       -1,
		"PT":                      -1,
		"P1DT":                    -1,
		"P1S":                     -1,
		"PT1S1M":                  -1,
		"PT-1S":                   -1,
		"PT1":                     -1,
		"POST":                    -1,
		"PT99999999999999999999S": -1,
		"12:03:04":                -1, // a time of the day
		"00:00":                   -1,
		"00:60:00":                -1,
		"00:00:60":                -1,
		"00:00:1":                 -1,
		"00:00:-1":                -1,
		"1 days 00:00:01":         -1,
		"::":                      -1,
	} {
		got, ok := duration([]byte(text))
		if !ok {
			got = -1
		}
		if got != want {
			t.Errorf("%q: %d, want %d", text, got, want)
		}
	}
}
