package report

import "iter"

// Tidy returns the report's rows: run by run, the whole run first, then its
// windows, then each group with its windows; metrics in sorted order.
func (r *Report) Tidy() iter.Seq[Row] {
	return func(yield func(Row) bool) {
		t := tidier{yield: yield}
		for i := range r.Runs {
			run := &r.Runs[i]
			t.row = Row{Run: run.Label, Scope: "run"}
			t.add("run", "duration", run.Duration)
			t.cell(&run.Cell)
			for _, f := range run.Reported {
				t.add("reported."+f.Key, f.Stat, Known(f.Value, f.Unit))
				t.add("ours."+f.Key, f.Stat, f.Ours)
			}
			t.audit(run.Audit)
			t.reconciled(run.Reconciled)
			for _, part := range []struct {
				scope string
				cell  *Cell
			}{{"untrimmed", run.Untrimmed}, {"steady", run.Steady}} {
				if part.cell != nil {
					t.row = Row{Run: run.Label, Scope: part.scope}
					t.cell(part.cell)
				}
			}
			t.row = Row{Run: run.Label}
			t.sides(run.Sides)
			t.join(run.Join)
			t.windows("window", run.Windows)
			t.changes("window", run.Changes, run.Windows)
			for j := range run.Groups {
				g := &run.Groups[j]
				t.row = Row{Run: run.Label, Scope: "group", Group: g.By}
				t.cell(&g.Cell)
				t.windows("group_window", g.Windows)
				t.changes("group_window", g.Changes, g.Windows)
			}
		}
	}
}
