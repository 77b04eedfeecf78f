package formatstest

import (
	"fmt"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
)

// Rows reads a source and returns what line says of each row, the codes of the
// diagnostics with their counts, and the first run. Errors of reading end the test.
func Rows(t *testing.T, f *formats.Format, src formats.Source, opt formats.Options, line func(*trace.Batch, int) string) (rows, codes []string, run *trace.RunMeta) {
	t.Helper()
	opt.Workers, opt.Lists = 1, true
	r, err := f.Open(t.Context(), src, formats.Whole, opt)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
		for i := range r.Batch().Rows {
			rows = append(rows, line(r.Batch(), i))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	for _, d := range r.Diags().All() {
		codes = append(codes, fmt.Sprintf("%s %d", d.Code, d.Count))
	}
	return rows, codes, r.Runs()[0]
}
