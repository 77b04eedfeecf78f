package analyzer

import "servescope/analyzer/report"

// Inputs returns the inputs with their line accounting, which is empty until
// they have been read.
func Inputs(set *Set) []report.Input {
	out := make([]report.Input, len(set.inputs))
	for i, f := range set.inputs {
		out[i] = report.Input{
			Name: f.source.Name(), Reason: f.reason, Bytes: f.size(),
			Total: f.account.Total, Parsed: f.account.Parsed, Diagnosed: f.account.Diagnosed, Noise: f.account.Noise,
			Kinds: f.account.Kinds,
		}
		if f.format != nil {
			out[i].Format = f.format.Name
		}
		if out[i].Kinds == nil {
			out[i].Kinds = map[string]int64{}
		}
	}
	return out
}
