package promtext

import (
	"context"
	"io"

	"servescope/analyzer/diag"
	"servescope/formats"
	"servescope/formats/internal/json"
	"servescope/formats/internal/numx"
)

// api reads answers of Prometheus' HTTP API, /api/v1/query and query_range: one
// after the other, or in an array. Each series of a matrix or vector is a line of
// the text format for each of its points.
//
//	{"status":"success","data":{"resultType":"matrix","result":[
//	  {"metric":{"__name__":"vllm:num_requests_running","engine":"0"},"values":[[1738765353.1,"12"],…]}]}}
type api struct {
	ctx   context.Context
	rc    io.ReadCloser
	c     *json.Cursor
	level int // of what is open: 1 an answer, 2 its data, 3 the list of results
	key   []byte
}

func openAPI(ctx context.Context, src formats.Source, block int) (*api, error) {
	rc, err := src.Open(0)
	if err != nil {
		return nil, err
	}
	a := &api{ctx: ctx, rc: rc}
	a.c = json.New(a, 0, max(block, 0))
	return a, nil
}

// Read is the cursor's reader: it ends when the context does.
func (a *api) Read(b []byte) (int, error) {
	if err := a.ctx.Err(); err != nil {
		return 0, err
	}
	return a.rc.Read(b)
}

// answers reads on up to the end of a result. It reports false at the end.
func (r *reader) answers() bool {
	a, c := r.api, r.api.c
	for {
		if p, bad := c.Problem(); bad {
			r.at = p.Offset
			r.skip("truncated", diag.DataLoss, "an answer of the API breaks off: what stands before that is used")
			c.SkipLine()
			a.level = 0
		}
		if c.Err() != nil {
			return false
		}
		switch {
		case a.level == 0:
			r.at = c.Offset()
			switch c.Kind() {
			case json.EOF:
				return false
			case json.Object:
				c.Open()
				a.level = 1
			case json.Array:
				c.Advance(1)
			default:
				c.SkipLine()
				r.skip("stray_text", diag.DataLoss, "text that is no answer of the API was skipped")
			}
		case !c.More():
			a.level--
		case a.level == 3:
			if c.Kind() != json.Object { // the value of a scalar
				c.Skip()
				r.noise("scalar")
				continue
			}
			r.result()
			return true
		default:
			r.descend()
		}
	}
}

// descend takes a member of an answer or of its data.
func (r *reader) descend() {
	a, c := r.api, r.api.c
	switch key := string(c.Key(16)); {
	case a.level == 1 && key == "data" && c.Kind() == json.Object:
		c.Open()
		a.level = 2
	case a.level == 2 && key == "result" && c.Kind() == json.Array:
		c.Open()
		a.level = 3
	case a.level == 1 && key == "status" && c.Kind() == json.String:
		if string(c.Text(16)) == "error" {
			r.skip("api_error", diag.DataLoss, "an answer of the API is an error: it has no samples")
		}
	default:
		c.Skip()
	}
}

// result takes one series.
func (r *reader) result() {
	c := r.api.c
	r.at = c.Offset()
	var s sample
	for c.Open(); c.More(); {
		switch key := string(c.Key(16)); {
		case key == "metric" && c.Kind() == json.Object:
			r.metric(&s)
		case key == "values" && c.Kind() == json.Array:
			for c.Open(); c.More(); {
				r.point(&s)
			}
		case key == "value" && c.Kind() == json.Array:
			r.point(&s)
		case key == "histogram" || key == "histograms":
			r.skip("native_histogram", diag.DataLoss, "a series is of native histograms, which are not read")
			c.Skip()
		default:
			c.Skip()
		}
	}
}

// metric takes the labels of a series, written as in the text format.
func (r *reader) metric(s *sample) {
	a, c := r.api, r.api.c
	name, labels := "", []byte(nil)
	for c.Open(); c.More(); {
		key := string(c.Key(maxSetting))
		if c.Kind() != json.String {
			c.Skip()
			continue
		}
		value := c.Text(1024)
		if key == "__name__" {
			name = string(value)
			continue
		}
		labels = appendLabel(labels, key, value)
	}
	a.key = append(append(append(append(a.key[:0], name...), '{'), labels...), '}')
	s.key = a.key
	s.name, s.labels = a.key[:len(name)], a.key[len(name)+1:len(a.key)-1]
}

// point takes one value of a series: [1738765353.1,"12"].
func (r *reader) point(s *sample) {
	c := r.api.c
	r.at = c.Offset()
	if c.Kind() != json.Array {
		c.Skip()
		r.skip("bad_sample", diag.DataLoss, "a point of a series is no pair of a time and a value")
		return
	}
	n, ok := 0, false
	s.timed = false
	for c.Open(); c.More(); n++ {
		switch k := c.Kind(); {
		case n == 0 && k == json.Number:
			text := c.Literal()
			var size int
			s.t, size, s.timed = numx.Scaled(text, numx.Second)
			s.timed = s.timed && size == len(text)
		case n == 1 && k == json.String:
			s.value, s.finite, ok = number(c.Text(64))
		default:
			c.Skip()
		}
	}
	if _, bad := c.Problem(); bad {
		return
	}
	if !ok || !s.timed || n != 2 {
		r.skip("bad_sample", diag.DataLoss, "a point of a series is no pair of a time and a value")
		return
	}
	r.value(s)
}

// appendLabel appends a label as the text format writes it.
func appendLabel(b []byte, name string, value []byte) []byte {
	if len(b) > 0 {
		b = append(b, ',')
	}
	b = append(append(b, name...), '=', '"')
	for _, c := range value {
		switch c {
		case '\n':
			b = append(b, '\\', 'n')
			continue
		case '"', '\\':
			b = append(b, '\\')
		}
		b = append(b, c)
	}
	return append(b, '"')
}
