package metric

import (
	"regexp"
	"strings"
	"testing"

	"servescope/analyzer/query"
	"servescope/analyzer/trace"
)

func TestRegistry(t *testing.T) {
	name := regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)
	seen := map[string]bool{}
	for _, m := range All() {
		if !name.MatchString(m.Name) || seen[m.Name] {
			t.Errorf("%q is no name, or stands twice", m.Name)
		}
		seen[m.Name] = true
		if m.Title == "" || m.Formula == "" || m.Source == "" || len(m.Reasons) == 0 {
			t.Errorf("%s is not described: %+v", m.Name, m)
		}
		for _, c := range m.Inputs {
			if int(c) >= len(trace.Requests.Fields) {
				t.Errorf("%s needs column %d", m.Name, c)
			}
		}
	}
	for _, fixed := range []string{"ttft", "tpot", "chunk_gap", "token_latency", "e2e"} {
		if !seen[fixed] {
			t.Errorf("%s is part of the report contract", fixed)
		}
	}
	if seen["goodput"] == false || len(Distributions()) >= len(All()) {
		t.Error("rates are missing")
	}
}

func TestLookup(t *testing.T) {
	for in, want := range map[string]string{
		"ttft": "ttft", "ttft.client": "ttft_client", "ttft_client": "ttft_client", "tpot.from_total": "tpot_from_total",
		"ttft.from_schedule": "ttft_client_from_schedule", "itl": "chunk_gap", "request_rate.ok": "request_rate_ok",
	} {
		if m, ok := Lookup(in); !ok || m.Name != want {
			t.Errorf("Lookup(%q) = %v, %v; want %s", in, m, ok, want)
		}
	}
	if _, ok := Lookup("latency"); ok {
		t.Error("latency is no metric")
	}
	for _, name := range query.Metrics { // what filters and objectives may name
		if m, ok := Lookup(name); !ok || m.Kind != PerRequest {
			t.Errorf("a filter may name %s, which is not a metric of requests", name)
		}
	}
}

func TestReasons(t *testing.T) {
	seen := map[string]bool{}
	for r := None + 1; int(r) < Reasons; r++ {
		if r.String() == "" || r.Doc() == "" || seen[r.String()] {
			t.Errorf("reason %d: %q, %q", r, r, r.Doc())
		}
		seen[r.String()] = true
	}
}

func TestDefinitions(t *testing.T) {
	for _, d := range Definitions() {
		if got, err := LookupDefinition(d.Name); err != nil || got != d {
			t.Errorf("%s: %v, %v", d.Name, got, err)
		}
		for name := range d.names {
			if m, ok := Lookup(name); !ok || m.Name != name {
				t.Errorf("%s has a name for %q", d.Name, name)
			}
		}
		if len(d.Counts) == 0 || (d.Gaps == PaceGaps) != (d.ITL != nil) || d.Title == "" || d.Doc == "" {
			t.Errorf("%s is not whole: %+v", d.Name, d)
		}
		r := d.Describe()
		if len(r.Formulas) != len(All()) || r.Percentile != d.Quantile.String() {
			t.Errorf("%s: %+v", d.Name, r)
		}
	}
	if d, err := LookupDefinition(""); err != nil || d != Default {
		t.Errorf("the empty name gives %v, %v", d, err)
	}
	if _, err := LookupDefinition("vllm"); err == nil || !strings.Contains(err.Error(), "vllm-2026") {
		t.Errorf("the error names no alternatives: %v", err)
	}
}

func TestExplain(t *testing.T) {
	for _, m := range All() {
		text, ok := Explain(m.Name)
		if !ok || !strings.Contains(text, m.Formula) || !strings.Contains(text, m.Title) {
			t.Errorf("%s is explained as %q", m.Name, text)
		}
	}
	text, _ := Explain("ttft")
	for _, want := range []string{"under vllm-2026", "a role chunk counts", "no_token", "unit: ns, lower is better", "first_token"} {
		if !strings.Contains(text, want) {
			t.Errorf("ttft lacks %q:\n%s", want, text)
		}
	}
	if text, ok := Explain("sglang"); !ok || !strings.Contains(text, "usage, else the requested length") {
		t.Errorf("sglang is explained as %q", text)
	}
	for _, name := range []string{"", "nonsense"} {
		if _, ok := Explain(name); ok {
			t.Errorf("%q is explained", name)
		}
	}
}
