package bridge

import (
	"context"
	"encoding/binary"
	"math"
	"strconv"
	"strings"

	"servescope/analyzer"
)

// viewHead is the head of an answer whose body is columns.
type viewHead struct {
	Type    string             `json:"type"`
	Kind    string             `json:"kind"`
	Mode    string             `json:"mode"`
	Clocks  []clock            `json:"clocks"`
	Facts   map[string]float64 `json:"facts"`
	Fields  []field            `json:"fields"`
	Columns []column           `json:"columns"`
}

// clock is a clock of the run; its origin is a text, for it may exceed what
// JavaScript holds exactly.
type clock struct {
	Name   string `json:"name"`
	Wall   bool   `json:"wall"`
	Origin string `json:"origin"`
}

// field is a value of a single request: a text, or a number.
type field struct {
	Name  string `json:"name"`
	Value any    `json:"value"`
	Unit  string `json:"unit"`
	Stamp bool   `json:"stamp"`
}

// column says where in the body a column is: n values of type float64 from byte
// at on, or with type text, n int32 that are indexes of values.
type column struct {
	Name   string   `json:"name"`
	Type   string   `json:"type"`
	At     int      `json:"at"`
	N      int      `json:"n"`
	Values []string `json:"values"`
}

func (s *session) view(ctx context.Context, m message) (any, []byte, error) {
	q, err := queryOf(m)
	if err != nil {
		return nil, nil, err
	}
	p, err := viewportOf(m)
	if err != nil {
		return nil, nil, err
	}
	c, err := s.s.View(ctx, q, p)
	if err != nil {
		return nil, nil, err
	}
	head := &viewHead{Type: "result", Kind: c.Kind, Mode: c.Mode, Facts: c.Facts}
	for _, k := range c.Clocks {
		head.Clocks = append(head.Clocks, clock{k.Name, k.Wall, strconv.FormatInt(k.Origin, 10)})
	}
	for _, f := range c.Fields {
		d := field{Name: f.Name, Value: f.Value, Unit: f.Unit, Stamp: f.Stamp}
		if math.IsNaN(f.Value) {
			d.Value = f.Text
		}
		head.Fields = append(head.Fields, d)
	}
	var body []byte
	head.Columns, body = pack(c.List)
	return head, body, nil
}

// pack lays columns out in one body.
func pack(list []analyzer.Column) (heads []column, body []byte) {
	size := 0
	for i := range list {
		size += 8*len(list[i].Floats) + 4*len(list[i].Codes) + 8
	}
	body = make([]byte, 0, size)
	for i := range list {
		c := &list[i]
		for len(body)%8 != 0 {
			body = append(body, 0)
		}
		head := column{Name: c.Name, Type: "float64", At: len(body), N: len(c.Floats)}
		if c.Text {
			head.Type, head.N, head.Values = "text", len(c.Codes), c.Values
			for _, code := range c.Codes {
				body = binary.LittleEndian.AppendUint32(body, uint32(code))
			}
		}
		for _, f := range c.Floats {
			body = binary.LittleEndian.AppendUint64(body, math.Float64bits(f))
		}
		heads = append(heads, head)
	}
	return heads, body
}

// viewportOf reads the part of a request that says what is shown.
func viewportOf(m message) (analyzer.Viewport, error) {
	p := analyzer.Viewport{
		Kind: m.text("kind"), Metric: m.text("metric"), X: m.text("x"), Y: m.text("y"), Color: m.text("color"),
		Column: m.text("column"), Sort: m.text("sort"), Desc: m.yes("desc"), TokenTimes: m.yes("tokens"),
	}
	for _, names := range m["columns"] {
		p.Columns = append(p.Columns, strings.Split(names, ",")...)
	}
	for key, dst := range map[string]*int64{"row": &p.Row, "from_ns": &p.From, "to_ns": &p.To, "low": &p.Low, "high": &p.High, "bucket": &p.Bucket} {
		n, err := m.number(key, 0)
		if err != nil {
			return p, err
		}
		*dst = n
	}
	for key, dst := range map[string]*int{
		"run": &p.Run, "offset": &p.Offset, "limit": &p.Limit, "points": &p.Limit, "xbins": &p.XBins, "buckets": &p.XBins, "ybins": &p.YBins,
	} {
		n, err := m.number(key, int64(*dst))
		if err != nil {
			return p, err
		}
		if n < 0 || n > most {
			return p, &failure{Code: usage, Flag: key, Message: key + " is out of range"}
		}
		*dst = int(n)
	}
	return p, nil
}

// most bounds counts of points, rows and pixels that a request may name.
const most = 10_000_000
