package table_test

import (
	"testing"

	"servescope/analyzer/render/table"
	"servescope/analyzer/trace"
)

// TestInheritedColumns checks that what a batch says of all its rows is in every
// row of a file, and that a row's own value wins.
func TestInheritedColumns(t *testing.T) {
	run := &trace.RunMeta{Label: "r", Engine: "vllm", Model: "m", Side: trace.Server, Clock: trace.Clock{Kind: trace.Monotonic, Source: "h"}}
	b := trace.NewBuilder(trace.Requests)
	b.Int(trace.Sent, 1)
	b.EndRow()
	b.Dict(trace.ClockCol, []byte("wall"))
	b.Dict(trace.Model, []byte("other"))
	b.Code(trace.SideCol, int32(trace.Client))
	b.EndRow()
	rows := export(t, table.Requests(table.Options{}), b.Take(run, "f"))
	for i, want := range []map[string]any{
		{"clock": "monotonic/h", "model": "m", "side": "server", "engine": "vllm"},
		{"clock": "wall", "model": "other", "side": "client", "engine": "vllm"},
	} {
		for name, v := range want {
			if rows[i][name] != v {
				t.Errorf("row %d: %s is %v, want %v", i, name, rows[i][name], v)
			}
		}
	}
	b.Int(trace.Sent, 1)
	b.EndRow()
	if row := export(t, table.Requests(table.Options{}), b.Take(&trace.RunMeta{}, "f"))[0]; row["engine"] != nil || row["model"] != nil {
		t.Errorf("unknown engine and model are %v and %v, want null", row["engine"], row["model"])
	}
}
