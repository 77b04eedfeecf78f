// Package tabletest makes batches for the tests of tables and their writers,
// and reads batches value by value.
package tabletest

import (
	"math/rand/v2"
	"slices"

	"servescope/analyzer/trace"
)

// Texts are values that writers must carry as they are.
var Texts = []string{"", "a", "req-1", "line\r\nbreak", `quote " and , comma`, "\x1b[31m", "漢字 é", "null", "NaN", "=1+1", " padded "}

// Requests returns a random batch of the requests table on the given clock.
// Columns are full, half empty or never set; lists are null, empty or short; a
// few rows name another clock than the run's.
func Requests(r *rand.Rand, label string, rows int, clock trace.Clock) *trace.Batch {
	b := trace.NewBuilder(trace.Requests)
	density := make([]float64, len(trace.Requests.Fields))
	for i := range density {
		density[i] = []float64{0, 0.3, 0.9, 1}[r.IntN(4)]
	}
	for range rows {
		for i := range trace.Requests.Fields {
			c, f := trace.Col(i), &trace.Requests.Fields[i]
			switch {
			case c == trace.ClockCol:
				if r.IntN(4) == 0 {
					b.Dict(c, []byte([]string{"wall", "monotonic/host-1", "request"}[r.IntN(3)]))
				}
			case r.Float64() < density[i]:
				set(b, r, c, f)
			}
		}
		b.EndRow()
	}
	return b.Take(&trace.RunMeta{Label: label, Clock: clock}, label+".jsonl")
}

func set(b *trace.Builder, r *rand.Rand, c trace.Col, f *trace.Field) {
	switch {
	case f.Type == trace.List:
		list := make([]int64, r.IntN(5))
		for i := range list {
			list[i] = r.Int64N(1e9) - 1e6
		}
		b.List(c, list)
	case f.Type == trace.Bool:
		b.Bool(c, r.IntN(2) == 0)
	case f.Type == trace.Float64:
		b.Float(c, r.NormFloat64())
	case f.Type == trace.Text:
		b.Text(c, []byte(Texts[r.IntN(len(Texts))]))
	case f.Values != nil:
		b.Code(c, int32(r.IntN(len(f.Values))))
	case f.Type == trace.Dict:
		b.Dict(c, []byte(Texts[r.IntN(len(Texts))]))
	case f.Stamp && r.IntN(50) == 0:
		b.Int(c, -r.Int64()) // before the epoch
	case f.Stamp:
		b.Int(c, 1764428000_000000000+r.Int64N(1e12))
	default:
		b.Int(c, r.Int64N(1000))
	}
}

// Row is a row of a batch by column name: nil, int64, float64, bool, string or
// []int64.
type Row map[string]any

// Rows reads every value of b. The rows do not share memory with b.
func Rows(b *trace.Batch) []Row {
	out := make([]Row, b.Rows)
	for i := range out {
		out[i] = Row{}
		for j := range b.Table.Fields {
			out[i][b.Table.Fields[j].Name] = value(b, trace.Col(j), i)
		}
	}
	return out
}

func value(b *trace.Batch, c trace.Col, i int) any {
	switch b.Table.Fields[c].Type {
	case trace.Float64:
		if v, ok := b.Floats(c).At(i); ok {
			return v
		}
	case trace.Bool:
		if v, ok := b.Bools(c).At(i); ok {
			return v
		}
	case trace.Text:
		if v, ok := b.Texts(c).At(i); ok {
			return string(v)
		}
	case trace.Dict:
		if v, ok := b.Dicts(c).At(i); ok {
			return b.Dicts(c).Values[v]
		}
	case trace.List:
		if v, ok := b.Lists(c).At(i); ok {
			return append([]int64{}, v...)
		}
	default:
		if v, ok := b.Ints(c).At(i); ok {
			return v
		}
	}
	return nil
}

// Equal reports whether two values of a row are equal.
func Equal(a, b any) bool {
	x, isList := a.([]int64)
	y, areLists := b.([]int64)
	if isList || areLists {
		return isList && areLists && slices.Equal(x, y)
	}
	return a == b
}
