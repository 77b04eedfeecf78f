package analyzer

import (
	"servescope/analyzer/report"
)

// writeNames writes which engine and model a run is about, as its requests say.
func writeNames(out *report.Run, r *run) {
	switch len(r.engines) {
	case 0:
	case 1:
		out.Engine = r.engines[0]
	default:
		out.Engine = "mixed"
	}
	switch len(r.models) {
	case 0:
	case 1:
		out.Model = r.models[0]
	default:
		out.Models = r.models
	}
}
