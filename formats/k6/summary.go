package k6

import (
	"fmt"
	"strings"

	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// maxFigures bounds those of a summary.
const maxFigures = 2000

// figureOf returns the metric and the statistic that a member of a summary is of:
// metrics.NAME.avg, or metrics.NAME.values.avg as handleSummary has it.
func figureOf(path string) (metric, stat string, ok bool) {
	path, ok = strings.CutPrefix(path, "metrics.")
	i := strings.LastIndexByte(path, '.')
	if k := strings.LastIndex(path, ".p("); strings.HasSuffix(path, ")") && k > 0 { // p(99.9)
		i = k
	}
	if !ok || i <= 0 {
		return "", "", false
	}
	return strings.TrimSuffix(path[:i], ".values"), path[i+1:], true
}

// statOf returns our name of a statistic: p(99.9) is 0.999.
func statOf(s string) string {
	switch s {
	case "avg":
		return "mean"
	case "med":
		return "0.5"
	case "min", "max":
		return s
	}
	p, ok := strings.CutPrefix(s, "p(")
	p, closed := strings.CutSuffix(p, ")")
	whole, fraction, _ := strings.Cut(p, ".")
	if !ok || !closed || whole == "" || len(whole) > 2 || strings.Trim(whole+fraction, "0123456789") != "" {
		return ""
	}
	if len(whole) == 1 {
		whole = "0" + whole
	}
	return strings.TrimRight("0."+whole+fraction, "0")
}

// timed tells whether a metric of k6 holds times, in ms.
func timed(metric string) bool {
	metric, _, _ = strings.Cut(metric, "{")
	return strings.HasPrefix(metric, "http_req_") && metric != "http_req_failed" || metric == "iteration_duration" || metric == "group_duration"
}

// loop tells whether a metric is of k6's own load and not of what it loads.
func loop(metric string) bool {
	for _, own := range [...]string{"vus", "data_", "iteration", "checks", "dropped_iterations", "group_duration", "ws_", "grpc_", "browser_"} {
		if strings.HasPrefix(metric, own) {
			return true
		}
	}
	return false
}

// summary takes the figures of a summary, and reports whether it is one.
func (f *fold) summary(text []byte) bool {
	found := false
	json.Walk(text, 0, func(path, raw []byte, kind formats.Kind) { // what the metrics contain
		metric, stat, ok := figureOf(string(path))
		found = found || ok
		if ok && stat == "contains" && string(raw) == "time" && len(f.times) < maxFigures {
			f.times[metric] = true
		}
	})
	if !found {
		return false
	}
	bare := 0
	json.Walk(text, 0, func(path, raw []byte, kind formats.Kind) {
		if string(path) == "state.testRunDurationMs" {
			ns, n, ok := numx.Scaled(raw, numx.Millisecond)
			if ok && n == len(raw) && ns > 0 {
				f.Run.Duration, f.Run.HasDuration = ns, true
			}
			return
		}
		metric, stat, ok := figureOf(string(path))
		if !ok || kind != formats.Number || loop(metric) || len(f.Run.Reported) >= maxFigures {
			return
		}
		x := trace.Reported{Key: strings.ToValidUTF8(metric+" "+stat, "\uFFFD"), Stat: statOf(stat)}
		v, n, ok := numx.ParseFloat(raw)
		if !ok || n != len(raw) {
			return
		}
		switch x.Value = v; {
		case x.Stat == "":
			if x.Stat = "value"; metric == "http_reqs" && stat == "rate" {
				x.Unit = unit.PerSecond
			}
		case timed(metric) || f.times[metric]:
			x.Value, x.Unit = v*1e6, unit.Nanosecond
			if ns, n, ok := numx.Scaled(raw, numx.Millisecond); ok && n == len(raw) {
				x.Value = float64(ns)
			}
		default:
			bare++
		}
		f.Run.Reported = append(f.Run.Reported, x)
	})
	f.Run.Notes = append(f.Run.Notes, "summary: figures are those of k6 over all HTTP requests, failed ones included unless they say otherwise")
	if bare > 0 {
		f.Run.Notes = append(f.Run.Notes, fmt.Sprintf("without_unit: a summary does not tell the unit of %d figures of one's own metrics", bare))
	}
	return true
}
