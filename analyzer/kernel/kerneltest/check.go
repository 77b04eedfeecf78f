package kerneltest

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"servescope/analyzer/metric"
	"servescope/analyzer/report"
)

// Definition returns a definition set.
func Definition(t *testing.T, name string) *metric.Definition {
	t.Helper()
	d, err := metric.LookupDefinition(name)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// Mean checks the number of values of a metric and their mean in ms (or in the
// metric's unit for counts and rates).
func Mean(t *testing.T, c *report.Cell, name string, n int64, want float64) {
	t.Helper()
	m, ok := c.Metrics[name]
	got := m.Mean
	if m.Unit == "ns" || m.Unit == "ns/token" {
		got /= float64(MS)
	}
	if !ok || m.N != n || math.Abs(got-want) > 1e-9*max(1, math.Abs(want)) {
		t.Errorf("%s: mean %v of %d (%s), want %v of %d", name, got, m.N, m.Reason, want, n)
	}
}

// Null checks that a metric has no value, and why.
func Null(t *testing.T, c *report.Cell, name, reason string) {
	t.Helper()
	if m, ok := c.Metrics[name]; !ok || m.N != 0 || m.Reason != reason {
		t.Errorf("%s: n %d, reason %q; want null for %q", name, m.N, m.Reason, reason)
	}
}

// Near checks that two numbers are equal but for rounding.
func Near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if d := math.Abs(got - want); d > 1e-6 && d > 1e-9*math.Abs(want) {
		t.Errorf("%s: %v, want %v", what, got, want)
	}
}

// Value checks a rate of a cell.
func Value(t *testing.T, c *report.Cell, name string, want float64) {
	t.Helper()
	if v := c.Throughput.Values[name]; !v.Known {
		t.Errorf("%s is null (%s), want %v", name, v.Reason, want)
	} else {
		Near(t, name, v.V, want)
	}
}

// Noted checks that a metric has a note with a code.
func Noted(t *testing.T, c *report.Cell, name, code string) {
	t.Helper()
	for _, n := range c.Metrics[name].Notes {
		if len(n) > len(code) && n[:len(code)] == code {
			return
		}
	}
	t.Errorf("%s has no note %s: %v", name, code, c.Metrics[name].Notes)
}

// UnknownValue checks that a rate is null, and why.
func UnknownValue(t *testing.T, c *report.Cell, reason string, names ...string) {
	t.Helper()
	for _, name := range names {
		if v, ok := c.Throughput.Values[name]; !ok || v.Known || v.Reason != reason {
			t.Errorf("%s: %+v, want null for %q", name, v, reason)
		}
	}
}

// Saying checks that the note of a rate says something.
func Saying(t *testing.T, c *report.Cell, text string, names ...string) {
	t.Helper()
	for _, name := range names {
		if v := c.Throughput.Values[name]; !v.Known || !strings.Contains(v.Note, text) {
			t.Errorf("%s: %+v, want a note with %q", name, v, text)
		}
	}
}

// FirstDifference shows where two texts differ first.
func FirstDifference(a, b string) string {
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	cut := func(s string) string { return s[max(0, min(i, len(s))-300):min(len(s), i+100)] }
	return fmt.Sprintf("at byte %d:\n%s\n\n%s", i, cut(a), cut(b))
}

// NoRate checks that a rate has no value, and why.
func NoRate(t *testing.T, c *report.Cell, name, reason string) {
	t.Helper()
	if v, ok := c.Throughput.Values[name]; !ok || v.Known || v.Reason != reason {
		t.Errorf("%s: %+v, want null for %q", name, v, reason)
	}
}
