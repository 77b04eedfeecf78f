package app

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"testing"
	"time"

	"servescope/analyzer"
	"servescope/analyzer/query"
	"servescope/analyzer/render"
	"servescope/formats"
	"servescope/formats/all"
	"servescope/formats/source"
	"servescope/wasm/bridge"
)

// testViewer serves the sample run as view does.
func testViewer(t *testing.T) (v *viewer, server *httptest.Server, want string) {
	t.Helper()
	open := func(progress func(done, total int64)) *analyzer.Session {
		in, err := source.Expand([]string{"../../../testdata/sample/tokenlog.jsonl"}, nil, formats.Options{})
		if err != nil {
			t.Fatal(err)
		}
		s, err := analyzer.Open(t.Context(), all.Set(), in, "", analyzer.Options{Progress: progress})
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	direct := open(nil)
	defer direct.Close()
	r, err := direct.Run(t.Context(), new(query.Query))
	if err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	if err := render.JSON(&text, r); err != nil {
		t.Fatal(err)
	}
	var progress bridge.Progress
	e := bridge.New(bridge.Options{Set: all.Set(), Workers: 1, Now: time.Now, Zone: parseZone})
	e.Adopt("1", open(progress.Read), &progress)
	t.Cleanup(func() { e.Close() })
	server = httptest.NewServer(nil)
	t.Cleanup(server.Close)
	if v, err = newViewer(e, server.Listener.Addr().String()); err != nil {
		t.Fatal(err)
	}
	server.Config.Handler = v
	return v, server, text.String()
}

func request(t *testing.T, method, url, body string, headers ...string) (status int, answer string, header http.Header) {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(headers); i += 2 {
		if r.Header.Set(headers[i], headers[i+1]); headers[i] == "Host" {
			r.Host = headers[i+1]
		}
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text), response.Header
}

func TestViewAnswersItsPageOnly(t *testing.T) {
	v, server, want := testViewer(t)
	const ask = "op=export&session=1&what=report.json"
	f := func(status int, method, url string, headers ...string) string {
		t.Helper()
		got, text, _ := request(t, method, url, ask, headers...)
		if got != status {
			t.Errorf("%s %s %q: status %d, want %d", method, url, headers, got, status)
		}
		if got != http.StatusOK && strings.Contains(text, "servescope.report") {
			t.Errorf("%s %s %q: the report was given away", method, url, headers)
		}
		return text
	}
	own := "http://" + v.host
	for _, headers := range [][]string{{}, {"Origin", own}, {"Origin", own, "Sec-Fetch-Site", "same-origin"}} {
		head, body, err := bridge.ReadFrame(strings.NewReader(f(http.StatusOK, "POST", v.url()+"call", headers...)))
		if err != nil || string(body) != want {
			t.Errorf("%q: %s, %v, %d bytes, want %d", headers, head, err, len(body), len(want))
		}
	}
	f(http.StatusOK, "GET", v.url())
	f(http.StatusOK, "GET", v.url(), "Sec-Fetch-Site", "none")
	f(http.StatusForbidden, "POST", v.url()+"call", "Host", "evil.example:80")
	f(http.StatusForbidden, "GET", v.url(), "Host", strings.Replace(v.host, "127.0.0.1", "localhost", 1))
	f(http.StatusForbidden, "POST", v.url()+"call", "Origin", "http://evil.example")
	f(http.StatusForbidden, "POST", v.url()+"call", "Origin", "null")
	f(http.StatusForbidden, "POST", v.url()+"call", "Origin", "https://"+v.host)
	f(http.StatusForbidden, "GET", v.url(), "Sec-Fetch-Site", "cross-site")
	f(http.StatusForbidden, "GET", v.url(), "Sec-Fetch-Site", "same-site")
	f(http.StatusNotFound, "POST", server.URL+"/call")
	f(http.StatusNotFound, "POST", server.URL+"/"+v.token[1:]+"/call")
	f(http.StatusNotFound, "GET", server.URL+"/")
	f(http.StatusNotFound, "GET", v.url()+"other")
	f(http.StatusNotFound, "GET", v.url()+"call")
	if status, _, _ := request(t, "POST", v.url()+"call", strings.Repeat("x", maxRequest+1)); status != http.StatusRequestEntityTooLarge {
		t.Errorf("a long request: %d", status)
	}
}

// TestViewHeaders locks what keeps the page of the native engine to itself.
func TestViewHeaders(t *testing.T) {
	v, _, _ := testViewer(t)
	_, text, header := request(t, "GET", v.url(), "")
	policy := header.Get("Content-Security-Policy")
	for _, part := range []string{"default-src 'none'", "connect-src 'self'", "worker-src 'none'", "form-action 'none'", "base-uri 'none'", "frame-ancestors 'none'", "img-src blob: data:"} {
		if !strings.Contains(policy, part) {
			t.Errorf("the policy %q lacks %s", policy, part)
		}
	}
	for _, no := range []string{"unsafe", "http:", "https:", "*"} {
		if strings.Contains(policy, no) {
			t.Errorf("the policy %q has %s", policy, no)
		}
	}
	for name, want := range map[string]string{"Referrer-Policy": "no-referrer", "X-Content-Type-Options": "nosniff", "Cross-Origin-Opener-Policy": "same-origin", "Cache-Control": "no-store"} {
		if got := header.Get(name); got != want {
			t.Errorf("%s: %q, want %q", name, got, want)
		}
	}
	if header.Get("Access-Control-Allow-Origin") != "" || !strings.Contains(text, `data-engine="native"`) {
		t.Error("not the page of the native engine")
	}
}

// TestViewCommand runs the command until it is interrupted.
func TestViewCommand(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	r, w := io.Pipe()
	ended := make(chan int)
	go func() {
		p := &Process{Stdin: strings.NewReader(""), Stdout: w, Stderr: io.Discard, Getenv: func(string) string { return "" }, Now: time.Now()}
		ended <- Run(ctx, p, []string{"view", "../../../testdata/sample/tokenlog.jsonl"})
	}()
	line := make([]byte, 200)
	n, err := r.Read(line)
	if err != nil {
		t.Fatal(err)
	}
	url := strings.TrimSpace(string(line[:n]))
	if status, _, _ := request(t, "POST", url+"call", "op=run&session=1"); status != http.StatusOK {
		t.Errorf("%s: status %d", url, status)
	}
	cancel(interrupt{os.Interrupt})
	select {
	case code := <-ended:
		if code != 130 {
			t.Errorf("exit code %d", code)
		}
	case <-time.After(10 * time.Second):
		t.Error("the command goes on")
	}
}
