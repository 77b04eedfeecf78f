package unit

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"
)

func TestParseDuration(t *testing.T) {
	for in, want := range map[string]int64{
		"0":                     0,
		"0s":                    0,
		"500ms":                 500e6,
		"1.5s":                  1500e6,
		"2m":                    120e9,
		"2min":                  120e9,
		"50us":                  50e3,
		"50µs":                  50e3,
		"50μs":                  50e3,
		"1h30m":                 5400e9,
		"1h 30m 15s":            5415e9,
		"500 ms":                500e6,
		".5s":                   500e6,
		"2.s":                   2e9,
		"0.1us":                 100,
		"0.000000001s":          1,
		"0.1234567890000s":      123456789,
		"1.1d":                  95040e9,
		"9223372036.854775807s": math.MaxInt64,
	} {
		if got, err := ParseDuration(in); err != nil || got != want {
			t.Errorf("ParseDuration(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for in, want := range map[string]string{
		"":                             "nothing is written",
		"500":                          "a unit is missing",
		"1.5":                          "a unit is missing",
		"ms":                           "a number is missing",
		"1.2.3s":                       "a number is missing",
		".s":                           "a number is missing",
		"-5ms":                         "a number is missing",
		"1e3ms":                        `unknown unit "e"`,
		"5MS":                          `unknown unit "MS"`,
		"5 parsecs":                    `unknown unit "parsecs"`,
		"30m1h":                        "larger units come first",
		"1m1min":                       "larger units come first",
		"0.5ns":                        "a fraction of 1 ns",
		"0.0000000001s":                "a fraction of 1 ns",
		"9223372036.854775808s":        "too large",
		"300000d":                      "too large",
		strings.Repeat("9", 1e6) + "s": "more than 100 characters",
	} {
		if got, err := ParseDuration(in); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseDuration(%.20q) = %d, %v; want an error with %q", in, got, err, want)
		}
	}
}

func TestParseSize(t *testing.T) {
	for in, want := range map[string]int64{
		"256MiB": 256 << 20, "1GB": 1e9, "1.5KiB": 1536, "64kB": 64000, "64KB": 64000, "7B": 7, "0": 0, "1TiB": 1 << 40,
	} {
		if got, err := ParseSize(in); err != nil || got != want {
			t.Errorf("ParseSize(%q) = %d, %v; want %d", in, got, err, want)
		}
	}
	for _, in := range []string{"256", "256M", "1.5B", "GiB", "9999999TiB", "1mib"} {
		if got, err := ParseSize(in); err == nil {
			t.Errorf("ParseSize(%q) = %d, want an error", in, got)
		}
	}
}

func TestFormatDurationRoundTrips(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		want := r.Int64() >> r.IntN(63)
		text := FormatDuration(want)
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Fatalf("%d became %q, then %d, %v", want, text, got, err)
		}
	}
	for ns, want := range map[int64]string{0: "0s", 5400e9: "1h30m", 1500e6: "1.5s", 250e3: "250us", -10e9: "-10s", 90061e9: "1d1h1m1s", math.MinInt64: "-106751d23h47m16.854775808s"} {
		if got := FormatDuration(ns); got != want {
			t.Errorf("FormatDuration(%d) = %q, want %q", ns, got, want)
		}
	}
}

func TestFormat(t *testing.T) {
	for _, c := range []struct {
		u    Unit
		v    float64
		want string
	}{
		{Nanosecond, 0, "0 ns"},
		{Nanosecond, 1, "1 ns"},
		{Nanosecond, 999.94, "999.9 ns"},
		{Nanosecond, 999.96, "1.000 µs"}, // what it would be rounded to decides
		{Nanosecond, 1000, "1 µs"},
		{Nanosecond, 123456789, "123.5 ms"},
		{Nanosecond, -123456789, "-123.5 ms"},
		{Nanosecond, 90e9, "90 s"},
		{Nanosecond, 900e9, "15 min"},
		{Nanosecond, 9000e9, "2.500 h"},
		{NSPerToken, 12345678, "12.35 ms/tok"},
		{Ratio, 0.985, "98.50 %"},
		{Ratio, 0.07, "7 %"},
		{Ratio, 1, "100 %"},
		{Ratio, 1e-9, "<0.0001 %"},
		{Ratio, -1e-9, ">-0.0001 %"},
		{Token, 512, "512 tok"},
		{Token, 48000, "48000 tok"},
		{Token, 36e6, "36 M tok"},
		{TokenRate, 4511.23, "4511 tok/s"},
		{PerSecond, 0.01234, "0.0123 req/s"},
		{Byte, 436e3, "425.8 KiB"},
		{None, 12.345, "12.35"},
		{"widgets", 3, "3 widgets"},
	} {
		if got := Format(c.u, c.v); got != c.want {
			t.Errorf("Format(%q, %v) = %q, want %q", c.u, c.v, got, c.want)
		}
	}
}

// TestCommon checks that one scale serves all values of a row.
func TestCommon(t *testing.T) {
	for _, c := range []struct {
		vals []float64
		want string
	}{
		{[]float64{45.12e6, 123.4e6, 12300e6}, "ms: 45.1 123.4 12300.0"},
		{[]float64{12e3, 5e9}, "ms: 0.01 5000.00"}, // µs would need seven digits
		{[]float64{100e6, 200e6}, "ms: 100 200"},
		{[]float64{0, 0}, "ns: 0 0"},
		{[]float64{1, 9e18}, "h: <1 2500000"}, // six digits in all,
		{[]float64{0, 1.5e6}, "ms: 0.000 1.500"},
	} {
		s := Common(Nanosecond, c.vals...)
		got := s.Symbol + ":"
		for _, v := range c.vals {
			got += " " + s.Format(v)
		}
		if got != c.want {
			t.Errorf("Common(%v): %q, want %q", c.vals, got, c.want)
		}
	}
}

// TestNothingReadsAsZero: a value that is not zero is never printed as zero.
func TestNothingReadsAsZero(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for range 1000 {
		a := math.Ldexp(r.Float64()+0.5, r.IntN(120)-60)
		b := math.Ldexp(r.Float64()+0.5, r.IntN(120)-60)
		for u := range Steps {
			s := Common(u, a, b)
			for _, text := range []string{s.Format(a), s.Format(b), s.Short(a), Format(u, a)} {
				if strings.Trim(text, "0. ") == s.Symbol || strings.Trim(text, "0.") == "" {
					t.Fatalf("%s: %v beside %v is printed as %q", u, a, b, text)
				}
			}
		}
	}
}
