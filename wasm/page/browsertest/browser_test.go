package browsertest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/chromedp/cdproto/input"
	"github.com/chromedp/cdproto/log"
	"github.com/chromedp/cdproto/runtime"
	"github.com/chromedp/chromedp"
)

const root = "../../.."

// document is the sealed page.
func document(t *testing.T) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join(root, "bin", "servescope.html"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(path); err != nil {
		missing(t, "the page is not built: make page")
	}
	return path
}

func missing(t *testing.T, what string) {
	t.Helper()
	if os.Getenv("SERVESCOPE_REQUIRE_BROWSER") != "" {
		t.Fatal(what)
	}
	t.Skip(what)
}

// newTab starts a browser and returns the context of its tab. What the page
// throws fails the test; consoles are logged.
func newTab(t *testing.T) context.Context {
	t.Helper()
	return tab(t, func(text string) { t.Error("the page has thrown: " + text) })
}

// tab is newTab that hands over what the page throws.
func tab(t *testing.T, thrown func(text string)) context.Context {
	t.Helper()
	var path string
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome"} {
		if p, err := exec.LookPath(name); err == nil {
			path = p
			break
		}
	}
	if path == "" {
		missing(t, "there is no Chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:],
		chromedp.ExecPath(path), chromedp.Headless, chromedp.NoSandbox, chromedp.DisableGPU,
		chromedp.Flag("disable-quic", true), chromedp.Flag("disable-background-networking", true),
		chromedp.Flag("disable-component-update", true), chromedp.Flag("disable-sync", true),
		chromedp.Flag("disable-dev-shm-usage", true),
		chromedp.UserDataDir(t.TempDir()), chromedp.WindowSize(1440, 900),
	)
	alloc, stop := chromedp.NewExecAllocator(context.Background(), options...)
	t.Cleanup(stop)
	ctx, cancel := chromedp.NewContext(alloc)
	t.Cleanup(cancel)
	err := chromedp.Listen(ctx, func(event any) {
		switch e := event.(type) {
		case *runtime.EventExceptionThrown:
			text := e.ExceptionDetails.Text
			if e.ExceptionDetails.Exception != nil {
				text += ": " + e.ExceptionDetails.Exception.Description
			}
			thrown(text)
		case *log.EventEntryAdded:
			t.Logf("console: %s %s", e.Entry.Level, e.Entry.Text)
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	return ctx
}

// host serves the page as it is to be hosted, and counts what is asked for.
func host(t *testing.T) (url string, hits *atomic.Int64) {
	t.Helper()
	doc, err := os.ReadFile(document(t))
	if err != nil {
		t.Fatal(err)
	}
	hits = new(atomic.Int64)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if hits.Add(1); r.URL.Path != "/" {
			t.Logf("asked for %s %s", r.Method, r.URL)
			http.NotFound(w, r)
			return
		}
		w.Header().Set("Content-Type", "text/html; charset=utf-8")
		w.Write(doc)
	}))
	t.Cleanup(server.Close)
	return server.URL, hits
}

func do(t *testing.T, ctx context.Context, steps ...chromedp.Action[chromedp.Void]) {
	t.Helper()
	if err := chromedp.Do(ctx, steps...); err != nil {
		t.Fatal(err)
	}
}

// eval runs an expression, awaiting a promise, and returns its value.
func eval[T any](t *testing.T, ctx context.Context, expression string) T {
	t.Helper()
	ctx, cancel := context.WithTimeout(ctx, 120*time.Second)
	defer cancel()
	v, err := chromedp.Run(ctx, chromedp.Evaluate[T](expression, chromedp.EvalAwaitPromise))
	if err != nil {
		t.Fatalf("%s: %v", expression, err)
	}
	return v
}

// drop drops files onto the page as a person does.
func drop(t *testing.T, ctx context.Context, files ...string) {
	t.Helper()
	for i, name := range files {
		path, err := filepath.Abs(name)
		if err != nil {
			t.Fatal(err)
		}
		files[i] = path
	}
	data := &input.DragData{Items: []*input.DragDataItem{}, Files: files, DragOperationsMask: 1}
	for _, kind := range []input.DispatchDragEventType{input.DispatchDragEventTypeDragEnter, input.DispatchDragEventTypeDragOver, input.DispatchDragEventTypeDrop} {
		if _, err := chromedp.Call(ctx, input.DispatchDragEvent, input.DispatchDragEventParams{Type: kind, X: 300, Y: 300, Data: data}); err != nil {
			t.Fatal(err)
		}
	}
}

// dropped drops files and returns the report of the session that the page makes
// of them, as it exports it, or the message of its error.
func dropped(t *testing.T, ctx context.Context, files ...string) (report []byte, failure string) {
	t.Helper()
	eval[bool](t, ctx, `(async () => {
		globalThis.probe = new Promise(resolve => {
			const old = globalThis.servescope?.session, oldError = globalThis.servescope?.error
			const timer = setInterval(() => {
				const { session, error } = globalThis.servescope ?? {}
				if ((session && session !== old) || (error && error !== oldError)) { clearInterval(timer); resolve() }
			}, 5)
		})
		return true
	})()`)
	drop(t, ctx, files...)
	answer := eval[map[string]string](t, ctx, `probe.then(async () => {
		const { session, error } = globalThis.servescope
		if (!session) return { error: error.message }
		const { bytes } = await session.export({}, { what: 'report.json' })
		let text = ''
		for (let i = 0; i < bytes.length; i += 32768) text += String.fromCharCode(...bytes.subarray(i, i + 32768))
		return { report: btoa(text) }
	}).catch(e => ({ error: e.message }))`)
	if answer["error"] != "" {
		return nil, answer["error"]
	}
	report, err := base64.StdEncoding.DecodeString(answer["report"])
	if err != nil {
		t.Fatal(err)
	}
	return report, ""
}

// scratch is a folder that is gone after all tests.
var scratch string

func TestMain(m *testing.M) {
	var err error
	if scratch, err = os.MkdirTemp("", "browsertest"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	code := m.Run()
	os.RemoveAll(scratch)
	os.Exit(code)
}

// built builds the command of the same source, once.
var built = sync.OnceValues(func() (string, error) {
	path := filepath.Join(scratch, "servescope")
	cmd := exec.Command("go", "build", "-o", path, "./cli/servescope")
	cmd.Dir = root
	if out, err := cmd.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w: %s", err, out)
	}
	return path, nil
})

func command(t *testing.T) string {
	t.Helper()
	path, err := built()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

// native returns the report of the command for a file, by the name that a
// browser knows it by, and what it says where it has none.
func native(t *testing.T, program, file string) (report []byte, failure string) {
	t.Helper()
	cmd := exec.Command(program, "analyze", "--format", "json", "--", filepath.Base(file))
	cmd.Dir = filepath.Dir(file)
	var stderr strings.Builder
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil && len(out) == 0 {
		return nil, stderr.String()
	}
	return out, ""
}

// samples returns every file of testdata that is meant to be read, and the real
// ones where they are.
func samples(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, pattern := range []string{"testdata/formats/*/*/input*", "testdata/sample/*.json*"} {
		names, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, names...)
	}
	if len(out) < 20 {
		t.Fatalf("%d samples", len(out))
	}
	data := os.Getenv("SERVESCOPE_DATA")
	for _, dir := range []string{"../shared/data", "../../shared/data"} {
		if _, err := os.Stat(filepath.Join(root, dir)); err == nil && data == "" {
			data = filepath.Join(root, dir)
		}
	}
	if data == "" || testing.Short() {
		return out
	}
	err := filepath.WalkDir(data, func(path string, d os.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			out = append(out, path)
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// ready opens the page and waits until its engine can be asked.
func ready(t *testing.T, ctx context.Context, url string) {
	t.Helper()
	do(t, ctx, chromedp.Navigate(url))
	eval[bool](t, ctx, `new Promise(resolve => { const timer = setInterval(() => { if (globalThis.servescope?.engine) { clearInterval(timer); resolve(true) } }, 5) })`)
}

// TestReportsEqualNative drops every sample onto the page and holds its report to
// that of the command, byte for byte.
func TestReportsEqualNative(t *testing.T) {
	url, hits := host(t)
	ctx := newTab(t)
	program := command(t)
	ready(t, ctx, url)
	known := make(map[string]bool) // to the page
	for _, name := range eval[[]string](t, ctx, `globalThis.servescope.engine.formats.map(f => f.name)`) {
		known[name] = true
	}
	read := make(map[string]int) // reports by format
	equal, refused := 0, 0
	names := samples(t)
	for i, name := range names {
		names[i] = stamped(t, name)
	}
	// The command is a file ahead of the page.
	type answer struct {
		report []byte
		why    string
	}
	answers := make(chan answer, 1)
	go func() {
		for _, name := range names {
			report, why := native(t, program, name)
			answers <- answer{report, why}
		}
	}()
	for _, name := range names {
		a := <-answers
		want, why := a.report, a.why
		got, failure := dropped(t, ctx, name)
		switch {
		case want == nil && failure != "":
			refused++
		case want == nil || failure != "":
			t.Errorf("%s: the command says %q, the page %q", name, why, failure)
		case string(got) != string(want):
			t.Errorf("%s: %s", name, difference(want, got))
		default:
			equal++
			read[formatOf(t, want)]++
		}
	}
	t.Logf("%d reports are equal, %d files are refused by both: %v", equal, refused, read)
	for name := range read {
		if !known[name] {
			t.Errorf("the page does not list %s, which it reads", name)
		}
	}
	if dirs, err := os.ReadDir(filepath.Join(root, "testdata/formats")); err != nil || len(known) < len(dirs)-1 {
		t.Errorf("the page lists %d formats, there are samples of %d: %v", len(known), len(dirs), err)
	}
	if n := hits.Load(); n != 1 {
		t.Errorf("the host was asked %d times, want once", n)
	}
}

// formatOf returns the format of the input of a report.
func formatOf(t *testing.T, text []byte) string {
	t.Helper()
	var r struct{ Inputs []struct{ Format string } }
	if err := json.Unmarshal(text, &r); err != nil || len(r.Inputs) == 0 {
		t.Fatalf("a report without inputs: %v", err)
	}
	return r.Inputs[0].Format
}

// stamped copies a file that was written at a whole millisecond: browsers tell no
// more of when a file was modified, and some formats have no other stamp.
func stamped(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), filepath.Base(name))
	when := time.Date(2026, 5, 17, 8, 30, 0, 123e6, time.UTC)
	if err := errors.Join(os.WriteFile(path, text, 0o600), os.Chtimes(path, when, when)); err != nil {
		t.Fatal(err)
	}
	return path
}

// difference shows where two texts part.
func difference(want, got []byte) string {
	i := 0
	for i < len(want) && i < len(got) && want[i] == got[i] {
		i++
	}
	cut := func(b []byte) string { return string(b[max(0, i-80):min(len(b), i+80)]) }
	return fmt.Sprintf("at byte %d of %d and %d:\n want …%s…\n got  …%s…", i, len(want), len(got), cut(want), cut(got))
}

// TestFile opens the document from a disk: soon after a drop there is a report.
func TestFile(t *testing.T) {
	path := document(t)
	ctx := newTab(t)
	ready(t, ctx, "file://"+path)
	eval[bool](t, ctx, `(addEventListener('drop', () => {
		globalThis.began = performance.now()
		new MutationObserver((_, o) => { if (`+settled+`) { o.disconnect(); globalThis.took = performance.now() - began } }).observe(document, { subtree: true, childList: true, attributes: true })
	}), true)`)
	report, failure := dropped(t, ctx, filepath.Join(root, "testdata/sample/tokenlog.jsonl"))
	wait(t, ctx, "globalThis.took")
	within(t, "the report of the sample", eval[float64](t, ctx, "took"), 1500)
	if failure != "" {
		t.Fatal(failure)
	}
	if !json.Valid(report) {
		t.Errorf("no JSON: %.80s", report)
	}
}
