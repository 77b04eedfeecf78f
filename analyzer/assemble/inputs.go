package assemble

import (
	"servescope/analyzer/dataset"
	"servescope/analyzer/report"
)

// Inputs returns the inputs with their line accounting, which is empty until
// they have been read.
func Inputs(set *dataset.Set) []report.Input {
	out := make([]report.Input, len(set.Inputs))
	for i, f := range set.Inputs {
		out[i] = report.Input{
			Name: f.Source.Name(), Reason: f.Reason, Bytes: f.Size(),
			Total: f.Account.Total, Parsed: f.Account.Parsed, Diagnosed: f.Account.Diagnosed, Noise: f.Account.Noise,
			Kinds: f.Account.Kinds,
		}
		if f.Format != nil {
			out[i].Format = f.Format.Name
		}
		if out[i].Kinds == nil {
			out[i].Kinds = map[string]int64{}
		}
	}
	return out
}
