package render

import (
	"fmt"
	"slices"
	"strings"

	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// ofBatch lists the rates that the section of the batch shows, and ofEngines the ones
// among them that only an engine's own log gives.
var (
	ofBatch = []string{"batch_decode", "batch_decode_active", "batch_running", "tpot_weighted", "replicas", "tps_replica_model", "tps_total_model",
		"identity_ratio", "weighting_ratio"}
	ofEngines = []string{"batch_logged", "cross_ratio", "decode_capacity", "decode_capacity_unused"}
)

// shownReplicas is how many replicas or engines a table holds.
const shownReplicas = 16

// elsewhere reports whether a rate of the run is left out of the grid of rates, because
// another section shows it or its inputs cannot give it.
func elsewhere(r *report.Run, name string) bool {
	switch known := r.Throughput.Values[name].Known; {
	case slices.Contains(ofEngines, name):
		return known || len(r.Throughput.Engines) == 0
	case slices.Contains(ofBatch, name):
		return known && r.Throughput.Values["batch_decode"].Known
	case name == "concurrency_mean":
		return known
	case name == "concurrency_little":
		return known && r.Concurrency.Little != nil
	case name == "goodput":
		return r.Goodput != nil || r.Throughput.Values[name].Reason == "no_objective"
	}
	return false
}

// addBatch adds B and the throughput modelled from it, beside the measured throughput, by
// replica and in total.
func addBatch(b *builder, r *report.Run, lead string) {
	t := &r.Throughput
	v := func(name string) report.Value { return t.Values[name] }
	if v("batch_decode").Known && (lead == "" || len(t.Replicas) > 1) { // else it is a row of the table of runs
		s := section{title: "batch and model", lead: lead}
		s.grid = &grid{align: "l", head: []cell{text("replica"), text("B"), text("TPOT"), text("B / TPOT"), text("measured")}}
		for i := range t.Replicas[:min(len(t.Replicas), shownReplicas)] {
			x := &t.Replicas[i]
			s.grid.rows = append(s.grid.rows, []cell{label(x.Name), b.valueCell(x.Batch), b.valueCell(x.TPOT), b.valueCell(x.Model), b.valueCell(x.TPS)})
		}
		all := "all"
		if n := v("replicas"); n.Known {
			all += fmt.Sprintf(" (R = %s)", unit.Format(n.Unit, n.V))
		}
		s.grid.rows = append(s.grid.rows, []cell{text(all), b.valueCell(v("batch_decode")), b.valueCell(v("tpot_weighted")), b.valueCell(v("tps_total_model")), b.valueCell(v("tps_decode"))})
		if n := len(t.Replicas) - shownReplicas; n > 0 {
			s.lines = append(s.lines, pair{key: "more", value: own("%s; JSON output lists them", plural(int64(n), "replica"))})
		}
		line := func(key string, names ...[2]string) {
			if text := namedValues(b, t, names...); text != "" {
				s.lines = append(s.lines, pair{key: key, value: own("%s", text)})
			}
		}
		line("B", [2]string{"batch_running", "with prefill"}, [2]string{"batch_decode_active", "without stalls"}, [2]string{"batch_logged", "as engines log it"})
		line("model ÷ measured", [2]string{"identity_ratio", "identity"}, [2]string{"cross_ratio", "cross"}, [2]string{"weighting_ratio", "weighting"})
		line("decode capacity", [2]string{"decode_capacity", ""}, [2]string{"decode_capacity_unused", "unused"})
		b.sections = append(b.sections, s)
	}
	addEngines(b, r, lead)
}

// addBatchSideBySide adds B and the throughput modelled from it with a row per run.
func addBatchSideBySide(b *builder, rows []where, about string) {
	g := &grid{align: "l", head: []cell{text("run")}}
	for _, r := range rows {
		g.rows = append(g.rows, append([]cell{}, r.labels...))
	}
	for _, f := range [][2]string{{"B", "batch_decode"}, {"logged", "batch_logged"}, {"TPOT", "tpot_weighted"}, {"B / TPOT", "tps_total_model"},
		{"identity", "identity_ratio"}, {"cross", "cross_ratio"}, {"weighting", "weighting_ratio"}, {"unused", "decode_capacity_unused"}} {
		value := func(r where) report.Value { return r.cell.Throughput.Values[f[1]] }
		if !slices.ContainsFunc(rows, func(r where) bool { return value(r).Known }) {
			continue
		}
		g.head = append(g.head, text(f[0]))
		for i, r := range rows {
			g.rows[i] = append(g.rows[i], b.valueCell(value(r)))
		}
	}
	if len(g.head) > 1 {
		b.sections = append(b.sections, section{title: "batch and model", lead: nextTo(about, "model ÷ measured as identity, cross and weighting"), grid: g})
	}
}

// namedValues prints the known ones of rates with their names.
func namedValues(b *builder, t *report.Throughput, names ...[2]string) string {
	var parts []string
	for _, n := range names {
		if x := t.Values[n[0]]; x.Known {
			parts = append(parts, strings.TrimSpace(n[1]+" "+b.value(x)))
		}
	}
	return strings.Join(parts, ", ")
}

// addEngines adds what each engine says of its own load, weighted by time.
func addEngines(b *builder, r *report.Run, lead string) {
	list := r.Throughput.Engines
	if !slices.ContainsFunc(list, func(e report.EngineLoad) bool { return e.Batch.Known }) {
		return
	}
	s := section{title: "load as engines log it", lead: nextTo(lead, "means over time")}
	s.grid = &grid{align: "ll", head: []cell{text("engine"), text("gauge"), text("lines"), text("mean"), text("max"), text("covered"), text("output")}}
	for i := range list[:min(len(list), shownReplicas)] {
		e := &list[i]
		tokens := text("—") // what it is over is the column before it
		if e.Tokens.Known {
			tokens.text = unit.Format(e.Tokens.Unit, e.Tokens.V)
		}
		s.grid.rows = append(s.grid.rows, []cell{label(e.Replica), text(e.Gauge), text(fmt.Sprint(e.Lines)), b.valueCell(e.Batch), b.valueCell(e.Max), b.valueCell(e.Coverage), tokens})
	}
	if n := len(list) - shownReplicas; n > 0 {
		s.lines = append(s.lines, pair{key: "more", value: own("%s; JSON output lists them", plural(int64(n), "engine"))})
	}
	if x := r.Throughput.Values["batch_logged"]; x.Known && len(list) > 1 && !r.Throughput.Values["batch_decode"].Known {
		s.lines = append(s.lines, pair{key: "all engines", value: own("%s", b.value(x))})
	}
	b.sections = append(b.sections, s)
}
