package table

import "servescope/analyzer/trace"

// inherited are the columns of requests in which null means "as the run says":
// a file must not lose what a batch carries beside its rows.
var inherited = map[trace.Col]func(*trace.RunMeta) string{
	trace.SideCol:   func(r *trace.RunMeta) string { return trace.Requests.Fields[trace.SideCol].Values[r.Side] },
	trace.EngineCol: func(r *trace.RunMeta) string { return r.Engine },
	trace.Model:     func(r *trace.RunMeta) string { return r.Model },
	trace.ClockCol:  func(r *trace.RunMeta) string { return r.Clock.String() },
}

// inherit fills a dictionary column from the rows, and where they are null from
// the run; a text that the run lacks too stays null.
func inherit(src trace.Col, of func(*trace.RunMeta) string) func(*Table, *trace.Batch, trace.Col, *trace.Batch) {
	return func(t *Table, dst *trace.Batch, c trace.Col, b *trace.Batch) {
		text := ""
		if b.Run != nil {
			text = of(b.Run)
		}
		in := b.Dicts(src)
		switch {
		case text == "" || b.Has(src) && in.Valid == nil:
			dst.Share(c, b, src)
		case !b.Has(src):
			dst.SetDicts(c, trace.Dicts{Codes: t.scratch.zeros(b.Rows), Values: []string{text}})
		default:
			codes := make([]int32, b.Rows)
			for i := range codes {
				var ok bool
				if codes[i], ok = in.At(i); !ok {
					codes[i] = int32(len(in.Values))
				}
			}
			dst.SetDicts(c, trace.Dicts{Codes: codes, Values: append(in.Values[:len(in.Values):len(in.Values)], text)})
		}
	}
}
