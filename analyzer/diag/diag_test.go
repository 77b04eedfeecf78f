package diag

import (
	"reflect"
	"testing"
)

func TestLogIsOrderFree(t *testing.T) {
	in := []Diag{
		{Code: "bad_line", Severity: DataLoss, File: "a", Offset: 90, Msg: "x"},
		{Code: "bad_line", Severity: DataLoss, File: "a", Offset: 10, Msg: "y"},
		{Code: "no_year", Severity: Info, File: "a", Offset: 5, Count: 3},
		{Code: "bad_line", Severity: DataLoss, File: "b", Offset: 0},
	}
	want := []Diag{
		{Code: "bad_line", Severity: DataLoss, File: "a", Offset: 10, Count: 2, Msg: "y"},
		{Code: "bad_line", Severity: DataLoss, File: "b", Offset: 0, Count: 1},
		{Code: "no_year", Severity: Info, File: "a", Offset: 5, Count: 3},
	}
	for rotate := range in {
		var a, b Log
		for i := range in {
			l := &a
			if i%2 == 1 {
				l = &b
			}
			l.Add(in[(i+rotate)%len(in)])
		}
		a.Merge(&b)
		if got := a.All(); !reflect.DeepEqual(got, want) {
			t.Errorf("rotation %d: got %+v, want %+v", rotate, got, want)
		}
	}
}
