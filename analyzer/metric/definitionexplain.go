package metric

import (
	"fmt"
	"strings"

	"servescope/analyzer/trace"
)

// Explain returns the text of `servescope define NAME`: the metric's formula
// under every definition set, its unit, inputs and reasons for null. It reports
// false if name is neither a metric nor a definition set.
func Explain(name string) (string, bool) {
	if d, err := LookupDefinition(name); err == nil && name != "" {
		return d.explain(), true
	}
	m, ok := Lookup(name)
	if !ok {
		return "", false
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n", m.Name, m.Title)
	fmt.Fprintf(&b, "  %s\n\n", m.Formula)
	under(&b, m)
	m.explain(&b)
	return b.String(), true
}

// Explain returns the text of `servescope define NAME --definition SET`.
func (d *Definition) Explain(m *Metric) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s under %s: %s\n\n", m.Name, d.Name, m.Title)
	fmt.Fprintf(&b, "  %s\n\n", strings.ReplaceAll(strings.TrimSpace(wrap(d.Formula(m), 76)), "\n", "\n  "))
	if d != Default {
		fmt.Fprintf(&b, "  default: %s\n", m.Formula)
	}
	fmt.Fprintf(&b, "  percentiles: %s\n", d.statistics())
	for _, text := range d.Differs(m.Name, func(string) bool { return true }) {
		fmt.Fprintf(&b, "  - %s\n", text)
	}
	m.explain(&b)
	fmt.Fprintf(&b, "\n%s: %s\n\n%s", d.Name, d.Title, wrap(d.Doc, 78))
	return b.String()
}

// statistics describes how d computes statistics of values.
func (d *Definition) statistics() string {
	if d.Sample {
		return d.Quantile.String() + "; standard deviations divide by n - 1"
	}
	return d.Quantile.String()
}

// explain writes the parts that are the same under all sets.
func (m *Metric) explain(b *strings.Builder) {
	if u := string(m.Unit); u != "" {
		fmt.Fprintf(b, "  unit: %s", u)
		if m.Better != Neither {
			fmt.Fprintf(b, ", %s is better", m.Better)
		}
		b.WriteString("\n")
	}
	if len(m.Inputs) > 0 {
		b.WriteString("  needs: " + strings.Join(columns(m.Inputs), ", ") + "\n")
	}
	if m.Doc != "" {
		b.WriteString("\n" + wrap(m.Doc, 78))
	}
	if len(m.Reasons) > 0 {
		b.WriteString("\nnull, or a request is left out, because:\n")
		for _, r := range m.Reasons {
			fmt.Fprintf(b, "  %-22s %s\n", r, r.Doc())
		}
	}
	fmt.Fprintf(b, "\nsource: %s\n", m.Source)
}

// under writes the formulas of the other sets, grouped by formula.
func under(b *strings.Builder, m *Metric) {
	var formulas []string
	names := map[string]string{}
	for _, d := range definitions[1:] {
		f := d.Formula(m)
		if f == m.Formula {
			continue
		}
		if names[f] == "" {
			formulas = append(formulas, f)
			names[f] = d.Name
		} else {
			names[f] += ", " + d.Name
		}
	}
	for _, f := range formulas {
		b.WriteString("  under " + names[f] + ":\n    " + strings.ReplaceAll(strings.TrimSpace(wrap(f, 74)), "\n", "\n    ") + "\n")
	}
	if len(formulas) > 0 {
		b.WriteByte('\n')
	}
}

func (d *Definition) explain() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s: %s\n\n%s\npercentiles: %s\n\n", d.Name, d.Title, wrap(d.Doc, 78), d.statistics())
	for _, m := range all {
		if f := d.Formula(m); d == Default || f != m.Formula {
			fmt.Fprintf(&b, "  %-26s %s\n", m.Name, f)
		}
	}
	if d != Default {
		b.WriteString("\nall other metrics as under default\n")
	}
	return b.String()
}

func columns(cols []trace.Col) []string {
	var names []string
	for _, c := range cols {
		names = append(names, trace.Requests.Fields[c].Name)
	}
	return names
}

// wrap breaks text into lines of at most width bytes.
func wrap(text string, width int) string {
	var b strings.Builder
	at := 0
	for word := range strings.FieldsSeq(text) {
		if at > 0 && at+1+len(word) > width {
			b.WriteByte('\n')
			at = 0
		}
		if at > 0 {
			b.WriteByte(' ')
			at++
		}
		b.WriteString(word)
		at += len(word)
	}
	return b.String() + "\n"
}
