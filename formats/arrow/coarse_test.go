package arrow

import (
	"context"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
)

// TestCoarse: 32-bit floats hold times since 1970 in steps of 128 s, so that no latency
// is a difference of them; those of a clock that began with the machine are finer.
func TestCoarse(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "arrival", Type: arrow.PrimitiveTypes.Float32}, {Name: "finished", Type: arrow.PrimitiveTypes.Float32}, {Name: "ttft_ms", Type: arrow.PrimitiveTypes.Float32},
	}, nil)
	for text, want := range map[string]string{
		`[{"arrival":1767323045,"finished":1767323046,"ttft_ms":80},{"arrival":1767323145,"finished":1767323146,"ttft_ms":90}]`: "are rounded to more than a second",
		`[{"arrival":1045,"finished":1046,"ttft_ms":80},{"arrival":1145,"finished":1146,"ttft_ms":90}]`:                         "",
	} {
		src := source.FromBytes("t", write(t, true, record(t, schema, text), []ipc.Option{ipc.WithSchema(schema)}))
		r, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Map: []string{"arrival=arrival:s", "finished=finished:s"}})
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
		}
		if run := r.Runs()[0]; (want == "") != (run.NoRequests == "") || !strings.Contains(run.NoRequests, want) {
			t.Errorf("%s: %q, want %q", text, run.NoRequests, want)
		}
		r.Close()
	}
}
