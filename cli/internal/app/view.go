package app

import (
	"context"
	"crypto/rand"
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/urfave/cli/v2"

	"servescope/formats/all"
	"servescope/wasm/bridge"
	"servescope/wasm/page"
)

func (p *Process) view() *cli.Command {
	return &cli.Command{
		Name:      "view",
		Usage:     "look at files on a page of this machine",
		UsageText: "servescope view [FLAGS] FILES",
		Description: `Serves the page with charts of the files, at an address of this machine that it
prints. The command computes, so that files may be larger than what a tab holds.
Nobody else can read them: the address is on the loopback interface, holds a
secret, and pages of other origins are refused. Ctrl-C ends it.`,
		ArgsUsage: `  servescope view server.log
  servescope view before=a.json after=b.json`,
		Flags:  slices.Concat(joinFlags(), inputFlags()),
		Action: p.runView,
	}
}

func (p *Process) runView(c *cli.Context) error {
	var progress bridge.Progress
	w, err := p.openWith(c, c.String("input-format"), func(*cli.Context) (func(done, total int64), func()) {
		return progress.Read, func() {}
	})
	if err != nil {
		return err
	}
	e := bridge.New(bridge.Options{
		Set: all.Set(), Workers: runtime.GOMAXPROCS(0), Now: time.Now, Zone: parseZone,
	})
	e.Adopt("1", w.Session, &progress)
	defer e.Close()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	v, err := newViewer(e, listener.Addr().String())
	if err != nil {
		listener.Close()
		return err
	}
	fmt.Fprintln(p.Stdout, v.url())
	return serve(c.Context, listener, v)
}

// serve answers requests until ctx ends, and then ends those that are under way.
func serve(ctx context.Context, listener net.Listener, handler http.Handler) error {
	server := &http.Server{
		Handler: handler, ReadHeaderTimeout: 10 * time.Second,
		BaseContext: func(net.Listener) context.Context { return ctx },
	}
	stop := context.AfterFunc(ctx, func() { server.Close() })
	defer stop()
	if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
		return err
	}
	return context.Cause(ctx)
}

// viewer serves the page and the engine behind it to whoever knows its address.
type viewer struct {
	engine  *bridge.Engine
	host    string // address and port
	token   string
	page    []byte
	headers map[string]string
}

func newViewer(e *bridge.Engine, host string) (*viewer, error) {
	v := &viewer{engine: e, host: host, token: rand.Text()}
	var err error
	if v.page, err = page.Document(page.Native, nil); err != nil {
		return nil, err
	}
	v.headers, err = page.Headers(page.Native)
	return v, err
}

func (v *viewer) url() string { return "http://" + v.host + "/" + v.token + "/" }

// ServeHTTP implements http.Handler. It answers only requests that name this very
// host, so that no name that leads here can be used, and that come from its own
// page or from no page at all.
func (v *viewer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, value := range v.headers {
		w.Header().Set(name, value)
	}
	origin, site := r.Header.Get("Origin"), r.Header.Get("Sec-Fetch-Site")
	token, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/")
	switch {
	case r.Host != v.host, origin != "" && origin != "http://"+v.host, site != "" && site != "same-origin" && site != "none":
		http.Error(w, "this page is for its own address only", http.StatusForbidden)
	case subtle.ConstantTimeCompare([]byte(token), []byte(v.token)) != 1:
		http.Error(w, "no such page", http.StatusNotFound)
	case rest == "" && r.Method == http.MethodGet:
		w.Write(v.page)
	case rest == "call" && r.Method == http.MethodPost:
		v.call(w, r)
	default:
		http.Error(w, "no such page", http.StatusNotFound)
	}
}

// maxRequest bounds a request, which is a query.
const maxRequest = 1 << 20

// call answers one request of the page with frames.
func (v *viewer) call(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxRequest))
	if err != nil {
		http.Error(w, "the request is too long", http.StatusRequestEntityTooLarge)
		return
	}
	w.Header().Set("Content-Type", "application/octet-stream")
	var mu sync.Mutex // progress comes from any goroutine
	v.engine.Call(r.Context(), request, nil, func(head, body []byte) {
		mu.Lock()
		defer mu.Unlock()
		if frame, ok := bridge.AppendFrame(nil, head, body); ok {
			w.Write(frame)
			http.NewResponseController(w).Flush()
		}
	})
}
