package query

import (
	"fmt"
	"reflect"
	"testing"
	"time"
)

func TestFlags(t *testing.T) {
	instant := func(s string) (any, error) {
		i, err := ParseInstant("--from", s)
		if err != nil {
			return nil, err
		}
		if again, err := ParseInstant("--from", i.String()); err != nil || *again != *i {
			t.Errorf("%s: %s does not parse back: %v", s, i, err)
		}
		return *i, nil
	}
	trim := func(s string) (any, error) {
		v, err := ParseTrim(s)
		if again, _ := ParseTrim(v.String()); err == nil && again != v {
			t.Errorf("%s: %s does not parse back", s, v)
		}
		return v, err
	}
	slo := func(s string) (any, error) {
		v, err := ParseSLO(s)
		for _, l := range v {
			if again, err := ParseSLO(l.String()); err != nil || again[0] != l {
				t.Errorf("%s: %s does not parse back", s, l)
			}
		}
		return v, err
	}
	wrap := func(f any) func(string) (any, error) {
		return func(s string) (any, error) {
			out := reflect.ValueOf(f).Call([]reflect.Value{reflect.ValueOf(s)})
			err, _ := out[1].Interface().(error)
			return out[0].Interface(), err
		}
	}
	for _, c := range []struct {
		parse func(string) (any, error)
		in    string
		want  any // a string is the error
	}{
		{wrap(ParseBy), "model, tenant", []string{"model", "tenant"}},
		{wrap(ParseBy), "models", `--by: unknown dimension "models"; did you mean model?`},
		{wrap(ParseBy), "model,model", "--by: model is given twice; name each dimension once"},
		{wrap(ParseWindow), "1m30s", int64(90e9)},
		{wrap(ParseWindow), "10", `--window: "10" has no unit; write 10s or 10ms`},
		{wrap(ParseWindow), "0s", `--window: "0s" is not above 0; give a duration above 0`},
		{wrap(ParseWindow), "-5s", `--window: "-5s" is not above 0; give a duration above 0`},
		{wrap(ParseWindow), "soon", `--window: "soon" is not a duration; write a number with ns, us, ms, s, m, h or d`},
		{wrap(ParseRanks), "99, 50,p99.9,99", []float64{0.5, 0.99, 0.999}},
		{wrap(ParseRanks), "99.99,0.5", `--percentiles: 0.5 is below 1; percentiles are written in percent: 99, not 0.99`},
		{wrap(ParseRanks), "100", "--percentiles: 100 is not a percentile; choose between 1 and 99.999…; minimum and maximum are always shown"},
		{wrap(ParseRanks), "99.999999999999999999999", "--percentiles: 99.999999999999999999999 is not a percentile; choose between 1 and 99.999…; minimum and maximum are always shown"},
		{wrap(ParseRanks), "nan", "--percentiles: nan is not a percentile; choose between 1 and 99.999…; minimum and maximum are always shown"},
		{wrap(ParseRanks), "", `--percentiles: "" is not a percentile; write numbers as in 50,99,99.9`},
		{instant, "+1m30s", Instant{90e9, true}},
		{instant, "+-1s", `--from: "+-1s" is before the run; write 2026-01-31T14:05:00Z, epoch seconds, or +30s from the start of the run`},
		{instant, "30s", `--from: "30s" is not a point in time; write +30s for an offset from the start of the run`},
		{instant, "1764428000.25", Instant{1764428000250000000, false}},
		{instant, "1764428000.1234567891", Instant{1764428000123456789, false}},
		{instant, "1764428000250", `--from: "1764428000250" is out of range; give epoch seconds, not milli- or nanoseconds`},
		{instant, "99999999999999999999", `--from: "99999999999999999999" is out of range; give epoch seconds, not milli- or nanoseconds`},
		{instant, "2025-11-29T14:53:20.25Z", Instant{1764428000250000000, false}},
		{instant, "2025-11-29T15:53:20.25+01:00", Instant{1764428000250000000, false}},
		{instant, "9999-01-01T00:00:00Z", `--from: "9999-01-01T00:00:00Z" is out of range; times from 1678 to 2262 can be used`},
		{instant, "yesterday", `--from: "yesterday" is not a point in time; write 2026-01-31T14:05:00Z, epoch seconds, or +30s from the start of the run`},
		{instant, "1.2.3", `--from: "1.2.3" is not a point in time; write 2026-01-31T14:05:00Z, epoch seconds, or +30s from the start of the run`},
		{trim, "steady", Trim{Steady: true}},
		{trim, "warmup=30s", Trim{Warmup: 30e9}},
		{trim, "warmup=100", Trim{Count: 100}},
		{trim, "warmup=0", "--trim: warmup=0 removes nothing; write steady, warmup=30s or warmup=100"},
		{trim, "warmup=x", `--trim: "x" is not a duration; write a number with ns, us, ms, s, m, h or d`},
		{trim, "cooldown", `--trim: unknown trim "cooldown"; write steady, warmup=30s or warmup=100`},
		{slo, "ttft=500ms, tpot.from_total <= 1.5s", []Limit{{"ttft", 500e6}, {"tpot.from_total", 15e8}}},
		{slo, "ttft_client=1s,tpot.from.total=2s", []Limit{{"ttft.client", 1e9}, {"tpot.from_total", 2e9}}},
		{slo, "ttft", `--slo: "ttft" is not a condition; write METRIC=DURATION as in ttft=500ms,tpot=50ms`},
		{slo, "tttf=1s", `--slo: unknown metric "tttf"; did you mean ttft?`},
		{slo, "ttft=1s,ttft=2s", "--slo: ttft is given twice; give each metric one limit"},
		{slo, "ttft=500", `--slo: "500" has no unit; write 500s or 500ms`},
	} {
		got, err := c.parse(c.in)
		if want, ok := c.want.(string); ok {
			if err == nil || err.Error() != want {
				t.Errorf("%s:\n got %v\nwant %s", c.in, err, want)
			}
			continue
		}
		if err != nil || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: got %v, %v, want %v", c.in, got, err, c.want)
		}
	}
}

// TestEpochAgreesWithTime compares the exact parser with package time on
// seconds that float64 holds exactly.
func TestEpochAgreesWithTime(t *testing.T) {
	for _, s := range []int64{0, 1, 999999999, 1764428000, 9223372034} {
		i, err := ParseInstant("--to", fmt.Sprint(s, ".5"))
		if err != nil || i.NS != time.Unix(s, 5e8).UnixNano() {
			t.Errorf("%d.5: %v, %v", s, i, err)
		}
	}
}

func TestParseAborts(t *testing.T) {
	for text, want := range map[string]bool{"missed": false, " exclude ": true} {
		if got, err := ParseAborts(text); got != want || err != nil {
			t.Errorf("%q: %v, %v", text, got, err)
		}
	}
	if _, err := ParseAborts("drop"); err == nil {
		t.Error("drop is taken")
	}
}
