package join

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

// cells are the columns of a row, by name.
type cells map[string]any

// input is the rows of one input, all on the side of its run.
type input struct {
	run  trace.RunMeta
	rows []cells
}

// parts makes parts of inputs, each cut into batches of the given number of rows.
func parts(t testing.TB, size int, inputs ...input) []Part {
	t.Helper()
	var out []Part
	first := int32(0)
	for k, in := range inputs {
		b := trace.NewBuilder(trace.Requests)
		flush := func() {
			if b.Rows() == 0 {
				return
			}
			batch := b.Take(&in.run, fmt.Sprintf("input %d", k)).Clone(false)
			out = append(out, Part{batch, 0, int32(k), first})
			first += int32(batch.Rows)
		}
		for _, row := range in.rows {
			for name, v := range row {
				c, ok := trace.Requests.Lookup(name)
				if !ok {
					t.Fatalf("there is no column %s", name)
				}
				set(b, c, v)
			}
			if b.EndRow(); b.Rows() == size {
				flush()
			}
		}
		flush()
	}
	return out
}

func set(b *trace.Builder, c trace.Col, v any) {
	f := trace.Requests.Fields[c]
	switch v := v.(type) {
	case int:
		b.Int(c, int64(v))
	case string:
		if f.Values != nil {
			b.Code(c, int32(slices.Index(f.Values, v)))
		} else if f.Type == trace.Dict {
			b.Dict(c, []byte(v))
		} else {
			b.Text(c, []byte(v))
		}
	}
}

// ids returns rows with nothing but ids.
func ids(names ...string) (rows []cells) {
	for _, name := range names {
		rows = append(rows, cells{"request_id": name})
	}
	return rows
}

func client(rows ...cells) input { return input{trace.RunMeta{Side: trace.Client}, rows} }
func server(rows ...cells) input { return input{trace.RunMeta{Side: trace.Server}, rows} }

// groups prints the groups of links: rows by number in the order of sides, each
// with the initial of its side and the rule that brought it there.
func groups(l *Links) string {
	var out []string
	for r := range l.n {
		if list := l.Rows(r); len(list) > 0 && slices.Min(list) == r {
			var names []string
			for _, m := range list {
				name, _ := l.id(m)
				names = append(names, fmt.Sprintf("%c:%s(%s)", trace.Requests.Fields[trace.SideCol].Values[l.Side(m)][0], name, l.rules[m]))
			}
			out = append(out, strings.Join(names, " "))
		}
	}
	return strings.Join(out, "; ")
}

func equal(t *testing.T, what, got, want string) {
	t.Helper()
	if got != want {
		t.Errorf("%s:\n got %s\nwant %s", what, got, want)
	}
}

func TestP54NamesAreJoinedOneByOne(t *testing.T) {
	for _, x := range []struct {
		what   string
		inputs []input
		want   string
	}{
		{"prefix", []input{client(ids("abc", "abd")...), server(ids("chatcmpl-abd", "chatcmpl-abc")...)},
			"c:abc(exact) s:chatcmpl-abc(prefix); c:abd(exact) s:chatcmpl-abd(prefix)"},
		{"index of a completion", []input{client(ids("abc")...), server(ids("cmpl-abc-0")...)},
			"c:abc(exact) s:cmpl-abc-0(prefix + index suffix)"},
		{"response id of a client", []input{client(ids("cmpl-ff6e2dc5e4144e9e8b46afd0ddf9430c")...), server(ids("cmpl-ff6e2dc5e4144e9e8b46afd0ddf9430c-0")...)},
			"c:cmpl-ff6e2dc5e4144e9e8b46afd0ddf9430c(prefix) s:cmpl-ff6e2dc5e4144e9e8b46afd0ddf9430c-0(prefix + index suffix)"},
		{"three sources", []input{client(ids("abc")...), server(ids("chatcmpl-abc")...), {trace.RunMeta{Side: trace.Engine}, ids("chatcmpl-abc-9f31c2d4")}},
			"c:abc(exact) s:chatcmpl-abc(prefix) e:chatcmpl-abc-9f31c2d4(prefix + random suffix)"},
		{"children of a request with two choices", []input{client(ids("abc")...), server(ids("cmpl-abc-0", "cmpl-abc-1")...)},
			"c:abc(exact) s:cmpl-abc-0(prefix + index suffix) s:cmpl-abc-1(prefix + index suffix)"},
		{"children of the engine", []input{client(ids("abc")...), server(ids("0_chatcmpl-abc", "1_chatcmpl-abc")...)},
			"c:abc(exact) s:0_chatcmpl-abc(prefix + number prefix) s:1_chatcmpl-abc(prefix + number prefix)"},
		{"worker", []input{client(ids("abc")...), server(ids("4711_abc")...)},
			"c:abc(exact) s:4711_abc(number prefix)"},
		{"numbers of a client are no suffixes", []input{client(ids("req-12345678")...), server(ids("chatcmpl-req-87654321")...)}, ""},
		{"suffixes of both are not taken off", []input{server(ids("chatcmpl-req-12345678")...), server(ids("chatcmpl-req-87654321")...)}, ""},
		{"the longest common name counts", []input{client(ids("run-1a2b3c4d", "run")...), server(ids("chatcmpl-run-1a2b3c4d", "chatcmpl-run")...)},
			"c:run-1a2b3c4d(exact) s:chatcmpl-run-1a2b3c4d(prefix); c:run(exact) s:chatcmpl-run(prefix)"},
	} {
		equal(t, x.what, groups(Link(parts(t, 10, x.inputs...), Options{IDs: true})), x.want)
	}
}

// TestNothingIsGuessed: a name that leaves a choice links nothing and is counted.
func TestNothingIsGuessed(t *testing.T) {
	for _, x := range []struct {
		what                  string
		inputs                []input
		want                  string
		ambiguous, duplicates int64
	}{
		{"two requests of the server have the client's id", []input{client(ids("a", "b")...), server(ids("a", "a", "b")...)}, "c:b(exact) s:b(exact)", 1, 0},
		{"an id twice at one end", []input{client(ids("a")...), server(ids("b", "b", "chatcmpl-a")...)}, "c:a(exact) s:chatcmpl-a(prefix)", 0, 1},
		{"two candidates without their decorations", []input{client(ids("a")...), server(ids("chatcmpl-a", "cmpl-a")...)}, "", 1, 0},
		{"retries", []input{client(ids("a")...), server(cells{"request_id": "a", "attempt": 0}, cells{"request_id": "a", "attempt": 1})}, "c:a(exact) s:a(exact) s:a(exact)", 0, 0},
	} {
		l := Link(parts(t, 2, x.inputs...), Options{IDs: true})
		equal(t, x.what, groups(l), x.want)
		if s := l.Summarize(0); s.Ambiguous.N != x.ambiguous || s.Duplicates.N != x.duplicates {
			t.Errorf("%s: %d ambiguous, %d duplicates; want %d, %d", x.what, s.Ambiguous.N, s.Duplicates.N, x.ambiguous, x.duplicates)
		}
	}
}

// TestP55NodesShareARoom: the prefill node's log has the room in decimal, the
// decode node's spans in hexadecimal; request ids differ.
func TestP55NodesShareARoom(t *testing.T) {
	logs := input{trace.RunMeta{Side: trace.Server}, []cells{{"request_id": "p1", "side": "prefill", "join_group": "2043453"}, {"request_id": "p2", "side": "prefill", "join_group": "8"}}}
	spans := input{trace.RunMeta{Side: trace.Server}, []cells{{"request_id": "d1", "side": "decode", "join_group": "0x1f2e3d"}}}
	for _, opt := range []Options{{}, {IDs: true}} {
		l := Link(parts(t, 10, logs, spans), opt)
		equal(t, fmt.Sprint(opt), groups(l), "d:d1(join_group) p:p1(join_group)")
		if name, ok := l.Name(0); !ok || string(name) != "d1" {
			t.Errorf("the request is %q, %t", name, ok)
		}
	}
	s := Link(parts(t, 10, logs, spans), Options{IDs: true}).Summarize(0)
	if s.Counting != trace.Decode || s.Requests != 1 || s.Joined != 1 {
		t.Errorf("%d requests at side %d, %d joined: prefill rows are in no total", s.Requests, s.Counting, s.Joined)
	}
}

// TestP55VLLMNodesPassForServers: both nodes write the router's id. What asks
// for one token is the prefill node.
func TestP55VLLMNodesPassForServers(t *testing.T) {
	const id = "cmpl-___prefill_addr_10.0.1.2:21001___decode_addr_10.0.1.3:22001_93923d63113b4b338973f24d19d4bf11-0"
	prefill, decode := server(cells{"request_id": id, "max_tokens": 1, "output_tokens": 1}), server(cells{"request_id": id, "max_tokens": 100, "output_tokens": 64})
	for what, inputs := range map[string][]input{"two logs": {prefill, decode}, "the other order": {decode, prefill}, "one log of both": {server(prefill.rows[0], decode.rows[0])}} {
		l := Link(parts(t, 10, inputs...), Options{IDs: true})
		equal(t, what, groups(l), "d:"+id+"(exact) p:"+id+"(exact)")
	}
	for what, x := range map[string]struct {
		in   input
		want trace.Side
	}{"the prefill node alone": {prefill, trace.Prefill}, "the decode node alone": {decode, trace.Decode}} {
		if l := Link(parts(t, 10, x.in), Options{}); l.Side(0) != x.want {
			t.Errorf("%s: side %d, want %d", what, l.Side(0), x.want)
		}
	}
	// The NIXL connector leaves the client's id as it is.
	l := Link(parts(t, 10, server(cells{"request_id": "chatcmpl-a", "max_tokens": 1}), server(cells{"request_id": "chatcmpl-a", "max_tokens": 100})), Options{IDs: true})
	equal(t, "no address", groups(l), "d:chatcmpl-a(exact) p:chatcmpl-a(exact)")
	// A span and a log line of one server are not two nodes.
	l = Link(parts(t, 10, server(cells{"request_id": "a", "max_tokens": 1}), server(cells{"request_id": "a", "max_tokens": 1})), Options{IDs: true})
	equal(t, "one token asked for", groups(l), "s:a(exact) s:a(exact)")
	if l.Role(0) != Counts || l.Role(1) != Repeats {
		t.Errorf("roles %d and %d: a request is counted once", l.Role(0), l.Role(1))
	}
}

// TestP58PositionsAreNoIDs: request 0 of a benchmark's result is not the request
// that a server calls 0. It is the one that a server calls bench-…-0, where the
// server saw one run of the client.
func TestP58PositionsAreNoIDs(t *testing.T) {
	result := func(lengths ...int) input {
		in := input{trace.RunMeta{Side: trace.Client, Positions: true}, nil}
		for i, n := range lengths {
			in.rows = append(in.rows, cells{"request_id": strconv.Itoa(i), "output_tokens": n})
		}
		return in
	}
	log := func(n int, names ...string) input {
		in := server()
		for _, name := range names {
			in.rows = append(in.rows, cells{"request_id": name, "output_tokens": n})
		}
		return in
	}
	bench := func(i int) string { return fmt.Sprintf("chatcmpl-bench-1a2b3c4d-%d", i) }
	const joined = "c:(position) s:chatcmpl-bench-1a2b3c4d-0(position); c:(position) s:chatcmpl-bench-1a2b3c4d-1(position)"
	for _, x := range []struct {
		what      string
		inputs    []input
		want, why string
	}{
		{"one run", []input{result(9, 9), log(9, bench(1), bench(0))}, joined, ""},
		{"the server says nothing of lengths", []input{result(9, 9), server(ids(bench(1), bench(0))...)}, joined, ""},
		{"random ids", []input{result(9, 9), log(9, "0", "1")}, "", "no_id"},
		{"two runs", []input{result(9, 9), log(9, bench(0), "chatcmpl-bench-00000000-1")}, "", "several"},
		{"two results", []input{result(9, 9), result(9), log(9, bench(0))}, "", "several"},
		{"the requests of another run", []input{result(9, 9), log(8, bench(0), bench(1))}, "", "other"},
	} {
		l := Link(parts(t, 10, x.inputs...), Options{IDs: true})
		equal(t, x.what, groups(l), x.want)
		if s := l.Summarize(0); s.Benchmark != x.why {
			t.Errorf("%s: not joined because of %q, want %q", x.what, s.Benchmark, x.why)
		}
	}
}

// TestRoles: a run is counted at its outermost side, each request once.
func TestRoles(t *testing.T) {
	l := Link(parts(t, 2,
		client(ids("a", "b", "c")...),                       // rows 0 to 2
		server(ids("a", "b", "warm-up")...),                 // 3 to 5
		input{trace.RunMeta{Side: trace.Engine}, ids("a")}), // 6
		Options{IDs: true})
	var roles []Role
	for r := range l.n {
		roles = append(roles, l.Role(r))
	}
	if want := []Role{Counts, Counts, Counts, Linked, Linked, Apart, Linked}; !slices.Equal(roles, want) {
		t.Errorf("roles %d, want %d", roles, want)
	}
	if l.Lead(6) != 0 || l.Lead(5) != 5 {
		t.Errorf("the engine's row belongs to %d, the warm-up to %d", l.Lead(6), l.Lead(5))
	}
	s := l.Summarize(0)
	if s.Requests != 3 || s.Joined != 2 || len(s.Ends) != 3 {
		t.Fatalf("%+v", s)
	}
	for i, want := range []struct {
		n         int64
		unmatched []string
	}{{3, []string{"c"}}, {3, []string{"warm-up"}}, {1, nil}} {
		if e := s.Ends[i]; e.Requests != want.n || e.Unmatched.N != int64(len(want.unmatched)) || !slices.Equal(e.Unmatched.First, want.unmatched) {
			t.Errorf("end %d: %+v", i, e)
		}
	}
	pairs := map[[2]int]int64{}
	for _, p := range s.Pairs {
		pairs[[2]int{p.A, p.B}] = p.Joined
	}
	if len(pairs) != 3 || pairs[[2]int{0, 1}] != 2 || pairs[[2]int{0, 2}] != 1 || pairs[[2]int{1, 2}] != 1 {
		t.Errorf("pairs %v", pairs)
	}
}

// TestCutsDoNotMatter: links are the same however rows are cut into batches.
func TestCutsDoNotMatter(t *testing.T) {
	var a, b, c []cells
	for i := range 200 {
		a = append(a, cells{"request_id": fmt.Sprintf("r%d", i*7%200)})
		b = append(b, cells{"request_id": fmt.Sprintf("chatcmpl-r%d", i*3%211)})
		c = append(c, cells{"request_id": fmt.Sprintf("chatcmpl-r%d-%08x", i*11%223, i)})
	}
	want := ""
	for _, size := range []int{1000, 64, 7, 1} {
		l := Link(parts(t, size, client(a...), server(b...), input{trace.RunMeta{Side: trace.Engine}, c}), Options{IDs: true})
		got := groups(l) + fmt.Sprintf("%+v", l.Summarize(0))
		if want == "" {
			want = got
		}
		equal(t, fmt.Sprintf("batches of %d", size), got, want)
	}
	if n := strings.Count(want, "c:r"); n < 180 {
		t.Errorf("%d requests are joined", n)
	}
}

// TestHugeFamily: a name that thousands of rows would have is refused without
// looking at every two of them.
func TestHugeFamily(t *testing.T) {
	a, b := ids("x"), []cells(nil)
	for i := range 9000 {
		b = append(b, cells{"request_id": fmt.Sprintf("cmpl-x-%d", i)})
	}
	l := Link(parts(t, 4096, client(a...), server(b...)), Options{IDs: true})
	if got := groups(l); got != "" {
		t.Errorf("joined %s", got[:min(len(got), 200)])
	}
	if s := l.Summarize(0); s.Ambiguous.N != 1 || s.Ends[1].Unmatched.N != 9000 || len(s.Ends[1].Unmatched.First) != shown {
		t.Errorf("%+v", s)
	}
}
