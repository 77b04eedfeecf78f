package loads

import (
	"servescope/analyzer/metric"
	"servescope/analyzer/report"
	"servescope/analyzer/unit"
)

// engine is a gauge of one engine in a cell.
type engine struct {
	loadKey
	*gaugeLog
}

// rate returns the time-weighted mean of a logged rate over W.
func (e *engine) rate(list []mark, w *loadWindow, why metric.Reason) report.Value {
	if len(list) == 0 {
		return report.Null(metric.NotRecorded.String())
	}
	in := e.marks.rate(list, w.from, w.to)
	mean, _, coverage := shareOf(&in, w, why, unit.TokenRate)
	if mean.Known && coverage.V < 1 {
		mean.Note = coveredNote(coverage.V)
	}
	return mean
}

// allEngines is the replica of lines that are about all engines of a server.
const allEngines = "all"
