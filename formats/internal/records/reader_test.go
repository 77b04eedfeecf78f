package records

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"servescope/formats"
	"servescope/formats/source"
)

func TestDate(t *testing.T) {
	base := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC).UnixNano()
	for text, want := range map[string]Stamp{
		"2026-01-02T03:04:05Z":                     {base, 1e9, true},
		"2026-01-02T03:04:05.123456789Z":           {base + 123456789, 1, true},
		"2026-01-02 03:04:05.120000":               {base + 120e6, 1e3, false},
		"2026-01-02T05:04:05.5+02:00":              {base + 500e6, 1e8, true},
		"2026-01-01T20:34:05-0630":                 {base, 1e9, true},
		"2026-01-02 03:04:05.1234567891 +00":       {base + 123456789, 1, true},
		"2026/01/02 - 03:04:05":                    {base, 1e9, false},
		"2026-02-30T03:04:05Z":                     {},
		"2026-01-02T24:04:05Z":                     {},
		"2026-01-02":                               {},
		"2026-01-02T03:04:05 o'clock":              {},
		"20260102T030405Z and so on and so forth.": {},
	} {
		got, ok := Date([]byte(text))
		if ok != (want.Step != 0) || ok && got != want {
			t.Errorf("%s: %+v, %v; want %+v", text, got, ok, want)
		}
	}
	tokyo := time.FixedZone("", 9*3600)
	if got := (Stamp{base, 1, false}).In(tokyo).T; got != base-9*3600e9 {
		t.Error("in a zone: ", got)
	}
}

func TestDuration(t *testing.T) {
	for text, want := range map[string]int64{
		"735.200735ms": 735200735, "955.594µs": 955594, "955.594\u03bcs": 955594, "820ns": 820, "1.2s": 1200000000,
		"1m2.5s": 62500000000, "2h0m1s": 7201000000000, " 3us ": 3000, "0s": 0,
		"": -1, "5": -1, "s": -1, "1.2.3s": -1, "-1s": -1, "1s!": -1, "99999999999h": -1,
	} {
		got, ok := Duration([]byte(text))
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%q: %d, %v; want %d", text, got, ok, want)
		}
	}
}

func TestTime(t *testing.T) {
	for text, want := range map[string]int64{
		"1700000000.25": 1700000000250000000, "1700000000250": 1700000000250000000, "1700000000250000": 1700000000250000000, "1700000000250000001": 1700000000250000001,
		`"2023-11-14T22:13:20.25Z"`: 1700000000250000000, "12.5": 0, `""`: 0, "true": 0, "null": 0,
	} {
		f := NewFields(map[string]int{"t": 0})
		if !f.Read([]byte(`{"t":` + text + `}`)) {
			t.Fatal(text)
		}
		if got, ok := f.Time(0); ok != (want != 0) || ok && got.T != want {
			t.Errorf("%s: %d, want %d", text, got.T, want)
		}
	}
}

func TestElements(t *testing.T) {
	var got []string
	Elements([]byte(`{"x":"\"list\":[{", "list": 3, "list" : [ {"a":[{"list":1}]}, {"b":2} ], "list":[{"c":3}]}`), "list", func(e []byte, at int) {
		got = append(got, string(e))
	})
	if s := strings.Join(got, " "); s != `{"a":[{"list":1}]} {"b":2}` {
		t.Error(s)
	}
}

// collect notes what a source is made of.
type collect struct {
	*Writer
	out []string
}

func (c *collect) Object(_ *Fields, text []byte, at int64) {
	c.out = append(c.out, string(bytes.Join(bytes.Fields(text), nil)))
	c.Parsed("object")
}
func (c *collect) Line(line []byte, at int64) { c.out = append(c.out, "line "+string(line)); c.Noise() }
func (c *collect) End()                       {}

func TestObjects(t *testing.T) {
	for text, want := range map[string]string{
		"{\"a\":1}\n{\"b\":2}\n":                            `0 {"a":1}|{"b":2}`,
		`[{"a":1},{"b":2}]`:                                 `0 {"a":1}|{"b":2}`,
		"[\n  {\n    \"a\": [\n1]\n  },\n  {\"b\":2}\n]\n":  `0 {"a":[1]}|{"b":2}`,
		"{\"a\":1}{\"b\":2}":                                `0 {"a":1}|{"b":2}`,
		"{\"a\":\"x\n{\"b\":2}\n{\"c\":3}\n":                `1 {"b":2}|{"c":3}`,
		"{\"a\":\n{\"b\":2}\n{\"c\":3}\n":                   `1 {"b":2}|{"c":3}`,
		"aaaa\nbbbbccccdddd":                                `0 line aaaa|line bbbbccccdddd`,
		"[GIN] text {\n{\"c\":3}\nmore\n":                   `0 line [GIN] text {|{"c":3}|line more`,
		"data: {\"a\":1}\n\ndata: [DONE]\n: ping\nid: 3\nx": `0 {"a":1}|line x`,
		"[[[\n{\"a\":1}\n]]]":                               `0 {"a":1}`,
		"{\"a\":1":                                          "1 ",
		`[{"a":1}, {"b":[{"x":1}, "y":2}, {"c":3},{"d":"e},{"f":5}, {"g":6}]`:             `2 {"a":1}|{"c":3}|{"g":6}`,
		`[{"a"1,"b":[{"x":1},{"y":2}],"z":0},{"c":3},{"d"4},{"e":5}]`:                     `2 {"y":2}|{"c":3}|{"e":5}`,
		`[{"a":{}, {"b":2}, {"c":3`:                                                       `2 {"b":2}`,
		"[{\"a\":1,\n\"long name of a member\":2,\nx and more than before it\n{\"c\":3}]": `1 line "long name of a member":2,|line x and more than before it|{"c":3}`,
		"{\"a\":1\nx\n{\"b\":2}":                                                          `1 line x|{"b":2}`,
	} {
		var c *collect
		d := &Dialect{Name: "x", New: func(w *Writer) Fold { c = &collect{Writer: w}; return c }}
		for size := 1; size < 40; size += 13 {
			r, err := Open(context.Background(), source.FromBytes("x", []byte(text)), formats.Options{Block: size}, d)
			if err != nil {
				t.Fatal(err)
			}
			for r.Next() {
			}
			a := r.Account()
			if got := fmt.Sprint(a.Diagnosed, " ", strings.Join(c.out, "|")); got != want {
				t.Errorf("%q in blocks of %d:\n got %s\nwant %s", text, size, got, want)
			}
			if a.Parsed+a.Diagnosed+a.Noise != a.Total {
				t.Errorf("%q: %+v", text, a)
			}
			r.Close()
		}
	}
}

// TestHopeless: an object that never ends makes each line be read twice, not the
// rest of the file for each line.
func TestHopeless(t *testing.T) {
	text := []byte(strings.Repeat("{\"a\":\n", 200_000))
	var c *collect
	d := &Dialect{Name: "x", New: func(w *Writer) Fold { c = &collect{Writer: w}; return c }}
	r, err := Open(context.Background(), source.FromBytes("x", text), formats.Options{}, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	begin := time.Now()
	for r.Next() {
	}
	if a := r.Account(); a.Total != 200_000 || a.Diagnosed != a.Total {
		t.Errorf("%+v", a)
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestManyOnOneLine: the end of a line that holds many records is looked for once, not
// again for each of them.
func TestManyOnOneLine(t *testing.T) {
	const n = 400_000
	var c *collect
	d := &Dialect{Name: "x", New: func(w *Writer) Fold { c = &collect{Writer: w}; return c }}
	r, err := Open(context.Background(), source.FromBytes("x", []byte(strings.Repeat(`data: {"a": 1} `, n))), formats.Options{}, d)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	begin := time.Now()
	for r.Next() {
	}
	if a := r.Account(); a.Total != n || len(c.out) != n {
		t.Errorf("%+v, %d records", a, len(c.out))
	}
	if d := time.Since(begin); d > 20*time.Second {
		t.Errorf("it took %v", d)
	}
}

// TestTable: a row that is torn costs itself; cells hold texts of several lines,
// objects, and nothing.
func TestTable(t *testing.T) {
	for text, want := range map[string]string{
		"a,b,c\n1,\"x\n\"\"y\"\",\",\n2,,\"{\"\"d\"\": 5}\"\r\n3,4": "1 1/x\n\"y\",/ 2//5",
		"a,b,c\n1,2,3":                           "0 1/2/",
		"a,b,c\n1,\"open,3\n4,5,6\n7,8,9\n":      "1 4/5/ 7/8/",
		"a,b,c\n" + strings.Repeat("\"\n", 5000): "2500 ",
	} {
		for size := 1; size < 40; size += 13 {
			var out []string
			d := &Dialect{Name: "x", Table: true, Fields: map[string]int{"a": 0, "b": 1, "c.d": 2}, New: func(w *Writer) Fold {
				return &rows{w, &out}
			}}
			r, err := Open(context.Background(), source.FromBytes("x", []byte(text)), formats.Options{Block: size}, d)
			if err != nil {
				t.Fatal(err)
			}
			for r.Next() {
			}
			if got := fmt.Sprint(r.Account().Diagnosed, " ", strings.Join(out, " ")); got != want {
				t.Errorf("%.40q in blocks of %d: %q, want %q", text, size, got, want)
			}
			r.Close()
		}
	}
}

// rows notes the rows of a table.
type rows struct {
	*Writer
	out *[]string
}

func (r *rows) Object(f *Fields, _ []byte, at int64) {
	*r.out = append(*r.out, fmt.Sprintf("%s/%s/%s", f.Text(0), f.Text(1), f.Text(2)))
	r.Parsed("row")
}
func (r *rows) Line([]byte, int64) { r.Noise() }
func (r *rows) End()               {}
