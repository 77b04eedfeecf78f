package cell

import "servescope/analyzer/kernel/request"

// Only names the metrics that a kernel is asked for; nil asks for all.
type Only map[string]bool

// Has reports whether the metric of a name is asked for.
func (o Only) Has(name string) bool { return o == nil || o[name] }

// Any reports whether one of several metrics is asked for.
func (o Only) Any(names ...string) bool {
	for _, name := range names {
		if o.Has(name) {
			return true
		}
	}
	return false
}

// Skipped returns by slot the measures whose values are not asked for.
func (o Only) Skipped() (skip [len(request.Measures)]bool) {
	for slot := range request.Measures {
		skip[slot] = !o.Has(request.Measures[slot].Name)
	}
	skip[request.MeasureTTFT] = !o.Any("ttft", "ttft_client", "ttft_server")
	return skip
}
