package sse

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/source"
)

// read returns a line per row: its id and choice, how it ended, times in ms from
// its sending on (or from its first event, where that is not known), tokens, and
// gaps in ms; and the codes of the diagnostics.
func read(t *testing.T, text string) (rows, codes string, run *trace.RunMeta) {
	t.Helper()
	r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var out []string
	for r.Next() {
		for i := range r.Batch().Rows {
			out = append(out, line(r.Batch(), i))
		}
	}
	if r.Err() != nil {
		t.Fatal(r.Err())
	}
	if a := r.Account(); a.Total != a.Parsed+a.Noise+a.Diagnosed || a.Total != int64(len(strings.Split(strings.TrimSuffix(text, "\n"), "\n"))) {
		t.Errorf("the account does not add up: %+v", a)
	}
	for _, d := range r.Diags().All() {
		codes += fmt.Sprintf("%s %d,", d.Code, d.Count)
	}
	return strings.Join(out, "/"), codes, r.Runs()[0]
}

func line(b *trace.Batch, i int) string {
	code, _ := b.Dicts(trace.StatusCol).At(i)
	out := b.Dicts(trace.StatusCol).Values[code]
	if v, ok := b.Ints(trace.Choice).At(i); ok {
		out = fmt.Sprintf("choice %d %s", v, out)
	}
	if id, ok := b.Texts(trace.RequestID).At(i); ok {
		out = string(id) + " " + out
	}
	zero, ok := b.Ints(trace.Sent).At(i)
	if !ok {
		zero, _ = b.Ints(trace.FirstEvent).At(i)
		out += " unsent"
	}
	for _, c := range []struct {
		name string
		col  trace.Col
	}{{"event", trace.FirstEvent}, {"first", trace.FirstToken}, {"answer", trace.FirstAnswerToken}, {"last", trace.LastToken}, {"end", trace.Finished}} {
		if v, there := b.Ints(c.col).At(i); there {
			out += fmt.Sprintf(" %s=%v", c.name, float64(v-zero)/1e6)
		}
	}
	for _, c := range []struct {
		name string
		col  trace.Col
	}{{"in", trace.PromptTokens}, {"out", trace.OutputTokens}, {"thought", trace.ReasoningTokens}, {"cached", trace.CachedTokens}} {
		if v, there := b.Ints(c.col).At(i); there {
			out += fmt.Sprintf(" %s=%d", c.name, v)
		}
	}
	if v, there := b.Lists(trace.ChunkGaps).At(i); there {
		out += " gaps=["
		for k, g := range v {
			out += strings.Repeat(" ", min(k, 1)) + fmt.Sprint(float64(g)/1e6)
		}
		out += "]"
	}
	if v, there := b.Lists(trace.ChunkTokens).At(i); there {
		out += fmt.Sprintf(" tokens=%d", v)
	}
	if v, there := b.Dicts(trace.ErrorClass).At(i); there {
		out += " " + b.Dicts(trace.ErrorClass).Values[v]
	}
	return out
}

// event is what arrives at a time in ms.
type event struct {
	at   float64
	kind string // send, or a line of the stream
}

// events makes the events of one request from the notation of the cases: +k@t is a
// chunk of k tokens at t, R+k@t one of reasoning, role t an event with a role and
// no text, usage t (completion=n, reasoning=n) and done t (finish_reason=x).
func events(t *testing.T, id, notation string) (out []event) {
	t.Helper()
	chunk := func(delta, more string) string {
		return `data: {"id":"` + id + `","object":"chat.completion.chunk","model":"m","choices":[{"index":0,"delta":` + delta + `,"finish_reason":null}]` + more + `}`
	}
	number := regexp.MustCompile(`[0-9.]+`)
	for _, item := range strings.Split(notation, "|") {
		item = strings.TrimSpace(item)
		word, rest, _ := strings.Cut(item, " ")
		at, _ := strconv.ParseFloat(number.FindString(rest), 64)
		value := func(name, missing string) string {
			if m := regexp.MustCompile(name + `=(\w+)`).FindStringSubmatch(rest); m != nil {
				return m[1]
			}
			return missing
		}
		switch {
		case word == "send":
			out = append(out, event{at, "send"})
		case word == "role":
			out = append(out, event{at, chunk(`{"role":"assistant","content":""}`, "")})
		case word == "ping":
			out = append(out, event{at, ": ping"})
		case word == "error":
			out = append(out, event{at, "event: error"}, event{at, `data: {"error":{"message":"secret","type":"overloaded_error"}}`})
		case word == "usage":
			out = append(out, event{at, `data: {"id":"` + id + `","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":9,"completion_tokens":` + value("completion", "0") +
				`,"completion_tokens_details":{"reasoning_tokens":` + value("reasoning", "0") + `}}}`})
		case word == "done":
			if r := value("finish_reason", "stop"); r != "none" {
				out = append(out, event{at, `data: {"id":"` + id + `","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"` + r + `"}]}`})
			}
			out = append(out, event{at, "data: [DONE]"})
		default:
			text, when, _ := strings.Cut(item, "@")
			at, err := strconv.ParseFloat(when, 64)
			if err != nil {
				t.Fatalf("%q", item)
			}
			k, _ := strconv.Atoi(strings.TrimPrefix(strings.TrimPrefix(text, "R"), "+"))
			field := "content"
			if text[0] == 'R' {
				field = "reasoning_content"
			}
			out = append(out, event{at, chunk(`{"`+field+`":"`+strings.Repeat("w ", k)+`"}`, "")})
		}
	}
	return out
}

// stamped writes events as ts -s does with the output of curl -v, which tells the
// size of what it has received in between.
func stamped(list []event) string {
	var b strings.Builder
	for _, e := range list {
		if e.kind == "send" {
			e.kind = "> POST /v1/chat/completions HTTP/1.1"
		} else {
			fmt.Fprintf(&b, "%.6f { [%d bytes data]\n", e.at/1e3, len(e.kind))
		}
		fmt.Fprintf(&b, "%.6f %s\n%.6f \n", e.at/1e3, e.kind, e.at/1e3)
	}
	return b.String()
}

// scripted writes events as JSON lines.
func scripted(list []event) string {
	var b strings.Builder
	for _, e := range list {
		text, _ := json.Marshal(e.kind)
		if e.kind == "send" {
			fmt.Fprintf(&b, "{\"t_ms\":%v,\"event\":\"send\"}\n", e.at)
		} else {
			fmt.Fprintf(&b, "{\"t_ms\":%v,\"data\":%s}\n", e.at, text)
		}
	}
	return b.String()
}

// traced writes events as curl --trace-time --trace-ascii does, of an answer in
// chunks of HTTP; see dump in curl's src/tool_cb_dbg.c.
func traced(list []event) string {
	var b strings.Builder
	section := func(at float64, name, data string) {
		us := int64(at*1e3) + 36000e6
		fmt.Fprintf(&b, "%02d:%02d:%02d.%06d %s, %d bytes (0x%x)\n", us/3600e6, us/60e6%60, us/1e6%60, us%1e6, name, len(data), len(data))
		for i := 0; i < len(data); i += 64 {
			fmt.Fprintf(&b, "%04x: ", i)
			for c := 0; c < 64 && i+c < len(data); c++ {
				if strings.HasPrefix(data[i+c:], "\r\n") {
					i += c + 2 - 64
					break
				}
				if data[i+c] >= 0x20 && data[i+c] < 0x7f {
					b.WriteByte(data[i+c])
				} else {
					b.WriteByte('.')
				}
				if strings.HasPrefix(data[i+c+1:], "\r\n") {
					i += c + 3 - 64
					break
				}
			}
			b.WriteByte('\n')
		}
	}
	for _, e := range list {
		switch text := e.kind + "\n\n"; e.kind {
		case "send":
			section(e.at, "=> Send header", "POST /v1/chat/completions HTTP/1.1\r\nHost: x\r\n\r\n")
			section(e.at, "=> Send data", `{"stream":true,"data":"data: {}"}`)
		case "event: error":
			section(e.at, "<= Recv data", "d\r\nevent: error\n\r\n")
		default:
			section(e.at, "<= Recv data", fmt.Sprintf("%x\r\n%s\r\n", len(text), text))
		}
	}
	return b.String()
}

// check reads a request of the notation in every way of recording it.
func check(t *testing.T, notation, want string) {
	t.Helper()
	list := events(t, "r1", notation)
	for name, text := range map[string]string{"ts": stamped(list), "script": scripted(list), "curl": traced(list)} {
		if s, why := sniff(&formats.Head{Start: []byte(text)}); s != formats.Sure {
			t.Errorf("%s of %s is not recognised: %s\n%s", name, notation, why, text)
		}
		if got, codes, _ := read(t, text); got != want {
			t.Errorf("%s of %s:\n got %s\nwant %s\n%s\n%s", name, notation, got, want, codes, text)
		}
	}
}

func TestP01RoleChunk(t *testing.T) {
	check(t, "send 0 | role 5 | +1@214 | +1@230 | +1@246 | usage 250 completion=3 | done 250",
		"r1 ok event=5 first=214 answer=214 last=246 end=250 in=9 out=3 thought=0 gaps=[16 16]")
}

func TestP03Reasoning(t *testing.T) {
	notation := "send 0 | role 90"
	for i := range 100 {
		notation += fmt.Sprintf(" | R+1@%d", 100+20*i)
	}
	list := strings.Repeat("20 ", 100)
	check(t, notation+" | +1@2100 | +1@2120 | usage 2121 completion=102, reasoning=100 | done 2122",
		"r1 ok event=90 first=100 answer=2100 last=2120 end=2122 in=9 out=102 thought=100 gaps=["+list+"20]")
	check(t, "send 0 | R+1@100 | R+1@120 | usage 121 completion=2, reasoning=2 | done 122 finish_reason=length",
		"r1 ok event=100 first=100 last=120 end=122 in=9 out=2 thought=2 gaps=[20]")
}

func TestP05NoText(t *testing.T) {
	check(t, "send 0 | usage 2 completion=0 | done 3", "r1 empty event=2 end=3 in=9 out=0 thought=0 gaps=[]")
}

func TestP06EmptyStop(t *testing.T) {
	check(t, "send 0 | usage 49 completion=0 | done 50 finish_reason=stop", "r1 empty event=49 end=50 in=9 out=0 thought=0 gaps=[]")
}

func TestP10OneToken(t *testing.T) {
	check(t, "send 0 | +1@80 | usage 81 completion=1 | done 82", "r1 ok event=80 first=80 answer=80 last=80 end=82 in=9 out=1 thought=0 gaps=[]")
}

func TestP11StreamedError(t *testing.T) {
	check(t, "send 0 | role 10 | error 15 | done 16 finish_reason=none", "r1 failed event=10 end=16 out=0 gaps=[] overloaded_error")
}

func TestP13SeveralTokens(t *testing.T) {
	check(t, "send 0 | +1@100 | +4@130 | +3@160 | usage 161 completion=8 | done 162",
		"r1 ok event=100 first=100 answer=100 last=160 end=162 in=9 out=8 thought=0 gaps=[30 30]")
}

// TestP33NoEnd: an answer that breaks off is open, and keep-alives are no events.
func TestP33NoEnd(t *testing.T) {
	check(t, "send 0 | ping 50 | role 60 | +1@100 | ping 120 | +1@130", "r1 open event=60 first=100 answer=100 last=130 out=2 gaps=[30]")
}

// TestDefinitions is the request on which the tools' definitions differ.
func TestDefinitions(t *testing.T) {
	check(t, "send 0 | role 100 | R+1@120 | +3@150 | +3@180 | +3@210 | usage 260 completion=10, reasoning=1 | done 261",
		"r1 ok event=100 first=120 answer=150 last=210 end=261 in=9 out=10 thought=1 gaps=[30 30 30]")
}

// TestAPIs reads the events of other APIs, worked out by hand.
func TestAPIs(t *testing.T) {
	for name, c := range map[string]struct{ text, want string }{
		"usage of every chunk": {`0.1 data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":"a b","finish_reason":null}],"usage":{"prompt_tokens":4,"completion_tokens":2}}
0.15 data: {"id":"c","object":"text_completion","choices":[{"index":0,"text":" c","finish_reason":"length"}],"usage":{"prompt_tokens":4,"completion_tokens":3}}
0.16 data: [DONE]
`, "c ok event=100 first=100 answer=100 last=150 end=160 in=4 out=3 gaps=[50] tokens=[2 1]"},
		"anthropic": {`0.05 event: message_start
0.05 data: {"type":"message_start","message":{"id":"msg_1","type":"message","model":"claude","usage":{"input_tokens":10,"cache_read_input_tokens":90,"output_tokens":1}}}
0.06 event: ping
0.06 data: {"type": "ping"}
0.1 data: {"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"hm"}}
0.2 data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"Hi"}}
0.23 data: {"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"!"}}
0.24 data: {"type":"message_delta","delta":{"stop_reason":"end_turn"},"usage":{"output_tokens":7}}
0.25 data: {"type":"message_stop"}
`, "msg_1 ok event=50 first=100 answer=200 last=230 end=250 in=100 out=7 cached=90 gaps=[100 30]"},
		"responses": {`0.05 event: response.created
0.05 data: {"type":"response.created","response":{"id":"resp_1","model":"m"}}
0.1 data: {"type":"response.output_text.delta","item_id":"x","delta":"Hi"}
0.13 data: {"type":"response.output_text.delta","item_id":"x","delta":"!"}
0.14 data: {"type":"response.completed","response":{"id":"resp_1","usage":{"input_tokens":5,"input_tokens_details":{"cached_tokens":2},"output_tokens":2,"output_tokens_details":{"reasoning_tokens":0}}}}
`, "resp_1 ok event=50 first=100 answer=100 last=130 end=140 in=5 out=2 thought=0 cached=2 gaps=[30]"},
		"sglang /generate": {`0.1 data: {"text":"a","meta_info":{"id":"s1","finish_reason":null,"prompt_tokens":6,"completion_tokens":1,"cached_tokens":4}}
0.14 data: {"text":"a b c","meta_info":{"id":"s1","finish_reason":null,"prompt_tokens":6,"completion_tokens":3,"cached_tokens":4}}
0.15 data: {"text":"a b c","meta_info":{"id":"s1","finish_reason":{"type":"stop"},"prompt_tokens":6,"completion_tokens":3,"cached_tokens":4}}
0.15 data: [DONE]
`, "s1 ok event=100 first=100 answer=100 last=140 end=150 in=6 out=3 cached=4 gaps=[40] tokens=[1 2]"},
		"vllm /generate": {"0.1 {\"text\":[\"Hello a\"]}\n0.12 {\"text\":[\"Hello a b\"]}\n0.14 {\"text\":[\"Hello a b c\"]}\n",
			"open event=100 first=100 answer=100 last=140 out=3 gaps=[20 20]"},
		"tgi": {`0.1 data:{"index":1,"token":{"id":5,"text":"a","logprob":-0.1,"special":false},"generated_text":null,"details":null}
0.12 data:{"index":2,"token":{"id":6,"text":"b","logprob":-0.1,"special":false},"generated_text":"ab","details":{"finish_reason":"length","generated_tokens":2}}
`, "ok event=100 first=100 answer=100 last=120 end=120 out=2 gaps=[20]"},
		"an error of vLLM": {`0.1 data: {"object":"error","message":"secret","type":"BadRequestError","code":400}
0.1 data: [DONE]
`, "failed event=100 end=100 out=0 gaps=[] stream_error"},
		"a failed response": {`0.1 data: {"type":"response.failed","response":{"id":"r","error":{"code":"server_error","message":"secret"}}}
`, "r failed event=100 end=100 out=0 gaps=[] server_error"},
		"tool calls": {`0.1 data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"id":"t","function":{"name":"f","arguments":""}}]}}]}
0.12 data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"tool_calls":[{"index":0,"function":{"arguments":"{}"}}]},"finish_reason":"tool_calls"}]}
`, "c ok event=100 first=100 answer=100 last=120 end=120 out=2 gaps=[20]"},
		"several choices": {`0.1 data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"a"}}]}
0.11 data: {"id":"c","object":"chat.completion.chunk","choices":[{"index":1,"delta":{"content":"b"}}]}
0.12 data: {"id":"c","object":"chat.completion.chunk","choices":[{"delta":{"content":"a"},"index":0,"finish_reason":"stop"},{"delta":{"content":"b"},"index":1,"finish_reason":"stop"}]}
0.13 data: [DONE]
`, "c choice 0 ok event=100 first=100 answer=100 last=120 end=130 out=2 gaps=[20]/c choice 1 ok event=100 first=110 answer=110 last=120 end=130 out=2 gaps=[10]"},
	} {
		if got, codes, _ := read(t, c.text); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s\n%s", name, got, c.want, codes)
		}
	}
}

// TestClocks: what stamps count from, and whether the sending is known.
func TestClocks(t *testing.T) {
	const a = `data: {"id":"a","object":"text_completion","choices":[{"index":0,"text":"x","finish_reason":null}]}`
	b := strings.ReplaceAll(a, `"a"`, `"b"`)
	const end = "data: [DONE]"
	for name, c := range map[string]struct {
		text, want, codes string
		clock             trace.ClockKind
	}{
		"epoch s":              {"1764428000.5 " + a + "\n1764428000.75 " + a + "\n1764428001 " + end + "\n", "a ok unsent event=0 first=0 answer=0 last=250 end=500 out=2 gaps=[250]", "no_send 1,tokens_from_chunks 1,", trace.Wall},
		"epoch ms":             {"1764428000500 > POST /v1 HTTP/1.1\n1764428000750 " + a + "\n1764428001000 " + end + "\n", "a ok event=250 first=250 answer=250 last=250 end=500 out=1 gaps=[]", "tokens_from_chunks 1,", trace.Wall},
		"dates":                {"[2026-03-01T10:00:00.5Z] > POST /v1 HTTP/1.1\n[2026-03-01T11:00:00.75+01:00] " + a + "\n[2026-03-01 10:00:01 +0000] " + end + "\n", "a ok event=250 first=250 answer=250 last=250 end=500 out=1 gaps=[]", "tokens_from_chunks 1,", trace.Wall},
		"midnight":             {"23:59:59.9 > POST /v1 HTTP/1.1\n00:00:00.1 " + a + "\n00:00:00.2 " + end + "\n", "a ok event=200 first=200 answer=200 last=200 end=300 out=1 gaps=[]", "tokens_from_chunks 1,", trace.RunClock},
		"anew":                 {"0.5 " + a + "\n0.6 " + end + "\n0.4 " + b + "\n0.5 " + end + "\n", "a ok event=500 first=500 answer=500 last=500 end=600 out=1 gaps=[]/b ok event=400 first=400 answer=400 last=400 end=500 out=1 gaps=[]", "tokens_from_chunks 2,", trace.RequestClock},
		"going on":             {"0.5 " + a + "\n0.6 " + end + "\n0.9 " + b + "\n1.0 " + end + "\n", "a ok event=500 first=500 answer=500 last=500 end=600 out=1 gaps=[]/b ok unsent event=0 first=0 answer=0 last=0 end=100 out=1 gaps=[]", "no_send 1,tokens_from_chunks 2,", trace.RequestClock},
		"from the first event": {"0.000000 " + a + "\n0.02 " + a + "\n0.03 " + end + "\n", "a ok unsent event=0 first=0 answer=0 last=20 end=30 out=2 gaps=[20]", "no_send 1,tokens_from_chunks 1,", trace.RequestClock},
		"no answer": {"0.1 > POST /v1 HTTP/1.1\n0.5 > POST /v1 HTTP/1.1\n0.6 " + a + "\n0.7 " + end + "\n0.8 > POST /v1 HTTP/1.1\n",
			"open/a ok event=100 first=100 answer=100 last=100 end=200 out=1 gaps=[]/open", "no_end 2,tokens_from_chunks 1,", trace.RequestClock},
		"interleaved": {"0.1 " + a + "\n0.11 " + b + "\n0.2 " + a + "\n0.22 " + b + "\n", "a open event=100 first=100 answer=100 last=200 out=2 gaps=[100]/b open unsent event=0 first=0 answer=0 last=110 out=2 gaps=[110]", "no_end 2,no_send 1,tokens_from_chunks 2,", trace.RequestClock},
	} {
		got, codes, run := read(t, c.text)
		if got != c.want || codes != c.codes || run.Clock.Kind != c.clock {
			t.Errorf("%s:\n got %s\nwant %s\n%s, want %s\n%v", name, got, c.want, codes, c.codes, run.Clock)
		}
	}
}

// TestUnits: the unit of a script's relative times is in their name, or the only
// one that can be, or asked for.
func TestUnits(t *testing.T) {
	const data = `"data":"data: {\"object\":\"text_completion\",\"choices\":[{\"index\":0,\"text\":\"x\"}]}"}`
	for text, want := range map[string]string{
		"{\"t\":0.25,%s\n{\"t\":0.27,%s\n":                 "open event=250 first=250 answer=250 last=270 out=2 gaps=[20]",
		"{\"t\":250.5,%s\n{\"t\":270.5,%s\n":               "open event=250.5 first=250.5 answer=250.5 last=270.5 out=2 gaps=[20]",
		"{\"elapsed_us\":250,%s\n{\"elapsed_us\":270,%s\n": "open event=0.25 first=0.25 answer=0.25 last=0.27 out=2 gaps=[0.02]",
		"{\"t\":0.25,%s\n{\"t\":1.25,%s\n":                 "",
	} {
		got, codes, run := read(t, strings.ReplaceAll(text, "%s", data))
		if got != want || (want == "") != (run.NoRequests != "") {
			t.Errorf("%s: %s, want %s; %s %s", text, got, want, run.NoRequests, codes)
		}
	}
}

// TestFaults: what is no event is told, and costs no event.
func TestFaults(t *testing.T) {
	const a = `data: {"id":"a","object":"text_completion","choices":[{"index":0,"text":"x","finish_reason":null}]}`
	text := "0.1 " + a + "\nwhat is this\n0.2 data: {\"id\":\"a\",\"choices\":[{\"text\":\"y\"\n0.25 data: {\"weather\":\"fine\"}\n17:00:00 " + a + "\n0.3 " + a + "\n0.2 " + a + "\n0.4 data: [DONE]\n0.5 data: [DONE]\n0.6 hello\n" + a + "\n"
	got, codes, _ := read(t, text)
	if want := "a ok event=100 first=100 answer=100 last=300 end=400 out=3 gaps=[100 100]"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if want := "bad_payload 1,mixed_clocks 1,no_stamp 2,late_token 1,not_an_event 2,stamp_order 1,unknown_payload 1,tokens_from_chunks 1,"; codes != want {
		t.Errorf("%s, want %s", codes, want)
	}
}

// TestPrivacy: no text of an answer or an error leaves the transcript.
func TestPrivacy(t *testing.T) {
	list := events(t, "r1", "send 0 | +3@100 | error 120")
	for _, text := range []string{stamped(list), scripted(list), traced(list)} {
		r, err := Format.Open(context.Background(), source.FromBytes("t", []byte(text)), formats.Whole, formats.Options{Workers: 1, Lists: true})
		if err != nil {
			t.Fatal(err)
		}
		for r.Next() {
			var b bytes.Buffer
			json.NewEncoder(&b).Encode(line(r.Batch(), 0))
			if strings.Contains(b.String(), "secret") || strings.Contains(b.String(), "w w") {
				t.Error(b.String())
			}
		}
		r.Close()
	}
}

// TestReal reads what curl has recorded of a server on the same host.
func TestReal(t *testing.T) {
	data, err := os.ReadFile("../../testdata/formats/sse/curl-trace/input.txt")
	if err != nil {
		t.Fatal(err)
	}
	got, codes, _ := read(t, string(data))
	if want := "chatcmpl-1 ok event=0.551 first=83.795 answer=83.795 last=141.404 end=171.79 in=9 out=5 gaps=[27.341 30.268]/failed event=2.218 end=2.234 out=0 gaps=[] HTTP 429"; got != want || codes != "" {
		t.Errorf("got %s\nwant %s\n%s", got, want, codes)
	}
}
