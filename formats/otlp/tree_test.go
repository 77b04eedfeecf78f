package otlp

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"sort"
	"strings"
	"testing"

	"servescope/formats"
	"servescope/formats/source"
	"servescope/testdata/generate/shapes"
)

// node is a span of a tree as encoding/json reads it.
type node struct {
	plainSpan
	Trace  string `json:"traceId"`
	ID     string `json:"spanId"`
	Parent string `json:"parentSpanId"`
}

// oracle puts requests together with maps, going down from the roots.
func oracle(t *testing.T, lines []string) map[string]map[string]any {
	t.Helper()
	children := make(map[string][]*node)
	var roots []*node
	for _, line := range lines {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct{ Spans []*node }
			}
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		for _, n := range doc.ResourceSpans[0].ScopeSpans[0].Spans {
			if children[n.Parent] = append(children[n.Parent], n); strings.Contains(n.Name, "Req ") {
				roots = append(roots, n)
			}
		}
	}
	rows := make(map[string]map[string]any)
	for _, root := range roots {
		all := []*node{root}
		for i := 0; i < len(all); i++ {
			all = append(all, children[all[i].ID]...)
		}
		end := make(map[string]int64)
		begin := make(map[string]int64)
		var steps []int64
		for _, n := range all {
			begin[n.Name], end[n.Name] = integer(t, n.Start), integer(t, n.End)
			if n.Name == "decode_loop" {
				steps = append(steps, integer(t, n.End))
			}
		}
		slices.Sort(steps)
		start := integer(t, root.Start)
		first := start + root.ns(t, "time_to_first_token")
		row := map[string]any{"received": start, "dispatched": end["api_server_dispatch"], "queued": begin["prefill_waiting"], "admitted": end["prefill_waiting"],
			"prefill_end": end["prefill_forward"], "first_token": first, "finished": start + root.ns(t, "e2e"),
			"d_input": end["api_server_dispatch"] - start, "d_ingress": begin["prefill_waiting"] - end["api_server_dispatch"],
			"d_queue": end["prefill_waiting"] - begin["prefill_waiting"], "d_prefill": end["prefill_forward"] - end["prefill_waiting"], "d_egress": first - end["prefill_forward"],
			"output_tokens": integer(t, root.text("gen_ai.usage.completion_tokens"))}
		last := end["prefill_forward"]
		gaps, ones := []int64{}, []int64{1}
		for _, s := range steps {
			gaps, ones, last = append(gaps, s-last), append(ones, 1), s
		}
		row["chunk_gaps"] = gaps
		if len(gaps) > 0 {
			row["d_decode"] = last - end["prefill_forward"]
			row["chunk_tokens"] = ones
		}
		rows[root.text("rid")] = row
	}
	return rows
}

// TestTrees compares generated requests, in random order of lines, with the
// oracle; workers, blocks and memory change nothing as long as roots come last.
func TestTrees(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.OTLPTree(&text, shapes.Config{Seed: 5, Count: 60, Tokens: 30, Open: 12}); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text.String(), "\n"), "\n")
	rows := oracle(t, lines)
	if len(rows) != 60 {
		t.Fatalf("%d requests", len(rows))
	}
	r := rand.New(rand.NewPCG(1, 2))
	check := func(how, text string, opt formats.Options) {
		opt.Lists = true
		g := readWith(t, source.FromBytes("tree.json", []byte(text)), opt)
		if len(g.rows) != len(rows) {
			t.Fatalf("%s: %d rows, %+v", how, len(g.rows), g.diags)
		}
		for _, row := range g.rows {
			for name, v := range rows[row["request_id"].(string)] {
				if !reflect.DeepEqual(row[name], v) {
					t.Errorf("%s: %s: %s is %v, want %v", how, row["request_id"], name, row[name], v)
				}
			}
			want(t, row, "status=ok", "finish_reason=length", "preemptions=0", "replica=abcd1234", "merged_leaves=null", "last_token=null")
		}
		if g.account.Parsed != g.account.Total || len(g.diags) != 0 {
			t.Errorf("%s: %+v, %+v", how, g.account, g.diags)
		}
	}
	check("in order", text.String(), formats.Options{Workers: 1})
	check("little memory", text.String(), formats.Options{Workers: 1, Memory: 60_000})
	check("workers", text.String(), formats.Options{Workers: 3, Block: 700})
	for range 5 {
		r.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		shuffled := make([]string, len(lines))
		for i, l := range lines {
			shuffled[i] = strings.TrimSuffix(l, "\n") + "\n"
		}
		check("shuffled", strings.Join(shuffled, ""), formats.Options{Workers: 1 + r.IntN(3), Block: 1 + r.IntN(5000)})
	}
}

// TestMemory: what does not fit is given up with a diag, the rest is not harmed,
// and the result does not depend on how the file is cut.
func TestMemory(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.OTLPTree(&text, shapes.Config{Seed: 5, Count: 100, Tokens: 40, Open: 25}); err != nil {
		t.Fatal(err)
	}
	var last string
	for i, opt := range []formats.Options{{Workers: 1}, {Workers: 1, Block: 900}, {Workers: 3, Block: 400}} {
		opt.Lists, opt.Memory = true, 30_000
		g := readWith(t, source.FromBytes("tree.json", text.Bytes()), opt)
		open := 0
		for _, row := range g.rows {
			if row["status"] == "open" {
				open++
			}
		}
		if d := g.diag("memory"); d.Count == 0 || int(d.Count) != open || len(g.rows) < 100 {
			t.Errorf("%d rows, %d open, %+v", len(g.rows), open, g.diags)
		}
		dump := fmt.Sprint(g.rows, g.account, g.diags)
		if i > 0 && dump != last {
			t.Errorf("%+v gives another result", opt)
		}
		last = dump
	}
}

// TestSharedTrace: requests that share one trace, as with a header of the caller,
// are told apart by their parents.
func TestSharedTrace(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.OTLPTree(&text, shapes.Config{Seed: 9, Count: 40, Tokens: 20, Open: 8}); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text.String(), "\n"), "\n")
	rows := oracle(t, lines)
	shared := make([]string, len(lines))
	for i, l := range lines {
		parts := strings.Split(l, `"traceId":"`)
		for k := 1; k < len(parts); k++ {
			parts[k] = strings.Repeat("ab", 16) + parts[k][32:]
		}
		shared[i] = strings.Join(parts, `"traceId":"`)
	}
	for _, memory := range []int64{0, 90_000} {
		g := readWith(t, source.FromBytes("tree.json", []byte(strings.Join(shared, ""))), formats.Options{Workers: 1, Lists: true, Memory: memory})
		var ids []string
		for _, row := range g.rows {
			id, _ := row["request_id"].(string)
			ids = append(ids, id)
			for name, v := range rows[id] {
				if !reflect.DeepEqual(row[name], v) {
					t.Fatalf("memory %d: %s: %s is %v, want %v", memory, id, name, row[name], v)
				}
			}
		}
		sort.Strings(ids)
		if len(slices.Compact(ids)) != 40 {
			t.Errorf("memory %d: %d rows, %+v", memory, len(g.rows), g.diags)
		}
	}
}

// jaegerOf writes exports as Jaeger's page gives them for download, times in
// microseconds with as many decimals as they have.
func jaegerOf(t *testing.T, lines []string) string {
	t.Helper()
	micros := func(ns int64) json.RawMessage { return json.RawMessage(fmt.Sprintf("%d.%03d", ns/1000, ns%1000)) }
	type m = map[string]any
	var spans []m
	for _, line := range lines {
		var doc struct {
			ResourceSpans []struct {
				ScopeSpans []struct {
					Spans []struct {
						node
						Events []struct{ Name string }
					}
				}
			}
		}
		if err := json.Unmarshal([]byte(line), &doc); err != nil {
			t.Fatal(err)
		}
		for _, n := range doc.ResourceSpans[0].ScopeSpans[0].Spans {
			tags := []m{{"key": "otel.scope.name", "type": "string", "value": "sglang server"}}
			for _, a := range n.Attributes {
				for kind, v := range a.Value {
					value := v
					if kind == "intValue" {
						value = json.RawMessage(strings.Trim(string(v), `"`))
					}
					tags = append(tags, m{"key": a.Key, "type": kind, "value": value})
				}
			}
			var logs []m
			for _, e := range n.Events {
				logs = append(logs, m{"timestamp": 1, "fields": []m{{"key": "event", "type": "string", "value": e.Name}}})
			}
			var refs []m
			if n.Parent != "" {
				refs = []m{{"refType": "FOLLOWS_FROM", "spanID": "ffff"}, {"refType": "CHILD_OF", "traceID": n.Trace, "spanID": n.Parent}}
			}
			start := integer(t, n.Start)
			spans = append(spans, m{"traceID": n.Trace, "spanID": n.ID, "operationName": n.Name, "references": refs, "startTime": micros(start),
				"duration": micros(integer(t, n.End) - start), "tags": tags, "logs": logs, "processID": "p1"})
		}
	}
	out, err := json.Marshal(m{"data": []m{{"traceID": "x", "spans": spans, "processes": m{"p1": m{"serviceName": "sglang", "tags": []m{}}}}}})
	if err != nil {
		t.Fatal(err)
	}
	return string(out)
}

// TestJaegerTrees: the trees are the same when they come out of Jaeger.
func TestJaegerTrees(t *testing.T) {
	var text bytes.Buffer
	if err := shapes.OTLPTree(&text, shapes.Config{Seed: 3, Count: 20, Tokens: 12, Open: 5}); err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(strings.TrimSuffix(text.String(), "\n"), "\n")
	rows := oracle(t, lines)
	g := read(t, jaegerOf(t, lines))
	if len(g.rows) != len(rows) || g.account.Diagnosed != 0 || g.diag("schedule_events").Count == 0 { // their fields are not exported
		t.Fatalf("%d rows, %+v, %+v", len(g.rows), g.account, g.diags)
	}
	for _, row := range g.rows {
		for name, v := range rows[row["request_id"].(string)] {
			if !reflect.DeepEqual(row[name], v) {
				t.Errorf("%s: %s is %v, want %v", row["request_id"], name, row[name], v)
			}
		}
		want(t, row, "resolution=1000", "status=ok")
	}
	if c := fmt.Sprint(g.runs[0].Config); c != "[{service.name sglang} {scope sglang server}]" {
		t.Errorf("config %s", c)
	}
}
