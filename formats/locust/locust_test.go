package locust

import (
	"context"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// read returns the figures of a table by key, and its account.
func read(t *testing.T, text string) (map[string]trace.Reported, formats.Account) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		t.Error("it has rows")
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	found := make(map[string]trace.Reported)
	for _, f := range r.Runs()[0].Reported {
		found[f.Key] = f
	}
	return found, r.Account()
}

// TestRounding: how far a percentile may be off is half of what Locust rounds to; an
// average is not rounded.
func TestRounding(t *testing.T) {
	got, _ := read(t, "Type,Name,Request Count,Failure Count,Average Response Time,50%,90%,99%,100%,99.9%\nPOST,a,9,0,123.456789,99,990,9900,11000,12000\n")
	for key, want := range map[string]trace.Reported{
		"Average Response Time{POST a}": {Value: 123456789, Stat: "mean"},
		"50%{POST a}":                   {Value: 99e6, Stat: "0.5", Step: 0.5e6},
		"90%{POST a}":                   {Value: 990e6, Stat: "0.9", Step: 5e6},
		"99%{POST a}":                   {Value: 9900e6, Stat: "0.99", Step: 50e6},
		"99.9%{POST a}":                 {Value: 12000e6, Stat: "0.999", Step: 500e6},
	} {
		if f := got[key]; f.Value != want.Value || f.Stat != want.Stat || f.Step != want.Step || f.Unit != "ns" {
			t.Errorf("%s: %+v, want %+v", key, f, want)
		}
	}
}

// TestOldHeader: up to v0.14 columns had other names, all in quotes.
func TestOldHeader(t *testing.T) {
	got, _ := read(t, "\"Type\",\"Name\",\"# requests\",\"# failures\",\"Median response time\",\"Average response time\",\"Min response time\",\"Max response time\",\"Average Content Size\",\"Requests/s\"\n\"POST\",\"a\",3,1,20,21,2,30,400,1.50\n\"None\",\"Total\",3,1,20,21,2,30,400,1.50\n")
	if f := got["Median Response Time{POST a}"]; f.Value != 20e6 || got["Request Count{POST a}"].Value != 3 || got["Requests/s{POST a}"].Value != 1.5 || got["Request Count"].Value != 3 {
		t.Errorf("%+v", got)
	}
}

// TestNothingMeasured: where there was no request a 0 is no time.
func TestNothingMeasured(t *testing.T) {
	got, a := read(t, "Type,Name,Request Count,Failure Count,Average Response Time,50%\n,Aggregated,0,0,0.0,0\n")
	if len(got) != 2 || a.Parsed != 1 {
		t.Errorf("%+v %+v", got, a)
	}
	if _, a = read(t, "Type,Name,Request Count,Failure Count\n"+strings.Repeat("GET,x\n", 3)); a.Diagnosed != 3 {
		t.Errorf("%+v", a)
	}
}
