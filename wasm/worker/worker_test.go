//go:build !js

package main

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"servescope/wasm/endpoint"
)

const (
	root       = "../.."
	built      = root + "/bin/worker"
	bundle     = 60 << 20 // budget of the bundle in bytes
	coldBudget = 5 * time.Second
	maxMemory  = 64 << 20

	largeBudget = 2 * time.Second
)

// config runs the Worker in workerd as Cloudflare does.
const config = `using Workerd = import "/workerd/workerd.capnp";
const config :Workerd.Config = (
  services = [ (name = "main", worker = .main) ],
  sockets = [ (name = "http", address = "127.0.0.1:%d", http = (), service = "main") ] );
const main :Workerd.Worker = (
  modules = [
    (name = "entry.mjs", esModule = embed "entry.mjs"), (name = "worker.mjs", esModule = embed "worker.mjs"), (name = "wasm_exec.js", esModule = embed "wasm_exec.js"),
    (name = "runtime.mjs", esModule = embed "runtime.mjs"), (name = "app.wasm", wasm = embed "app.wasm") ],
  compatibilityDate = "2026-05-01" );
`

// host is a workerd that runs.
type host struct {
	address string
	pid     int
}

// cpu is the time of processors that the host has had, or 0 where nothing tells.
func (w *host) cpu(t *testing.T) time.Duration {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", w.pid))
	if err != nil {
		return 0
	}
	_, rest, _ := bytes.Cut(text, []byte(") ")) // fields from the third on: see proc(5)
	fields := strings.Fields(string(rest))
	user, _ := strconv.Atoi(fields[11])
	system, _ := strconv.Atoi(fields[12])
	return time.Duration(user+system) * 10 * time.Millisecond
}

// modules are the files of the Worker.
var modules = []string{"app.wasm", "entry.mjs", "worker.mjs", "wasm_exec.js", "runtime.mjs"}

// required skips a test that needs workerd, unless it is asked for.
func required(t *testing.T) {
	t.Helper()
	if os.Getenv("SERVESCOPE_REQUIRE_WORKERD") == "" {
		t.Skip("takes a minute: run make worker")
	}
}

// resident is the memory that the host has, or 0 where nothing tells.
func (w *host) resident(t *testing.T) int64 {
	t.Helper()
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", w.pid))
	if err != nil {
		return 0
	}
	pages, err := strconv.ParseInt(strings.Fields(string(text))[1], 10, 64) // see proc(5)
	if err != nil {
		t.Fatal(err)
	}
	return pages * int64(os.Getpagesize())
}

// start runs what make worker has built.
func start(t *testing.T) *host {
	t.Helper()
	required(t)
	if _, err := os.Stat(built + "/app.wasm"); err != nil {
		t.Fatal("the Worker is missing: run make worker")
	}
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(built)); err != nil {
		t.Fatal(err)
	}
	return serve(t, dir, config, "/health")
}

// serve runs workerd in a directory under a configuration with a place for its port,
// until it answers to a path.
func serve(t *testing.T, dir, config, path string) *host {
	t.Helper()
	program, _ := filepath.Glob(root + "/tools/workerd/node_modules/@cloudflare/workerd-*/bin/workerd")
	if len(program) == 0 {
		t.Fatal("workerd is missing: run make worker")
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	file := filepath.Join(dir, "config.capnp")
	if err := os.WriteFile(file, fmt.Appendf(nil, config, port), 0o666); err != nil {
		t.Fatal(err)
	}
	binary, err := filepath.Abs(program[0])
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(binary, "serve", file)
	cmd.Dir = dir // of its disks
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { cmd.Process.Kill(); cmd.Wait() })
	address := fmt.Sprintf("http://127.0.0.1:%d", port)
	since := time.Now()
	for range 600 {
		if r, err := http.Get(address + path); err == nil {
			r.Body.Close()
			cold := time.Since(since)
			t.Logf("cold start: %d ms of %d", cold.Milliseconds(), coldBudget.Milliseconds())
			if cold > coldBudget {
				t.Errorf("the cold start took %s", cold)
			}
			return &host{address, cmd.Process.Pid}
		}
		time.Sleep(50 * time.Millisecond)
	}
	t.Fatal("workerd does not answer")
	return nil
}

// post returns the answer to a body; its memory is always within bounds.
func post(t *testing.T, url string, body io.Reader, headers ...string) (status int, answer string) {
	r, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		r.Header.Set(name, value)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Error(err)
		return 0, ""
	}
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	memory, _ := strconv.Atoi(resp.Header.Get(endpoint.MemoryHeader))
	if err != nil || memory == 0 || memory > maxMemory {
		t.Errorf("%d with %d bytes of memory: %.200s, %v", resp.StatusCode, memory, text, err)
	}
	for old := most.Load(); int64(memory) > old && !most.CompareAndSwap(old, int64(memory)); old = most.Load() {
	}
	return resp.StatusCode, string(text)
}

// most is the most memory that an answer told of.
var most atomic.Int64

// grown repeats the requests of the sample under new ids up to a size in bytes.
func grown(t *testing.T, size int) []byte {
	t.Helper()
	text, err := os.ReadFile(root + "/testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	for i := 0; b.Len()+len(text)+1000 < size; i++ {
		b.Write(bytes.ReplaceAll(text, []byte("chatcmpl-bench-"), fmt.Appendf(nil, "c%d-", i)))
	}
	return b.Bytes()
}

func TestWorker(t *testing.T) {
	w := start(t)
	var size int64
	for _, name := range modules {
		info, err := os.Stat(built + "/" + name)
		if err != nil {
			t.Fatal(err)
		}
		size += info.Size()
	}
	t.Logf("bundle: %d bytes of %d", size, bundle)
	if size > bundle {
		t.Error("the bundle is too large")
	}
	t.Run("equal", func(t *testing.T) { equal(t, w) })
	t.Run("gate", func(t *testing.T) { gates(t, w) })
	t.Run("large", func(t *testing.T) { large(t, w) })
	t.Run("bodies", func(t *testing.T) { bodies(t, w) })
	t.Run("heavy", func(t *testing.T) { heavy(t, w) })
	t.Run("stalled", func(t *testing.T) { stalled(t, w) })
	t.Run("queued", func(t *testing.T) { queued(t, w) })
	t.Run("steady", func(t *testing.T) { steady(t, w) })
}

// large posts bodies at the limit, one and four at a time.
func large(t *testing.T, w *host) {
	body := grown(t, endpoint.MaxBody)
	best, work := time.Hour, time.Hour
	for range 3 { // other programs may have the machine for a while
		since, before := time.Now(), w.cpu(t)
		if status, answer := post(t, w.address+"/v1/analyze", bytes.NewReader(body)); status != http.StatusOK {
			t.Fatalf("got %d: %.300s", status, answer)
		}
		best, work = min(best, time.Since(since)), min(work, w.cpu(t)-before)
	}
	t.Logf("%d bytes take %d ms, and %d ms of processors, of %d", len(body), best.Milliseconds(), work.Milliseconds(), largeBudget.Milliseconds())
	if min(best, work) > largeBudget {
		t.Errorf("%d bytes take %s", len(body), best)
	}
	_, want := post(t, w.address+"/v1/analyze", bytes.NewReader(body))
	var group sync.WaitGroup
	for range 4 {
		group.Go(func() {
			if status, got := post(t, w.address+"/v1/analyze", bytes.NewReader(body)); status != http.StatusOK || got != want {
				t.Errorf("of four at a time one got %d: %.200s", status, got)
			}
		})
	}
	group.Wait()
}

// slow gives a body in pieces, with time between them.
type slow struct{ from io.Reader }

func (s slow) Read(p []byte) (int, error) {
	time.Sleep(20 * time.Millisecond)
	return s.from.Read(p[:min(len(p), 3000)])
}

// bodies posts what is too long, broken, hostile or slow.
func bodies(t *testing.T, w *host) {
	text, err := os.ReadFile(root + "/testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	pack := func(data []byte) []byte {
		var b bytes.Buffer
		z := gzip.NewWriter(&b)
		z.Write(data)
		z.Close()
		return b.Bytes()
	}
	f := func(name string, status int, holds string, body io.Reader, headers ...string) {
		t.Helper()
		got, answer := post(t, w.address+"/v1/analyze", body, headers...)
		if got != status || !strings.Contains(answer, holds) {
			t.Errorf("%s: got %d, want %d: %.300s", name, got, status, answer)
		}
	}
	packed := pack(text)
	f("compressed", 200, `"ok": 63,`, bytes.NewReader(packed), "Content-Encoding: gzip")
	f("truncated", 200, "gzip", bytes.NewReader(packed[:len(packed)/2]), "Content-Encoding: gzip")
	f("slow", 200, `"ok": 63,`, slow{bytes.NewReader(text)})
	f("too long", 413, "longer", bytes.NewReader(make([]byte, endpoint.MaxBody+1)))
	f("too long, of unknown length", 413, "longer", unsized{bytes.NewReader(make([]byte, endpoint.MaxBody+1))})
	f("decompressed too long", 413, "", bytes.NewReader(pack(grown(t, endpoint.MaxDecoded+8<<20))))
	f("deeply nested", 415, "", strings.NewReader(strings.Repeat("[", 1<<20)))
	f("not text", 415, "", bytes.NewReader(bytes.Repeat([]byte{0, 255, 7}, 1<<18)))
	f("empty", 415, "", http.NoBody)
}

// unsized hides the length of a body.
type unsized struct{ io.Reader }

// steady posts two hundred times: the memory that an answer tells stays what it was,
// and so does, but for what waits to be collected, that of the host.
func steady(t *testing.T, w *host) {
	text, err := os.ReadFile(root + "/testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	once := func() {
		if status, answer := post(t, w.address+"/v1/gate?slo=ttft%3D10s&share=98%25", bytes.NewReader(text)); status != http.StatusOK {
			t.Fatalf("got %d, %.300s", status, answer)
		}
	}
	for range 40 {
		once()
	}
	most.Store(0)
	once()
	one, before := most.Load(), w.resident(t)
	for range 200 {
		once()
	}
	after := w.resident(t)
	t.Logf("at most %d bytes of memory in 200 requests, %d in one; of the host %d MB before and %d MB after", most.Load(), one, before>>20, after>>20)
	if most.Load() > one+one/4 || after > before+before/4+64<<20 {
		t.Error("it grows")
	}
}

// stalled begins bodies that do not go on: others are answered meanwhile.
func stalled(t *testing.T, w *host) {
	text, err := os.ReadFile(root + "/testdata/sample/tokenlog.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	for range 4 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.address, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		fmt.Fprintf(conn, "POST /v1/analyze HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n%s", len(text), text[:len(text)/2])
	}
	time.Sleep(100 * time.Millisecond)
	if status, answer := post(t, w.address+"/v1/analyze", bytes.NewReader(text)); status != http.StatusOK {
		t.Errorf("beside bodies that stall: %d, %.300s", status, answer)
	}
}
