package torchtrace

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"servescope/analyzer/diag"
	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// The helpers below write events; times are in ns.

func micros(ns int64) string {
	sign := ""
	if ns < 0 {
		sign, ns = "-", -ns
	}
	return fmt.Sprintf("%s%d.%03d", sign, ns/1000, ns%1000)
}

func complete(cat, name string, pid, tid any, from, to int64, args string) string {
	return fmt.Sprintf(`{"ph":"X","cat":%q,"name":%q,"pid":%s,"tid":%v,"ts":%s,"dur":%s,"args":{%s}}`,
		cat, name, pidText(pid), tid, micros(from), micros(to-from), args)
}

func pidText(pid any) string {
	if s, ok := pid.(string); ok {
		return fmt.Sprintf("%q", s)
	}
	return fmt.Sprint(pid)
}

// kernelEvent is a kernel of device 0 that call corr launched; 0: no call.
func kernelEvent(name string, from, to int64, corr int) string {
	return onDevice("kernel", name, 0, from, to, corr)
}

func onDevice(cat, name string, pid any, from, to int64, corr int) string {
	args := `"device":0,"stream":7`
	if corr > 0 {
		args += fmt.Sprintf(`,"correlation":%d`, corr)
	}
	return complete(cat, name, pid, 7, from, to, args)
}

// callEvent is a call of process 1, thread 1, that takes 1 ns.
func callEvent(name string, at int64, corr int) string {
	return complete("cuda_runtime", name, 1, 1, at, at+1, fmt.Sprintf(`"correlation":%d`, corr))
}

// mark is a range of process 1, thread 1.
func mark(name string, from, to int64) string {
	return complete("user_annotation", name, 1, 1, from, to, "")
}

// traceText returns a trace with base time 0.
func traceText(events ...string) string {
	return `{"schemaVersion":1,"traceEvents":[` + strings.Join(events, ",\n") + `],"baseTimeNanoseconds":1000000}`
}

const base = 1000000

// got is what reading a trace gives.
type got struct {
	steps, links []map[string]any // rows, columns that are not null
	meta         *trace.RunMeta
	diags        []diag.Diag
	account      formats.Account
}

func (g *got) diag(code string) *diag.Diag {
	for i := range g.diags {
		if g.diags[i].Code == code {
			return &g.diags[i]
		}
	}
	return nil
}

func (g *got) note(part string) bool {
	bare := func(s string) string { return strings.ReplaceAll(s, " ns", "") }
	return slices.ContainsFunc(g.meta.Notes, func(n string) bool { return strings.Contains(bare(n), bare(part)) })
}

func readTrace(t *testing.T, src formats.Source, change func(*reader)) *got {
	t.Helper()
	opened, err := Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	r := opened.(*reader)
	if change != nil {
		change(r)
	}
	defer r.Close()
	g := new(got)
	for r.Next() {
		rows := rowsOf(r.Batch())
		if r.Batch().Table == trace.Steps {
			g.steps = append(g.steps, rows...)
		} else {
			g.links = append(g.links, rows...)
		}
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	g.meta, g.diags, g.account = r.Runs()[0], r.Diags().All(), r.Account()
	if a := g.account; a.Total != a.Parsed+a.Noise+a.Diagnosed {
		t.Errorf("the account does not add up: %+v", a)
	}
	return g
}

func readText(t *testing.T, text string) *got {
	t.Helper()
	return readTrace(t, source.FromBytes("trace.json", []byte(text)), nil)
}

func rowsOf(b *trace.Batch) []map[string]any {
	rows := make([]map[string]any, b.Rows)
	for i := range rows {
		rows[i] = make(map[string]any)
		for c, f := range b.Table.Fields {
			var v any
			var ok bool
			switch c := trace.Col(c); f.Type {
			case trace.Int64:
				v, ok = b.Ints(c).At(i)
			case trace.Bool:
				v, ok = b.Bools(c).At(i)
			case trace.Dict:
				var code int32
				if code, ok = b.Dicts(c).At(i); ok {
					v = b.Dicts(c).Values[code]
				}
			case trace.List:
				var list []int64
				list, ok = b.Lists(c).At(i)
				v = slices.Clone(list)
			}
			if ok {
				rows[i][f.Name] = v
			}
		}
	}
	return rows
}

// classes are the columns that tile an interval.
var classes = []string{"compute", "sampling", "communication", "host_transfer", "launch_wait", "scheduling", "host_exec", "host_gap"}

// wantParts compares columns of a row, "name=value" each, and checks that the
// classes of the row sum to its duration. "name=null" wants a null.
func wantParts(t *testing.T, row map[string]any, want ...string) {
	t.Helper()
	for _, w := range want {
		name, value, _ := strings.Cut(w, "=")
		v, ok := row[name]
		text := fmt.Sprint(v)
		if !ok {
			text = "null"
		}
		if text != value {
			t.Errorf("%s is %s, want %s", name, text, value)
		}
	}
	if row["quantity"] != nil {
		checkSum(t, row)
	}
}

func checkSum(t *testing.T, row map[string]any) {
	t.Helper()
	duration, ok := row["duration"].(int64)
	if !ok {
		return
	}
	var sum int64
	for _, c := range classes {
		v, _ := row[c].(int64)
		sum += v
	}
	if sum != duration {
		t.Errorf("the classes sum to %d, the interval is %d: %v", sum, duration, row)
	}
}
