package render

import (
	"fmt"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// goodputLine says how many requests met the SLO and why the others did not.
func goodputLine(b *builder, g *report.Goodput) line {
	s := fmt.Sprintf("%s of %d meet %s", shareText(b, g.Share, g.ShareLow, g.ShareHigh), g.Denominator, strings.Join(g.SLO, ", "))
	if g.Rate.Known {
		s += ", " + unit.Format(g.Rate.Unit, g.Rate.V)
	}
	var missed, without []string
	for _, k := range byCount(g.MissedBy) {
		missed = append(missed, fmt.Sprintf("%s %d", k, g.MissedBy[k]))
	}
	if len(missed) > 0 {
		s += "; missed: " + strings.Join(missed, ", ")
	}
	if g.Unknown > 0 {
		s += fmt.Sprintf("; %d unknown", g.Unknown)
	}
	for i := range g.Conditions {
		if c := &g.Conditions[i]; c.NotApplicable > 0 {
			name, _, _ := strings.Cut(c.Limit, "=")
			without = append(without, fmt.Sprintf("%s to %d", name, c.NotApplicable))
		}
	}
	if len(without) > 0 {
		s += "; not applicable: " + strings.Join(without, ", ")
	}
	if x := g.Beside; x != nil {
		how := "without aborted requests"
		if g.Aborts == "exclude" {
			how = "with aborted requests as missed"
		}
		s += fmt.Sprintf("; %s %s of %d", how, shareText(b, x.Share, x.ShareLow, x.ShareHigh), x.Denominator)
	}
	return own("%s", s)
}

// shareText prints a share, or its bounds.
func shareText(b *builder, share, low, high report.Value) string {
	switch {
	case share.Known:
		return unit.Format(unit.Ratio, share.V)
	case low.Known && high.Known:
		return fmt.Sprintf("%s to %s", unit.Format(unit.Ratio, low.V), unit.Format(unit.Ratio, high.V))
	}
	return b.value(share)
}
