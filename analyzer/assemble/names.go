package assemble

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/report"
)

// writeNames writes which engine and model a run is about, as its requests say.
func writeNames(out *report.Run, r *dataset.Run) {
	switch len(r.Engines) {
	case 0:
	case 1:
		out.Engine = r.Engines[0]
	default:
		out.Engine = "mixed"
	}
	switch len(r.Models) {
	case 0:
	case 1:
		out.Model = r.Models[0]
	default:
		out.Models = r.Models
	}
}
