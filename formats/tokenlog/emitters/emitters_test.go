// Package emitters_test holds the emitters of token logs to what the clients of
// streaming servers see over the network.
package emitters_test

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"fmt"
	"io"
	stdlog "log"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"servescope/analyzer/trace"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
	"servescope/formats/tokenlog/emitters/nethttp"
)

// The times between what the server sends, and the tokens that it says these are.
const (
	untilFirst = 60 * time.Millisecond
	between    = 15 * time.Millisecond
)

// odd is what no completion holds, and must neither be a token nor stop an answer.
var odd = []string{`"choices":["x"],"usage":[1]`, `"choices":7,"usage":3`, `"choices":[{"index":[0],"delta":"x"}]`, `"choices":[null],"created":null`}

// serve answers as an OpenAI-compatible server does.
func serve(w http.ResponseWriter, r *http.Request) {
	io.Copy(io.Discard, r.Body)
	id := r.Header.Get("X-Request-Id")
	chunk := func(rest string) {
		// in two writes, the first of which ends within a line
		fmt.Fprintf(w, `data: {"id":"c","object":"chat.completion.chunk",`)
		fmt.Fprintf(w, "\"model\":\"m\",%s}\n\n", rest)
		w.(http.Flusher).Flush()
	}
	delta := func(index int, d string) {
		chunk(fmt.Sprintf(`"choices":[{"index":%d,"delta":%s,"finish_reason":null}]`, index, d))
	}
	kind, _, _ := strings.Cut(id, "-")
	switch kind {
	case "whole":
		time.Sleep(untilFirst)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprint(w, `{"id":"c","model":"m","choices":[{"index":0,"message":{"content":"secret"},"finish_reason":"length"}],"usage":{"prompt_tokens":5,"completion_tokens":4}}`)
		return
	case "refused":
		http.Error(w, `{"error":{"message":"secret"}}`, http.StatusTooManyRequests)
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	w.(http.Flusher).Flush() // sends the header, which must not be sent again
	if kind == "other" {     // an answer that is no completion, such as of the Responses API
		chunk(`"type":"response.output_text.delta","delta":"secret"`)
		return
	}
	delta(0, `{"role":"assistant","content":""}`)
	time.Sleep(untilFirst)
	switch kind {
	case "choices":
		delta(0, `{"content":"secret"}`)
		delta(1, `{"content":"secret"}`)
		time.Sleep(between)
		delta(1, `{"content":"secret"}`)
	case "odd": // fields of types that others do not use
		for _, rest := range odd {
			chunk(rest)
		}
		delta(0, `{"content":[{"type":"text","text":"secret"}],"refusal":{}}`)
		time.Sleep(between)
		delta(0, `{"content":"secret","tool_calls":[]}`)
	case "reasoning":
		delta(0, `{"reasoning_content":"secret"}`)
		time.Sleep(between)
		delta(0, `{"content":"secret"}`)
	case "error":
		delta(0, `{"content":"secret"}`)
		fmt.Fprint(w, "event: error\ndata: {\"error\":{\"message\":\"secret\"}}\n\n")
		return
	case "panic":
		delta(0, `{"content":"secret"}`)
		panic("secret")
	case "gone":
		for {
			delta(0, `{"content":"secret"}`)
			select {
			case <-r.Context().Done():
				return
			case <-time.After(between):
			}
		}
	default:
		for i := range 4 {
			if i > 0 {
				time.Sleep(between)
			}
			delta(0, `{"content":"secret"}`)
		}
	}
	for i := range map[bool]int{true: 2, false: 1}[kind == "choices"] {
		chunk(fmt.Sprintf(`"choices":[{"index":%d,"delta":{},"finish_reason":"stop"}]`, i))
	}
	chunk(`"choices":[],"usage":{"prompt_tokens":5,"completion_tokens":9,"prompt_tokens_details":{"cached_tokens":2}}`)
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// seen is what a client saw of an answer.
type seen struct{ first, last, end time.Duration }

// post sends a request and reads the answer; it goes after some events, if that is
// not 0.
func post(url, id string, leave int) (s seen) {
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	path := "/v1/chat/completions"
	if strings.HasPrefix(id, "whole-") { // answered alike, and not to be logged
		path = "/v1/embeddings"
	}
	req, _ := http.NewRequestWithContext(ctx, http.MethodPost, url+path, strings.NewReader(`{"secret":1}`))
	req.Header.Set("X-Request-Id", id)
	sent := time.Now()
	res, err := http.DefaultClient.Do(req)
	if err != nil {
		return s
	}
	defer res.Body.Close()
	n := 0
	for lines := bufio.NewScanner(res.Body); lines.Scan(); {
		if now := time.Since(sent); strings.Contains(lines.Text(), "secret") {
			if s.last = now; s.first == 0 {
				s.first = now
			}
			if n++; n == leave {
				cancel()
				return s
			}
		}
	}
	s.end = time.Since(sent)
	return s
}

// rows reads a log: by id, the row of each choice.
func rows(t *testing.T, log []byte) map[string][]row {
	t.Helper()
	src := source.FromBytes("log", log)
	head, err := formats.ReadHead(src)
	if err != nil {
		t.Fatal(err)
	}
	d, err := all.Set().Detect(head)
	if err != nil || d.Format.Name != "tokenlog" || d.Score != formats.Sure {
		t.Fatalf("%v: %v\n%s", d.Format, err, log)
	}
	r, err := d.Format.Open(context.Background(), src, formats.Whole, formats.Options{Workers: 1, Lists: true})
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	out := make(map[string][]row)
	for r.Next() {
		b := r.Batch()
		for i := range b.Rows {
			id, _ := b.Texts(trace.RequestID).At(i)
			out[string(id)] = append(out[string(id)], rowOf(b, i))
		}
	}
	for _, d := range r.Diags().All() {
		if d.Code != "tokens_from_chunks" {
			t.Error(d)
		}
	}
	return out
}

// row is what the log says of a request, times from its arrival on.
type row struct {
	status                      string
	first, answer, last, end    time.Duration // -1: unknown
	prompt, output, cached      int64
	gaps                        []int64
	class, kind, reason, stream string
}

func rowOf(b *trace.Batch, i int) row {
	at, _ := b.Ints(trace.Received).At(i)
	time := func(c trace.Col) time.Duration {
		if v, ok := b.Ints(c).At(i); ok {
			return time.Duration(v - at)
		}
		return -1
	}
	count := func(c trace.Col) int64 {
		if v, ok := b.Ints(c).At(i); ok {
			return v
		}
		return -1
	}
	word := func(c trace.Col) string {
		if v, ok := b.Dicts(c).At(i); ok {
			return b.Dicts(c).Values[v]
		}
		return ""
	}
	r := row{status: word(trace.StatusCol), first: time(trace.FirstToken), answer: time(trace.FirstAnswerToken), last: time(trace.LastToken), end: time(trace.Finished),
		prompt: count(trace.PromptTokens), output: count(trace.OutputTokens), cached: count(trace.CachedTokens), class: word(trace.ErrorClass), kind: word(trace.TokenKind), reason: word(trace.FinishReason)}
	if gaps, ok := b.Lists(trace.ChunkGaps).At(i); ok {
		r.gaps = slices.Clone(gaps)
	}
	if v, ok := b.Bools(trace.Stream).At(i); ok {
		r.stream = fmt.Sprint(v)
	}
	return r
}

func TestNetHTTP(t *testing.T) {
	var log bytes.Buffer
	var mu sync.Mutex
	handler := nethttp.Handler(http.HandlerFunc(serve), writer(func(b []byte) (int, error) {
		mu.Lock()
		defer mu.Unlock()
		return log.Write(b)
	}))
	server := httptest.NewUnstartedServer(handler)
	server.Config.ErrorLog = stdlog.New(writer(func(b []byte) (int, error) {
		if bytes.Contains(b, []byte("superfluous")) {
			t.Errorf("%s", b)
		}
		return len(b), nil
	}), "", 0)
	server.Start()
	if res, err := http.Get(server.URL); err == nil { // no request of the log
		res.Body.Close()
	}
	try(t, server.URL, "panic", func() []byte {
		server.Close() // waits for the handlers
		return log.Bytes()
	})
}

// TestASGI has the Python that there is serve HTTP by itself; and with uvicorn,
// bare and under FastAPI, where SERVESCOPE_PYTHON names one that has them.
func TestASGI(t *testing.T) {
	python := cmp.Or(os.Getenv("SERVESCOPE_PYTHON"), "python3")
	if _, err := exec.LookPath(python); err != nil || runtime.GOOS == "js" {
		t.Skipf("there is no Python to run: %v", err)
	}
	for _, how := range []string{"own", "uvicorn", "fastapi"} {
		t.Run(how, func(t *testing.T) {
			if out, err := exec.Command(python, "-c", "import "+strings.Replace(how, "own", "json", 1)).CombinedOutput(); err != nil {
				t.Skipf("%s has no %s: %s", python, how, out)
			}
			path := filepath.Join(t.TempDir(), "log.jsonl")
			url, stop := start(t, exec.Command(python, "asgi/testdata/server.py", how, path))
			try(t, url, "RuntimeError", func() []byte {
				stop()
				log, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				return log
			})
		})
	}
}

// start starts a server that prints its port. stop has it end and waits for that.
func start(t *testing.T, cmd *exec.Cmd) (url string, stop func()) {
	t.Helper()
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var once sync.Once
	stop = func() {
		once.Do(func() {
			in.Close()
			if err := cmd.Wait(); err != nil {
				t.Errorf("%v: %s", err, &stderr)
			}
		})
	}
	t.Cleanup(stop)
	var port int
	if _, err := fmt.Fscan(out, &port); err != nil {
		t.Fatalf("%v: %s", err, &stderr)
	}
	return fmt.Sprintf("http://127.0.0.1:%d", port), stop
}

// try has clients measure what they are sent, all at the same time, and compares
// that with what the log says. A server's times lie within those of its client, and
// are at least as long as it sleeps. panicked is the class of the error of a handler
// that fails.
func try(t *testing.T, url, panicked string, stop func() []byte) {
	t.Helper()
	ids := []string{"plain-0", "plain-1", "plain-2", "plain-3", "whole", "refused", "choices", "odd", "other", "reasoning", "error", "panic", "gone"}
	saw := make([]seen, len(ids))
	var all sync.WaitGroup
	for i, id := range ids {
		all.Go(func() { saw[i] = post(url, id, map[string]int{"gone": 3}[id]) })
	}
	all.Wait()
	post(url, "whole-embedding", 0)
	log := stop()
	if bytes.Contains(log, []byte("secret")) {
		t.Errorf("text has got into the log:\n%s", log)
	}
	got := rows(t, log)
	if len(got) != len(ids) {
		t.Fatalf("%d requests, want %d:\n%s", len(got), len(ids), log)
	}
	for i, id := range ids {
		check(t, id, got[id], saw[i], panicked)
	}
}

type writer func(b []byte) (int, error)

func (w writer) Write(b []byte) (int, error) { return w(b) }

func check(t *testing.T, id string, got []row, saw seen, panicked string) {
	t.Helper()
	kind, _, _ := strings.Cut(id, "-")
	want := map[string]row{
		"plain":     {status: "ok", prompt: 5, output: 9, cached: 2, kind: "content", reason: "stop", stream: "true", gaps: make([]int64, 3)},
		"whole":     {status: "ok", prompt: 5, output: 4, cached: -1, reason: "length", stream: "false"},
		"refused":   {status: "failed", prompt: -1, output: -1, cached: -1, class: "http_429", stream: "false"},
		"choices":   {status: "ok", prompt: 5, output: 1, cached: 2, kind: "content", reason: "stop", stream: "true", gaps: []int64{}},
		"odd":       {status: "ok", prompt: 5, output: 9, cached: 2, kind: "content", reason: "stop", stream: "true", gaps: make([]int64, 1)},
		"other":     {status: "ok", prompt: -1, output: -1, cached: -1, stream: "true"},
		"reasoning": {status: "ok", prompt: 5, output: 9, cached: 2, kind: "reasoning", reason: "stop", stream: "true", gaps: make([]int64, 1)},
		"error":     {status: "failed", prompt: -1, output: 1, cached: -1, class: "stream_error", kind: "content", stream: "true", gaps: []int64{}},
		"panic":     {status: "failed", prompt: -1, output: 1, cached: -1, class: panicked, kind: "content", stream: "true", gaps: []int64{}},
		"gone":      {status: "aborted", prompt: -1, cached: -1, kind: "content", stream: "true"},
	}[kind]
	if kind == "choices" {
		if len(got) != 2 || got[1].output != 2 || len(got[1].gaps) != 1 || time.Duration(got[1].gaps[0]) < between {
			t.Fatalf("%s: %+v", id, got)
		}
		got = got[:1]
	}
	if len(got) != 1 {
		t.Fatalf("%s: %+v", id, got)
	}
	g := got[0]
	if kind == "gone" {
		if g.output < 3 {
			t.Errorf("%s: %d tokens were written, 3 have been read", id, g.output)
		}
		want.output, want.gaps = g.output, g.gaps
	}
	streamed := want.stream == "true" && kind != "other"
	if streamed && (g.first < untilFirst || g.first > saw.first || g.last-g.first < time.Duration(len(want.gaps))*between || len(g.gaps) != len(want.gaps)) ||
		!streamed && (g.first >= 0 || g.gaps != nil) {
		t.Errorf("%s: first token %v, last %v, gaps %v; the client saw %+v", id, g.first, g.last, g.gaps, saw)
	}
	sum := time.Duration(0)
	for _, gap := range g.gaps {
		if sum += time.Duration(gap); time.Duration(gap) < between {
			t.Errorf("%s: a gap of %v", id, time.Duration(gap))
		}
	}
	if streamed && kind != "gone" && (sum != g.last-g.first || g.last > saw.last) {
		t.Errorf("%s: gaps of %v between %v and %v; the client saw %+v", id, sum, g.first, g.last, saw)
	}
	if kind == "whole" && (g.end < untilFirst || g.end > saw.end) || kind == "reasoning" && g.answer != g.last {
		t.Errorf("%s: %+v; the client saw %+v", id, g, saw)
	}
	want.first, want.answer, want.last, want.end, want.gaps = g.first, g.answer, g.last, g.end, g.gaps
	if fmt.Sprint(want) != fmt.Sprint(g) {
		t.Errorf("%s:\n got %+v\nwant %+v", id, g, want)
	}
}

// TestPaths: a POST is logged by the end of its path.
func TestPaths(t *testing.T) {
	var log bytes.Buffer
	answer := http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { fmt.Fprint(w, "{}") })
	lines := func(method, path string, paths ...string) int {
		log.Reset()
		nethttp.Handler(answer, &log, paths...).ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(method, path, nil))
		return strings.Count(log.String(), "\n")
	}
	for path, want := range map[string]int{
		"/v1/chat/completions": 1, "/v1/completions/": 1, "/openai/deployments/m/chat/completions?api-version=1": 1, "/v1/responses": 1, "/v1/messages": 1, "/generate": 1,
		"/v1/embeddings": 0, "/tokenize": 0, "/v1/load_lora_adapter": 0, "/": 0, "/completions/x": 0,
	} {
		if got := lines(http.MethodPost, path); got != want {
			t.Errorf("POST %s: %d lines, want %d", path, got, want)
		}
		if lines(http.MethodGet, path) != 0 || lines(http.MethodPost, path, "/embeddings") != 0 && path != "/v1/embeddings" {
			t.Errorf("%s is logged", path)
		}
	}
	if lines(http.MethodPost, "/v1/embeddings", "/embeddings") != 1 {
		t.Error("a path that is asked for is not logged")
	}
}
