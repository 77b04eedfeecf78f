package arrow

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"servescope/formats"
	"servescope/formats/internal/column"
)

// TestBare: a file as Polars writes it, with a dictionary, whose schema stands in
// the footer alone.
func TestBare(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("..", "..", "testdata", "formats", "arrow", "foreign", "input.arrow"))
	if err != nil {
		t.Fatal(err)
	}
	tab, err := newTable(bytes.NewReader(data), int64(len(data)), formats.Whole)
	if err != nil {
		t.Fatal(err)
	}
	fields := tab.Fields()
	if len(fields) != 4 {
		t.Fatalf("%+v", fields)
	}
	tab.Select([]bool{true, true, true, true})
	var got [][]any
	for tab.Next() {
		for i := range tab.Batch().Rows {
			var row []any
			for k := range fields {
				row = append(row, touch(&tab.Batch().Columns[k], fields[k].Kind, i))
			}
			got = append(got, row)
		}
	}
	if tab.Err() != nil || len(tab.Damage()) > 0 || len(got) != 3 {
		t.Fatal(got, tab.Err(), tab.Damage())
	}
	for i, want := range [][]any{{"a", 0.1, []float64{0.01, 0.02}, "x"}, {"b", 0.2, []float64{}, "y"}, {nil, nil, nil, "x"}} {
		for k, v := range want {
			if !same(got[i][k], v) {
				t.Errorf("%s[%d] is %v, want %v", fields[k].Name, i, got[i][k], v)
			}
		}
	}
	if fields[0].Kind != column.Text || fields[2].Kind != column.FloatList {
		t.Errorf("%+v", fields)
	}
	if _, lost := drain(t, data[:len(data)-1], formats.Whole); lost == 0 {
		t.Error("without its end it is read")
	}
}
