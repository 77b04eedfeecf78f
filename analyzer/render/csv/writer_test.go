package csv

import (
	"bytes"
	stdcsv "encoding/csv"
	"encoding/json"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/render/table"
	"servescope/analyzer/render/tabletest"
	"servescope/analyzer/trace"
)

// parse reads a CSV field as the type of its column; nothing is null.
func parse(t *testing.T, f *trace.Field, s string, quoted bool) any {
	t.Helper()
	if s == "" && !quoted {
		return nil
	}
	fail := func(err error) {
		if err != nil {
			t.Fatalf("%s: %v", f.Name, err)
		}
	}
	switch f.Type {
	case trace.Text, trace.Dict:
		return s
	case trace.Float64:
		v, err := strconv.ParseFloat(s, 64)
		fail(err)
		return v
	case trace.Bool:
		v, err := strconv.ParseBool(s)
		fail(err)
		return v
	case trace.List:
		v := []int64{}
		fail(json.Unmarshal([]byte(s), &v))
		return v
	case trace.Time:
		v, err := time.Parse(time.RFC3339Nano, s)
		fail(err)
		return v.UnixMicro()
	}
	v, err := strconv.ParseInt(s, 10, 64)
	fail(err)
	return v
}

// split takes a file apart by RFC 4180, keeping whether fields were quoted.
func split(t *testing.T, s string) (records [][]string, quoted [][]bool) {
	t.Helper()
	for s != "" {
		var fields []string
		var marks []bool
		for {
			var field string
			q := strings.HasPrefix(s, `"`)
			if q {
				s = s[1:]
				for {
					i := strings.IndexByte(s, '"')
					field, s = field+s[:i], s[i+1:]
					if !strings.HasPrefix(s, `"`) {
						break
					}
					field, s = field+`"`, s[1:]
				}
			} else {
				i := strings.IndexAny(s, ",\r")
				field, s = s[:i], s[i:]
			}
			fields, marks = append(fields, field), append(marks, q)
			if strings.HasPrefix(s, ",") {
				s = s[1:]
				continue
			}
			if !strings.HasPrefix(s, "\r\n") {
				t.Fatalf("no line end before %.40q", s)
			}
			s = s[2:]
			break
		}
		records, quoted = append(records, fields), append(quoted, marks)
	}
	return records, quoted
}

// TestRoundTrip writes random batches and reads them back field by field; the
// standard library must find the same number of records.
func TestRoundTrip(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for n := range 30 {
		for _, fresh := range []func() *table.Table{func() *table.Table { return table.Requests(table.Options{}) }, table.Tokens} {
			b := tabletest.Requests(r, "run", n, trace.Clock{Kind: trace.ClockKind(n % 4)})
			tab := fresh()
			var out bytes.Buffer
			w := NewWriter(&out, tab)
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			var want []tabletest.Row
			fresh().Each(b, func(b *trace.Batch) error {
				want = append(want, tabletest.Rows(b)...)
				return nil
			})
			records, quoted := split(t, out.String())
			if std, err := stdcsv.NewReader(&out).ReadAll(); err != nil || len(std) != len(records) || len(records) != len(want)+1 {
				t.Fatalf("%d records, by the standard library %d (%v), want %d", len(records), len(std), err, len(want)+1)
			}
			for i, row := range want {
				for j := range tab.Fields {
					f := &tab.Fields[j]
					if records[0][j] != f.Name {
						t.Fatalf("column %d is %s, want %s", j, records[0][j], f.Name)
					}
					if got := parse(t, f, records[i+1][j], quoted[i+1][j]); !tabletest.Equal(got, row[f.Name]) {
						t.Fatalf("row %d: %s is %#v, want %#v", i, f.Name, got, row[f.Name])
					}
				}
			}
		}
	}
}

func TestTimestamps(t *testing.T) {
	b := trace.NewBuilder(trace.Requests)
	b.Int(trace.Sent, 1764428000_250001999)
	b.EndRow()
	batch := b.Take(&trace.RunMeta{Label: "r", Clock: trace.Clock{Kind: trace.Wall}}, "f")
	for nanos, want := range map[bool]string{false: "2025-11-29T14:53:20.250001Z", true: "2025-11-29T14:53:20.250001999Z"} {
		var out bytes.Buffer
		w := NewWriter(&out, table.Requests(table.Options{Nanos: nanos}))
		w.Write(batch)
		w.Close()
		if !strings.Contains(out.String(), ",1764428000250001999,"+want+",") {
			t.Errorf("no %s in %s", want, out.String())
		}
	}
}
