package linelog

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"strings"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// The values of the test's table.
const (
	tps = iota
	reqs
	share
	wait
	rates
	idle
	ident
	limit
	node
	method
	path
	status
	sent
)

func testTable() *Table {
	return (&Table{
		Slots: []Slot{
			tps:    {Name: "tps", Type: Float, Max: 1e8},
			reqs:   {Name: "reqs", Type: Int},
			share:  {Name: "share", Type: Ratio},
			wait:   {Name: "wait", Type: Millis},
			rates:  {Name: "rates", Type: List},
			idle:   {Name: "idle", Type: Flag},
			ident:  {Name: "id", Type: Word},
			limit:  {Name: "limit", Type: Int},
			node:   {Name: "node", Type: Int},
			method: {Name: "method", Type: Text},
			path:   {Name: "path", Type: Text},
			status: {Name: "status", Type: Int},
			sent:   {Name: "sent", Type: Nanos},
		},
		Heads: []Head{
			{Name: "new", Before: "%L ", After: " [%F] "},
			{Name: "old", Before: "%L ", After: " %F] "},
			{Name: "ranks", Before: "[", After: "%R] ", Dateless: true},
			{Name: "gateway", After: " %L ", Peek: "span{", UTC: true},
		},
		Leads: []string{"Node {node}: "},
		Kinds: []Kind{
			{Name: "load", Start: []string{"Rate: "}, Anywhere: true, Whole: true, Open: true, Need: []int{tps, reqs},
				Fields: []Field{{"Rate", tps}, {"Running", reqs}, {"usage", share}, {"took", wait}, {"Per-position", rates}, {"idle", idle}, {"reqs", reqs}, {"sent", sent}}},
			{Name: "request", Start: []string{"Got {id}: "}, Fields: []Field{{"prompt", Payload}, {"max", limit}}, Need: []int{ident}},
			{Name: "end", Start: []string{"End {id}.$"}, Need: []int{ident}},
			{Name: "object", Start: []string{"Object: "}, Bare: true, Rest: true},
			{Name: "span", Start: []string{"span"}, Rest: true},
			{Name: "gone", Start: []string{"Lost "}, Use: NotUsed, Unused: Problem{Code: "unused_lost", Msg: "lost"}},
			{Name: "start", Start: []string{"Begin"}, Use: Noise},
			AccessKind,
		},
	}).Compile()
}

// collect is a fold that writes down its records. They become no rows.
type collect struct {
	t   *Table
	out []string
}

func (c *collect) Record(r *Record) *Problem {
	var b strings.Builder
	fmt.Fprintf(&b, "%s@%d", r.Kind.Name, r.Offset)
	if r.Timed {
		at := time.Unix(0, r.T).UTC()
		fmt.Fprintf(&b, " %s/%d", at.Format("2006-01-02T15:04:05.999999999"), r.Resolution)
	}
	for _, v := range r.Values {
		switch {
		case v.Slot == Unknown:
			fmt.Fprintf(&b, " ?%s", v.Text)
		case c.t.Slots[v.Slot].Type >= Text:
			fmt.Fprintf(&b, " %s=%s", c.t.Slots[v.Slot].Name, v.Text)
		case c.t.Slots[v.Slot].Type == Float || c.t.Slots[v.Slot].Type == Ratio:
			fmt.Fprintf(&b, " %s=%v", c.t.Slots[v.Slot].Name, v.Num)
		default:
			fmt.Fprintf(&b, " %s=%d", c.t.Slots[v.Slot].Name, v.Int)
		}
	}
	if r.Process.PID != 0 || len(r.Process.Name) > 0 {
		fmt.Fprintf(&b, " (%s %d)", r.Process.Name, r.Process.PID)
	}
	if len(r.Ranks) > 0 {
		fmt.Fprintf(&b, " <%s>", r.Ranks)
	}
	if r.Object != nil && r.Kind.Name == "end" {
		fmt.Fprintf(&b, " {%d}", len(r.Object))
	}
	if r.Kind.Rest {
		fmt.Fprintf(&b, " +%d", len(r.Message))
	}
	c.out = append(c.out, b.String())
	return nil
}

func (c *collect) Batch(bool) *trace.Batch { return nil }
func (c *collect) End()                    {}

// result is what reading a text gives.
type result struct {
	records []string
	account formats.Account
	diags   map[string]int64
	first   map[string]int64 // offsets of diags
	meta    *trace.RunMeta
	msgs    map[string]string
}

func read(t *testing.T, src formats.Source, opt formats.Options) result {
	t.Helper()
	table := testTable()
	meta := &trace.RunMeta{}
	c := &collect{t: table}
	r, err := Open(context.Background(), src, formats.Whole, opt, table, meta, func(*Log) Fold { return c })
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for r.Next() {
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	res := result{c.out, r.Account(), make(map[string]int64), make(map[string]int64), meta, make(map[string]string)}
	for _, d := range r.Diags().All() {
		res.diags[d.Code], res.first[d.Code], res.msgs[d.Code] = d.Count, d.Offset, d.Msg
	}
	if a := res.account; a.Parsed+a.Diagnosed+a.Noise != a.Total || min(a.Parsed, a.Diagnosed, a.Noise) < 0 {
		t.Errorf("the account does not add up: %+v", a)
	}
	return res
}

// in2026 gives stamps without a year one.
var in2026 = formats.Options{Workers: 1, Year: 2026, TZ: time.UTC}

// records checks the records of a text, without offset and time.
func records(t *testing.T, text string, want ...string) result {
	t.Helper()
	res := read(t, source.FromBytes("x", []byte(text)), in2026)
	var got []string
	for _, r := range res.records {
		name, rest, _ := strings.Cut(r, "@")
		_, rest, _ = strings.Cut(rest, " ")
		if strings.HasPrefix(rest, "20") {
			_, rest, _ = strings.Cut(rest, " ")
		}
		got = append(got, strings.TrimRight(name+" "+rest, " "))
	}
	if g, w := strings.Join(got, "\n"), strings.Join(want, "\n"); g != w {
		t.Errorf("%q:\n got %s\nwant %s", text, g, w)
	}
	return res
}

const plainLoad = "Node 003: Rate: 12.5 tokens/s, Running: 4 reqs, usage: 58.0%"

func TestHeads(t *testing.T) {
	const want = "load node=3 tps=12.5 reqs=4 share=0.58"
	f := func(before, suffix string) {
		t.Helper()
		res := records(t, before+plainLoad+"\n", want+suffix)
		if len(res.records) == 1 && !strings.Contains(res.records[0], "2026-03-01T09:00:00") {
			t.Errorf("%q: the time is not read: %s", before, res.records[0])
		}
	}
	f("INFO 03-01 09:00:00 loggers.py:80] ", "")
	f("INFO 03-01 09:00:00 [loggers.py:80] ", "")
	f("INFO 03-01 09:00:00 [v1/engine/core.py:359] ", "")
	f("WARNING  03-01 09:00:00 [x.py:1] ", "")
	f("my-prefix INFO 03-01 09:00:00 [x.py:1] ", "")
	f("prefixINFO 03-01 09:00:00 [x.py:1] ", "")
	f("(EngineCore_DP1 pid=177) INFO 03-01 09:00:00 [x.py:1] ", " (EngineCore_DP1 177)")
	f("(VllmWorker rank=0 pid=9) INFO 03-01 09:00:00 [x.py:1] ", " (VllmWorker 9)")
	f("(pid=41, ip=10.0.0.1) INFO 03-01 09:00:00 [x.py:1] ", " ( 41)")
	f("\x1b[36m(RayWorker pid=7)\x1b[0m INFO 03-01 09:00:00 [x.py:1] ", " (RayWorker 7)")
	f("[2026-03-01 09:00:00] ", "")
	f("[2026-03-01 09:00:00 DP1 TP0 EP0] ", " < DP1 TP0 EP0>")
	f("[2026-03-01 09:00:00.123 PP0 ATTN_CP3] ", " < PP0 ATTN_CP3>")
	f("2026-03-01 09:00:00,014 INFO vllm.v1.metrics.loggers: ", "")
	f("2026-03-01 09:00:00,014 - vllm - INFO - ", "")
	f("2026-03-01 09:00:00,014 - INFO - x.py:12 - flashinfer.jit: ", "")
	f("[2026-03-01 09:00:00,014] INFO: ", "")
	f("2026-03-01 09:00:00.014 | INFO | vllm.engine:log:12 - ", "")
	// Behind what others put in front.
	f("2026-03-01T09:00:00.5Z INFO 03-01 09:00:00 [x.py:1] ", "")
	f("2026-03-01T11:00:00.5+02:00 stdout F INFO 03-01 09:00:00 [x.py:1] ", "")
	f("Mar 01 09:00:00 host vllm[123]: INFO 03-01 09:00:00 [x.py:1] ", "")
	f("1779264164496\t2026-03-01T09:00:00.496Z\t[2026-03-01 09:00:00] ", "")
	f("vllm-1  | INFO 03-01 09:00:00 [x.py:1] ", "")
	f("[pod/x/vllm] INFO 03-01 09:00:00 [x.py:1] ", "")
	f("Warmup: 100%|██████████| 2/2 [00:01<00:00,  1.33it/s]INFO 03-01 09:00:00 [x.py:1] ", "")
	f("\rProcessed prompts:  50%|█| 1/2 [00:01<00:00]\rProcessed prompts: 100%|█| 2/2 [00:02<00:00] INFO 03-01 09:00:00 [x.py:1] ", "")
	f("  5%|█▊ | 5/100 [00:01<00:19]\x1b[A[2026-03-01 09:00:00 TP0] ", " < TP0>")
	// JSON loggers.
	json := func(before, after string) {
		t.Helper()
		records(t, before+plainLoad+after+"\n", want)
	}
	json(`{"asctime": "2026-03-01 09:00:00,123", "levelname": "INFO", "name": "vllm.v1", "message": "`, `"}`)
	json(`{"message": "`, `", "timestamp": "2026-03-01T09:00:00Z"}`)
	json(`{"a": {"b": [1, "}"]}, "ts": 1772355600.25, "msg": "\u001b[32m`, `\n"}`)
	json(`{"message": "INFO 03-01 09:00:00 [x.py:1] `, `\n"}`)
	// What collects logs.
	json(`{"__REALTIME_TIMESTAMP": "1772355600123456", "_PID": "12", "MESSAGE": "`, `", "PRIORITY": "6"}`)
	json(`{"labels": {"app": "x"}, "line": "`, `", "timestamp": "2026-03-01T09:00:00.5Z"}`)
	json(`{"textPayload": "`, `", "timestamp": "2026-03-01T09:00:00.5Z"}`)
	json(`{"@timestamp": "2026-03-01T09:00:00Z", "@message": "`, `"}`)
	for _, name := range []string{"content", "text", "body", "Body", "log_line"} { // of which a message is known by itself
		json(`{"`+name+`": "`, `", "timestamp": "2026-03-01T09:00:00Z"}`)
	}
	json(`{"timeUnixNano": "1772355600123456789", "body": {"stringValue": "`, `"}}`)
	json(`{"resourceLogs": [{"scopeLogs": [{"logRecords": [{"body": {"stringValue": "`, `"}}]}]}]}`)
	json(`[{"message": "`, `"}]`)
	json("[\n {\n  \"message\": \"", "\",\n  \"level\": 7\n }\n]")
	json(`2026-03-01T09:00:00.5Z {"severity": "INFO", "message": "`, `"}`)
	f(`(APIServer pid=1) {"message": "INFO 03-01 09:00:00 [x.py:1] `, " (APIServer 1)")
}

// TestP41 reads coloured heads as those without colour.
func TestP41(t *testing.T) {
	const want = "load node=3 tps=12.5 reqs=4 share=0.58"
	f := func(head, suffix string) {
		t.Helper()
		records(t, head+plainLoad+"\n", want+suffix)
	}
	f("\x1b[32mINFO\x1b[0m \x1b[90m09-30 02:56:46\x1b[0m \x1b[90m[loggers.py:87]\x1b[0m ", "")
	f("\x1b[1;36m(APIServer pid=20)\x1b[0;0m \x1b[32mINFO\x1b[0m \x1b[90m09-30 02:56:46\x1b[0m \x1b[90m[loggers.py:87]\x1b[0m ", " (APIServer 20)")
	f("[1;36m(APIServer pid=20)[0;0m [32mINFO[0m [90m09-30 02:56:46[0m [90m[loggers.py:87][0m ", " (APIServer 20)")
	f("\x1b]8;;file:///x\x1b\\\x1b[32mINFO\x1b[0m 09-30 02:56:46 [loggers.py:87] ", "")
	f("\x1b[32;20m[2026-02-05 14:22:33,123] INFO:\x1b[0m ", "")
	f("\x1b[2m2026-02-05T14:22:33.123Z\x1b[0m \x1b[32mINFO\x1b[0m 09-30 02:56:46 [loggers.py:87] ", "")
	// In the message they stay.
	res := records(t, "INFO 09-30 02:56:46 [x.py:1] Got a\x1b[31mb[0m: max=3\n", "request id=a\x1b[31mb[0m limit=3")
	if res.account.Parsed != 1 {
		t.Errorf("account %+v", res.account)
	}
}

// full checks whole records, with offset and time.
func full(t *testing.T, opt formats.Options, text string, want ...string) {
	t.Helper()
	if res := read(t, source.FromBytes("x.log", []byte(text)), opt); fmt.Sprintf("%q", res.records) != fmt.Sprintf("%q", want) {
		t.Errorf("%q:\n got %q\nwant %q", text, res.records, want)
	}
}

// TestRest: what a record that goes on to the end of its line holds is no record,
// with or without a head.
func TestRest(t *testing.T) {
	const head, inside = "[2026-03-01 09:00:00] ", `Object: {'text': '[2026-03-01 09:00:00] Rate: 1, Running: 2'}`
	full(t, in2026, head+inside+"\n"+inside+"\n"+head+"Rate: 1, Running: 2\n",
		fmt.Sprintf("object@0 2026-03-01T09:00:00/1000000000 +%d", len(inside)),
		fmt.Sprintf("object@%d +%d", len(head+inside)+1, len(inside)),
		fmt.Sprintf("load@%d 2026-03-01T09:00:00/1000000000 tps=1 reqs=2", len(head+inside+inside)+2))
}

// TestObjects: the record of a JSON logger is at hand as a whole, also where a head
// of another logger stands before it; its own stamp counts.
func TestObjects(t *testing.T) {
	const head = "[2026-03-01 09:00:00 TP0] "
	const object = `{"timestamp": "2026-03-01T09:00:00.250", "event": "End r1.", "obj": {"text": "[2026-03-01 09:00:00] Rate: 1, Running: 2"}}`
	full(t, in2026, head+object+"\n"+object+"\n",
		fmt.Sprintf("end@0 2026-03-01T09:00:00.25/1000000 id=r1 < TP0> {%d}", len(object)),
		fmt.Sprintf("end@%d 2026-03-01T09:00:00.25/1000000 id=r1 {%d}", len(head+object)+1, len(object)))
}

// TestHeadInUTC: a head may be in UTC whatever the zone of the other lines, and be
// told by what follows it.
func TestHeadInUTC(t *testing.T) {
	opt := in2026
	opt.TZ = time.FixedZone("east", 3600)
	const span = "2026-03-01 09:00:00  INFO span{a=1}: x"
	full(t, opt, span+"\n[2026-03-01 09:00:00] Rate: 1, Running: 2\n",
		fmt.Sprintf("span@0 2026-03-01T09:00:00/1000000000 +%d", len("span{a=1}: x")),
		fmt.Sprintf("load@%d 2026-03-01T08:00:00/1000000000 tps=1 reqs=2", len(span)+1))
}

func TestPairs(t *testing.T) {
	f := func(msg, want string) {
		t.Helper()
		records(t, "INFO 03-01 09:00:00 [x.py:1] "+msg+"\n", want)
	}
	f("Rate: 1 tokens/s, Running: 2 reqs", "load tps=1 reqs=2")
	f("Rate: 1.5, Running: 2 reqs.", "load tps=1.5 reqs=2")
	f("Rate: 1.5 tokens/s, Running: 2 reqs, New key: 7 things", "load tps=1.5 reqs=2 ?New key")
	f("Rate: 0.0, usage: 0.25, Running: 2", "load tps=0 share=0.25 reqs=2")
	f("Rate: 1, Per-position: 0.923, 0.615, 0.385, Running: 2, usage: nan%", "load tps=1 rates=0.923, 0.615, 0.385 reqs=2")
	f("Rate: 1, 12 reqs, took: 1115.64 ms (idle), usage: 5%", "load tps=1 reqs=12 wait=1115640000 idle=1 share=0.05")
	f("Rate: 1, 12 reqs, took=2.5s; usage=5%,", "load tps=1 reqs=12 wait=2500000000 share=0.05")
	f("Rate: 1, 12 reqs, took(1.20ms) idle=True, sent=412345.678", "load tps=1 reqs=12 wait=1200000 idle=1 sent=412345678000000")
	f("Rate: 1, 12 reqs, took=80us, idle: False", "load tps=1 reqs=12 wait=80000 idle=0")
	f("Rate: 1, 12 reqs, hit: GPU: 1.0%, CPU: 2.0%", "load tps=1 reqs=12 ?hit: GPU ?CPU")
	f("Rate: 1, 12 reqs, speed (MB/s)=3.4, flag, usage: None", "load tps=1 reqs=12 ?speed (MB/s)")
	f("Rate: 1, -3 reqs", "load tps=1 reqs=-3")
	f("Got a-0: prompt: 'it\\'s, max=9', params: P(n=1, stop=['\\n', ', max=8'], max=16), ids: [1, 2, 3]", "request id=a-0 limit=16")
	f(`Got a-0: prompt: "say 'hi', max=9", max=16, lora: Lora(x=1)`, "request id=a-0 limit=16")
	f("Got a-0: prompt: None, max=16", "request id=a-0 limit=16")
	f("End a.b.c.", "end id=a.b.c")
}

// TestTorn checks records that are not whole.
func TestTorn(t *testing.T) {
	const head = "INFO 03-01 09:00:00 [x.py:1] "
	f := func(text, code string, lines int64, want ...string) {
		t.Helper()
		res := records(t, text, want...)
		if code != "" && res.diags[code] != 1 {
			t.Errorf("%q: diags %v, want one %s", text, res.diags, code)
		}
		if res.account.Total != lines {
			t.Errorf("%q: %d lines, want %d", text, res.account.Total, lines)
		}
	}
	const whole = "load tps=1 reqs=2"
	// Several records on a line, the first torn by the second.
	f(head+"Rate: 1, Running: 2 reqs(A pid=3) "+head+"Rate: 1, Running: 2\n", "", 1, whole, whole+" (A 3)")
	// A number that ends there may be the beginning of one: 2 of 27.
	f(head+"Rate: 1, Running: 2(A pid=3) "+head+"Rate: 1, Running: 2\n", "incomplete_line", 1, whole+" (A 3)")
	f(head+"Rate: 1, Running: 2, usage: 0."+head+"Rate: 1, Running: 2\n", "", 1, whole, whole)
	f(head+"Rate: 1, Running: 2, usage: 5"+head+"Rate: 1, Running: 2\n", "", 1, whole, whole)
	f(head+"Rate: 1, Runn"+head+"Rate: 1, Running: 2\n", "incomplete_line", 1, whole)
	f(head+"Rat"+head+"Rate: 1, Running: 2\n", "", 1, whole)
	f(head+"Rate:"+head+"Rate: 1, Running: 2\n", "incomplete_line", 1, whole)
	f(head+"Rate", "truncated_line", 1)
	f(head+"End a."+head+"End b.\n", "", 1, "end id=a", "end id=b")
	// The last number of an unfinished line may be cut.
	f(head+"Rate: 1, Running: 2, usage: 5", "", 1, whole)
	f(head+"Rate: 1, Running: 2", "truncated_line", 1)
	f(head+"Rate: 1, Running: 2, usage: 0.", "", 1, whole)
	f(head+"Rate: 1, Running: 2\n", "", 1, whole)
	// What no server prints.
	f(head+"Rate: 9e9 tokens/s, Running: 2\n", "suspicious_value", 1)
	f(head+"Rate: 999999999999.0 tokens/s, Running: 2\n", "suspicious_value", 1)
	f(head+"Rate: 1, Running: 2.5\n", "suspicious_value", 1)
	f(head+"Rate: 1, Running: 99999999999999999999\n", "suspicious_value", 1)
	f(head+"Lost 3\n", "unused_lost", 1)
}

// TestAccount counts every line once.
func TestAccount(t *testing.T) {
	const head = "INFO 03-01 09:00:00 [x.py:1] "
	text := head + "Rate: 1, Running: 2 reqs" + head + "Rate: 1, Running: 2\n" + // parsed, two records
		head + "something else\n" + head + "Begin of it\r\n" + // message, start
		"(A pid=1) \r\n" + "\n" + // blank
		"INFO:     127.0.0.1:38310 - \"POST /v1 HTTP/1.1\" 200 OK\n" + "[2026-03-01 08:30:21] INFO:     127.0.0.1:1 - \"GET /x HTTP/1.1\" 503\n" + // access
		"INFO:     Started server process [1]\n" +
		"Loading:  50%|█| 1/2 [00:01]\n" + "  indented\n" + "+====+\n" +
		"Traceback (most recent call last):\n" + "ValueError: no\n" +
		head + "Lost it\n" +
		"stranger one\n" + "Rate: 3, Running: 4 at the start of a bare line\n"
	res := records(t, text, "load tps=1 reqs=2", "load tps=1 reqs=2", "access method=POST path=/v1 status=200", "access method=GET path=/x status=503", "load tps=3 reqs=4")
	want := map[string]int64{"load": 3, "message": 1, "start": 1, "blank": 2, "access": 2, "uvicorn": 1, "progress": 1, "furniture": 2, "traceback": 2}
	if fmt.Sprint(res.account.Kinds) != fmt.Sprint(want) {
		t.Errorf("kinds %v\n want %v", res.account.Kinds, want)
	}
	if a := res.account; a.Total != 16 || a.Parsed != 4 || a.Diagnosed != 2 || a.Noise != 10 {
		t.Errorf("account %+v", a)
	}
	if res.diags["unrecognised_line"] != 1 || res.first["unrecognised_line"] != int64(strings.Index(text, "stranger")) {
		t.Errorf("diags %v at %v", res.diags, res.first)
	}
}

// TestExamples shows the layout of unknown lines and none of their words but the
// first.
func TestExamples(t *testing.T) {
	f := func(line, want string) {
		t.Helper()
		res := read(t, source.FromBytes("x", []byte(line+"\n")), in2026)
		if msg := res.msgs["unrecognised_line"]; !strings.HasSuffix(msg, ": "+want) {
			t.Errorf("%q gives %q, want %q", line, msg, want)
		}
	}
	f("Collecting vllm==0.1", "Collecting x==0.0")
	f("my secret is 'hunter2' and \"more", "my x x '…' x '…'")
	f("Größe 12", "x 0")
	f("a\x00\x1bb", "a[0m"[:1]+"x")
	f(strings.Repeat("a ", 100), "a "+strings.Repeat("x ", 35))
}

// randomLog makes a log of many shapes.
func randomLog(r *rand.Rand, lines int) string {
	var b strings.Builder
	at := time.Date(2025, 12, 31, 23, 0, 0, 0, time.UTC)
	end := []string{"\n", "\n", "\n", "\r\n", ""}
	for i := range lines {
		at = at.Add(time.Duration(r.IntN(60000)) * time.Millisecond)
		head := []string{
			at.Format("INFO 01-02 15:04:05 [x.py:1] "), at.Format("(A pid=3) INFO 01-02 15:04:05 x.py:1] "),
			at.Format("[2006-01-02 15:04:05 TP0] "), at.Format("2006-01-02 15:04:05,000 INFO a.b: "), "",
		}[r.IntN(5)]
		msg := []string{
			fmt.Sprintf("Node %03d: Rate: %d.0, Running: %d", r.IntN(9), i, r.IntN(100)), fmt.Sprintf("Got r%d: prompt: 'x\\'y Rate: 1, Running: 2', max=7", i), fmt.Sprintf("End r%d.", i),
			"Got open: prompt: 'never ends", "other", "stranger " + strings.Repeat("z", r.IntN(40)), "Rate: 9e9, Running: 1", "Rate: 1", "Lost", "", "50%|█|",
			"INFO:     1.2.3.4:5 - \"GET / HTTP/1.1\" 200 OK",
		}[r.IntN(12)]
		b.WriteString(head + msg + end[r.IntN(len(end))])
	}
	return b.String()
}

// piped is a source without random access.
type piped struct{ formats.Source }

func (piped) At() io.ReaderAt { return nil }

// TestCuts: neither blocks nor goroutines change a result.
func TestCuts(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for range 40 {
		text := []byte(randomLog(r, 120))
		src := source.FromBytes("x", text)
		want := read(t, src, formats.Options{Workers: 1})
		for range 6 {
			opt := formats.Options{Workers: 1 + r.IntN(4), Block: 1 + r.IntN(1<<r.IntN(13))}
			var from formats.Source = src
			if r.IntN(3) == 0 {
				from = piped{src}
			}
			got := read(t, from, opt)
			if g, w := fmt.Sprint(got), fmt.Sprint(want); strings.ReplaceAll(g, fmt.Sprintf("%p", got.meta), "") != strings.ReplaceAll(w, fmt.Sprintf("%p", want.meta), "") {
				t.Fatalf("%+v:\n got %s\nwant %s", opt, g, w)
			}
			if g, w := fmt.Sprint(*got.meta), fmt.Sprint(*want.meta); g != w {
				t.Fatalf("%+v: run %s, want %s", opt, g, w)
			}
		}
	}
}

func FuzzScan(f *testing.F) {
	f.Add([]byte("INFO 03-01 09:00:00 [x.py:1] " + plainLoad + "\n\x1b[32mINFO\x1b[0m \x1b[90m09-30 02:56:46\x1b[0m \x1b[90m[l.py:87]\x1b[0m Got a: prompt: 'x"))
	f.Add([]byte(`{"asctime": "2026-03-01 09:00:00,123", "message": "Node 1: Rate: 1, Running: 2, Per-position: 1, 2"}`))
	f.Add([]byte(randomLog(rand.New(rand.NewPCG(1, 1)), 30)))
	f.Add([]byte(similar(rand.New(rand.NewPCG(1, 1)), 30)))
	f.Fuzz(func(t *testing.T, text []byte) {
		sameScan(t, string(text))
		src := source.FromBytes("x", text)
		a := read(t, src, formats.Options{Workers: 1})
		b := read(t, src, formats.Options{Workers: 3, Block: 7})
		if fmt.Sprint(a.records, a.account, a.diags) != fmt.Sprint(b.records, b.account, b.diags) {
			t.Errorf("blocks change the result")
		}
	})
}
