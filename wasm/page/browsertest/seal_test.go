package browsertest

import (
	"bytes"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/chromedp/chromedp"
)

// leaks tries every way that a page has to send something, each to its own path
// of two hosts: the page's own and another one.
const leaks = `(async (own, other) => {
	const quiet = f => { try { const p = f(); if (p?.catch) p.catch(() => {}) } catch {} }
	const add = (name, set) => { const e = document.createElement(name); set(e); document.body.append(e) }
	for (const [at, host] of Object.entries({ own, other })) {
		const url = way => host + '/' + at + '-' + way
		quiet(() => fetch(url('fetch'), { mode: 'no-cors' }))
		quiet(() => { const x = new XMLHttpRequest(); x.open('POST', url('xhr')); x.send('secret') })
		quiet(() => navigator.sendBeacon(url('beacon'), 'secret'))
		quiet(() => import(url('import')))
		quiet(() => new WebSocket(url('socket').replace('http', 'ws')))
		quiet(() => new EventSource(url('events')))
		quiet(() => new Worker(url('worker')))
		quiet(() => new SharedWorker(url('shared')))
		quiet(() => navigator.serviceWorker.register(url('service')))
		quiet(() => document.fonts.add(new FontFace('x', 'url(' + url('font') + ')').load()))
		quiet(() => { new Image().src = url('image') })
		add('script', e => { e.src = url('script') })
		add('link', e => { e.rel = 'stylesheet'; e.href = url('style') })
		for (const rel of ['prefetch', 'preload', 'modulepreload', 'prerender', 'icon', 'manifest']) add('link', e => { e.rel = rel; e.as = 'fetch'; e.href = url(rel) })
		add('iframe', e => { e.src = url('frame') })
		add('object', e => { e.data = url('object') })
		add('embed', e => { e.src = url('embed') })
		add('video', e => { e.src = url('video'); e.poster = url('poster') })
		add('style', e => { e.textContent = 'body { background: url(' + url('background') + ') }' })
		add('div', e => { e.style.backgroundImage = 'url(' + url('inline') + ')' })
		add('iframe', e => { e.name = 'sink' })
		add('form', e => { e.action = url('form'); e.method = 'post'; e.target = 'sink'; setTimeout(() => e.submit()) })
		add('a', e => { e.href = '#'; e.ping = url('ping'); e.click() })
		quiet(() => { const s = document.createElementNS('http://www.w3.org/2000/svg', 'svg'); s.innerHTML = '<image href="' + url('svg') + '"/><use href="' + url('use') + '#x"/>'; document.body.append(s) })
		const text = '(' + (url => {
			const quiet = f => { try { const p = f(); if (p?.catch) p.catch(() => {}) } catch {} }
			quiet(() => fetch(url + 'fetch', { mode: 'no-cors' }))
			quiet(() => { const x = new XMLHttpRequest(); x.open('GET', url + 'xhr'); x.send() })
			quiet(() => importScripts(url + 'scripts'))
			quiet(() => new WebSocket(url.replace('http', 'ws') + 'socket'))
			quiet(() => new EventSource(url + 'events'))
			quiet(() => import(url + 'import'))
			quiet(() => new Worker(URL.createObjectURL(new Blob(['fetch("' + url + 'nested").catch(() => {})']))))
			setTimeout(() => postMessage('done'), 300)
		}) + ')("' + url('in-worker-') + '")'
		quiet(() => new Promise(done => { const w = new Worker(URL.createObjectURL(new Blob([text]))); w.onmessage = done; setTimeout(done, 2000) }))
	}
	await new Promise(done => setTimeout(done, 2500))
	return true
})`

// TestNothingLeaves tries to leak from a page that holds a file: neither the host
// of the page nor another one is asked for anything.
func TestNothingLeaves(t *testing.T) {
	url, hits := host(t)
	var elsewhere atomic.Int64
	other := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		elsewhere.Add(1)
		t.Logf("the other host was asked for %s %s", r.Method, r.URL)
	}))
	defer other.Close()
	ctx := tab(t, func(text string) { t.Log(text) })
	ready(t, ctx, url)
	if _, failure := dropped(t, ctx, filepath.Join(root, "testdata/sample/tokenlog.jsonl")); failure != "" {
		t.Fatal(failure)
	}
	eval[bool](t, ctx, leaks+`("`+url+`", "`+other.URL+`")`)
	if n := hits.Load(); n != 1 {
		t.Errorf("the host was asked %d times, want once for the page", n)
	}
	if n := elsewhere.Load(); n != 0 {
		t.Errorf("another host was asked %d times", n)
	}
}

// TestLeaksAreFound holds the attempts to a page without a policy, where most of
// them must arrive: else the test above could not fail.
func TestLeaksAreFound(t *testing.T) {
	seen := make(chan string, 1000)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		seen <- r.URL.Path
		w.Header().Set("Content-Type", "text/html")
		w.Write([]byte("<!doctype html><body></body>"))
	}))
	defer server.Close()
	ctx := tab(t, func(string) {}) // what it loads is no script
	do(t, ctx, chromedp.Navigate(server.URL))
	eval[bool](t, ctx, leaks+`("`+server.URL+`", "`+server.URL+`")`)
	ways := make(map[string]bool)
	for len(seen) > 0 {
		ways[<-seen] = true
	}
	for _, way := range []string{"fetch", "xhr", "beacon", "import", "socket", "events", "worker", "image", "script", "style", "prefetch", "frame", "background", "inline", "in-worker-fetch", "in-worker-socket", "in-worker-scripts", "in-worker-nested"} {
		if !ways["/own-"+way] {
			t.Errorf("%s does not leak from an open page", way)
		}
	}
}

// TestPolicy locks the policy of the document.
func TestPolicy(t *testing.T) {
	text, err := os.ReadFile(document(t))
	if err != nil {
		t.Fatal(err)
	}
	// The script behind it has another one as a text, that of the documents it saves.
	head, _, _ := bytes.Cut(text, []byte("<style"))
	tags := regexp.MustCompile(`<meta http-equiv="Content-Security-Policy" content="([^"]*)">`).FindAllSubmatch(head, -1)
	if len(tags) != 1 {
		t.Fatalf("%d policies", len(tags))
	}
	got := strings.ReplaceAll(string(tags[0][1]), "&#39;", "'")
	got = regexp.MustCompile(`sha256-[A-Za-z0-9+/]{43}=`).ReplaceAllString(got, "sha256")
	const want = "default-src 'none'; script-src 'sha256' 'wasm-unsafe-eval'; style-src 'sha256'; img-src blob: data:; worker-src blob:; connect-src 'none'; form-action 'none'; base-uri 'none'"
	if got != want {
		t.Errorf("the policy is\n%s, want\n%s", got, want)
	}
	at, script := strings.Index(string(text), "Content-Security-Policy"), strings.Index(string(text), "<script")
	if style := strings.Index(string(text), "<style"); at > script || at > style {
		t.Error("something stands before the policy")
	}
}

// TestOffline reads a file after the host of the page has gone.
func TestOffline(t *testing.T) {
	doc, err := os.ReadFile(document(t))
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { w.Write(doc) }))
	ctx := newTab(t)
	ready(t, ctx, server.URL)
	server.CloseClientConnections()
	server.Close()
	for range 2 {
		if report, failure := dropped(t, ctx, filepath.Join(root, "testdata/sample/vllm-bench.json")); failure != "" || len(report) < 1000 {
			t.Errorf("%s, %d bytes", failure, len(report))
		}
	}
}

// TestWorkerIsReplaced ends the engine as a fatal error does: another one reads the file
// again, but once only, and then the next file.
func TestWorkerIsReplaced(t *testing.T) {
	url, _ := host(t)
	ctx := newTab(t)
	ready(t, ctx, url)
	sample := filepath.Join(root, "testdata/sample/tokenlog.jsonl")
	want, failure := dropped(t, ctx, sample)
	if failure != "" {
		t.Fatal(failure)
	}
	message := eval[string](t, ctx, `(async () => {
		const { session, engine } = globalThis.servescope
		globalThis.gone = session
		engine.crash()
		try { await session.run({}); return 'it answered' } catch (e) { return e.code }
	})()`)
	if message != "engine_died" {
		t.Errorf("a session of a dead engine says %q", message)
	}
	wait(t, ctx, `servescope.session && servescope.session !== gone && `+drawn)
	if n := eval[int](t, ctx, `servescope.session.run({}).then(r => r.runs[0].requests.total)`); n != 64 {
		t.Errorf("%d requests in the file that was read again", n)
	}
	eval[bool](t, ctx, `(servescope.engine.crash(), true)`)
	eval[bool](t, ctx, `servescope.session.run({}).catch(() => true)`)
	wait(t, ctx, `[...document.querySelectorAll('.notices p')].some(p => /open the files again/.test(p.innerText))`)
	got, failure := dropped(t, ctx, sample)
	if failure != "" || string(got) != string(want) {
		t.Errorf("the next file: %q, %d bytes, want %d", failure, len(got), len(want))
	}
}
