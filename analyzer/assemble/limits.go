package assemble

import (
	"fmt"
	"math"
	"servescope/analyzer/dataset"
	"servescope/analyzer/diag"
	"servescope/analyzer/kernel"
	"servescope/analyzer/report"
	"servescope/analyzer/selection"
	"servescope/analyzer/trace"
	"servescope/analyzer/unit"
	"time"
)

// selectionDiags says which runs a query could not be applied to.
func selectionDiags(sel *selection.Selection, log *diag.Log) {
	if sel.Groups != nil && sel.Groups.United > 0 {
		log.Add(diag.Diag{
			Code: "groups_capped", Severity: diag.Notice, Offset: -1, Count: int64(sel.Groups.United),
			Msg: fmt.Sprintf("a report holds %d groups: the %d smallest, with %d requests, are together in %q", selection.MaxGroups, sel.Groups.United, sel.Groups.Rest, selection.OtherGroup),
			Fix: "group by fewer dimensions or filter first",
		})
	}
	q := sel.Query
	if q.From == nil && q.To == nil && q.Trim.Warmup == 0 {
		return
	}
	for key, e := range sel.ClockRanges {
		absolute := q.From != nil && !q.From.Relative || q.To != nil && !q.To.Relative
		d := diag.Diag{Code: "no_common_clock", Severity: diag.Notice, File: sel.Set.LabelOf(key.Slot), Offset: -1}
		switch {
		case e.Kind == trace.RequestClock:
			d.Msg = "its stamps count from the start of each request: they lie in no interval of time, and the query removes all of them"
			d.Fix = "leave out --from, --to and --trim, or trim by a number of requests: --trim warmup=100"
		case absolute && e.Kind != trace.Wall:
			d.Msg = fmt.Sprintf("its clock is %s: points in calendar time cannot be found on it, and the query removes all of its requests", e.Kind)
			d.Fix = "give offsets from the start of the run, as in --from +30s"
		default:
			continue
		}
		log.Add(d)
	}
}

// cutOf returns the first window, by its start, of which some kernel leaves
// something out, and whether there is one.
func cutOf(states []kernel.State) (window int64, capped bool) {
	window = math.MaxInt64
	for _, s := range states {
		if w, cut := s.Cut(); cut {
			window, capped = min(window, w), true
		}
	}
	return window, capped
}

// windowDiags says of every run with more windows than a report holds which of them
// are left out, and what lies in these.
func windowDiags(sel *selection.Selection, out *Cells, facts *kernel.Facts, log *diag.Log) {
	q, set := sel.Query, sel.Set
	if q.Window <= 0 {
		return
	}
	for _, r := range set.Runs {
		run := out.runs[r.Slot]
		all := windowsOf(run, q.Window)
		shown := int64(len(run.Windows))
		ofGroups, missing := int64(0), int64(0)
		for i := range run.Groups {
			ofGroups += all
			missing += max(all-int64(len(run.Groups[i].Windows)), 0)
		}
		if all <= shown && missing == 0 {
			continue
		}
		d := diag.Diag{
			Code: "windows_capped", Severity: diag.Notice, File: r.Label, Offset: -1, Count: max(all-shown, 0),
			Fix: "give a longer --window, or an interval with --from and --to",
		}
		if all > shown {
			inside := int64(0)
			for i := range run.Windows {
				inside += run.Windows[i].Requests.Total
			}
			d.Msg = fmt.Sprintf("the first %d of %d windows are shown%s: %d of the run's %d requests are in none of them; figures of the whole run and of its groups hold all",
				shown, all, until(run, q.Window, facts.Runs[r.Slot].Clock), run.Requests.Total-inside, run.Requests.Total)
		} else {
			d.Count = missing
			d.Msg = "each group shows its first windows only; figures of its whole hold all"
		}
		if missing > 0 {
			d.Msg += fmt.Sprintf("; %d of the %d windows of groups are left out", missing, ofGroups)
		}
		log.Add(d)
	}
}

// stepDiags adds a diagnostic for each run whose steps form more series than a report
// holds: how many steps are in no series.
func stepDiags(set *dataset.Set, states []kernel.State, log *diag.Log) {
	for _, state := range states {
		rows, most := state.Dropped()
		for _, r := range set.Runs {
			if n := rows[r.Slot]; n > 0 {
				log.Add(diag.Diag{
					Code: "steps_capped", Severity: diag.Notice, File: r.Label, Offset: -1, Count: n,
					Msg: fmt.Sprintf("%d engine steps are in no table: they exceed the limit of %d combinations of replica, rank, kind, group and window", n, most),
					Fix: "give a longer --window, or group by fewer dimensions",
				})
			}
		}
	}
}

// windowsOf returns how many windows a run's W has, or how many are there where W
// is unknown.
func windowsOf(run *report.Run, length int64) int64 {
	t := &run.Throughput
	n := int64(len(run.Windows))
	if n == 0 || !t.From.Known || !t.To.Known {
		return n
	}
	return max(n, (t.To.Int-run.Windows[0].From)/length+1)
}

// until says when the windows that are shown end, on a clock.
func until(run *report.Run, length int64, clock string) string {
	n := len(run.Windows)
	if n == 0 {
		return ""
	}
	end := run.Windows[n-1].From + length
	if c, ok := trace.ParseClock(clock); ok && c.Kind == trace.Wall {
		return ", until " + time.Unix(0, end).UTC().Format("2006-01-02 15:04:05") + " UTC"
	}
	return ", the first " + unit.FormatDuration(end-run.Windows[0].From)
}
