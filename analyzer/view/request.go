package view

import (
	"math"
	"strconv"

	"servescope/analyzer/kernel"
	"servescope/analyzer/kernel/request"
	"servescope/analyzer/metric"
	"servescope/analyzer/query"
	"servescope/analyzer/trace"
	"servescope/formats/source"
)

// showRequest shows one request, selected or not: the values of its row, its place in
// the input, its metrics, and its chunks. t is null where the time of the first chunk is
// unknown, tokens is null where they were not counted.
func showRequest(v *viewer, out *Columns) error {
	n := int32(v.p.Row)
	i := v.set.Find(n)
	if v.p.Row < 0 || v.p.Row > math.MaxInt32 || i < 0 || n >= v.set.Requests[i].Number+int32(v.set.Requests[i].Rows()) {
		return viewError("there is no request " + strconv.FormatInt(v.p.Row, 10))
	}
	r := v.set.Requests[i]
	if r.Slot != v.run.Slot {
		return viewError("request " + strconv.FormatInt(v.p.Row, 10) + " is of another run")
	}
	err := eachWithLists(v, map[int32]int{n: 0}, func(k *kernel.View, i int) {
		out.Fields = append(detailsOf(v, k.Batch, i), measuresOf(v, k, i)...)
		first, gaps, tokens, known, _ := request.ChunksOf(k, metric.Default).At(i)
		at := math.NaN()
		if known {
			at = v.since(k.Batch, i, first)
		}
		out.List = chunkColumns(at, gaps, tokens, k.Lists(trace.ChunkGaps), i)
	})
	if err != nil {
		return err
	}
	out.Fields = append(out.Fields, Detail{Name: "file", Text: r.File.Source.Name(), Value: math.NaN()})
	if off, ok := r.Open().Ints(trace.Offset).At(int(n - r.Number)); ok {
		line, err := source.LineAt(r.File.Source, off)
		if err != nil {
			return err
		}
		if line > 0 {
			out.Fields = append(out.Fields, Detail{Name: "line", Value: float64(line)})
		}
	}
	out.Facts["row"] = float64(n)
	return nil
}

// detailsOf returns the values of a row that are not null, in the order of columns.
func detailsOf(v *viewer, b *trace.Batch, i int) (out []Detail) {
	for c := range trace.Requests.Fields {
		f, col := &trace.Requests.Fields[c], trace.Col(c)
		d := Detail{Name: f.Name, Unit: string(f.Unit), Stamp: f.Stamp, Value: math.NaN()}
		known := false
		switch f.Type {
		case trace.Text:
			var text []byte
			text, known = b.Texts(col).At(i)
			d.Text = string(text)
		case trace.Dict:
			var code int32
			if code, known = b.Dicts(col).At(i); known {
				d.Text = b.Dicts(col).Values[code]
			}
		case trace.Bool:
			var yes bool
			yes, known = b.Bools(col).At(i)
			d.Text = strconv.FormatBool(yes)
		case trace.Int64:
			var n int64
			n, known = b.Ints(col).At(i)
			if d.Value = float64(n); f.Stamp {
				d.Value = v.since(b, i, n)
			}
		}
		if known {
			out = append(out, d)
		}
	}
	return out
}

// measuresOf returns the metrics of a row that are not null.
func measuresOf(v *viewer, k *kernel.View, i int) (out []Detail) {
	values, known := make([]float64, k.Rows), make([]bool, k.Rows)
	for _, name := range query.Metrics {
		v.e.Metric(name, k, values, known)
		m, ok := metric.Lookup(name)
		if ok && known[i] {
			out = append(out, Detail{Name: m.Name, Value: values[i], Unit: string(m.Unit)})
		}
	}
	return out
}

// chunkColumns returns the chunks of a request; the first chunk comes at the given time.
// It returns no columns where the row has no list, or neither a first chunk nor a gap.
func chunkColumns(at float64, gaps, tokens []int64, lists trace.Lists, row int) []Column {
	t, gap, count := Column{Name: "t"}, Column{Name: "gap"}, Column{Name: "tokens"}
	if _, listed := lists.At(row); listed && (isNumber(at) || len(gaps) > 0) {
		t.Floats, gap.Floats = append(t.Floats, at), append(gap.Floats, math.NaN())
		for _, g := range gaps {
			at += float64(g)
			t.Floats, gap.Floats = append(t.Floats, at), append(gap.Floats, float64(g))
		}
		for i := range t.Floats {
			n := math.NaN()
			if i < len(tokens) {
				n = float64(tokens[i])
			}
			count.Floats = append(count.Floats, n)
		}
	}
	return []Column{t, gap, count}
}
