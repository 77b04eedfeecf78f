// Package endpoint is the core behind HTTP: a log is posted, and answered by its
// report or by the verdict of a gate. Nothing of a body is stored or logged, and
// no page of another origin may ask.
//
//	POST /v1/analyze  a report, as JSON, Markdown, CSV, text, Arrow or Parquet by Accept
//	POST /v1/gate     a verdict: 200 where it is met, else 422
//	GET  /v1/formats  the formats that can be read
//	GET  /health      whether it runs
//
// A body is a log, or multipart/form-data with the files log and baseline.
// Parameters have the names and the syntax of the command's flags. Errors are
// problem details (RFC 9457).
package endpoint

import (
	"context"
	"crypto/sha256"
	"crypto/subtle"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"strings"
	"time"

	"servescope/analyzer"
	"servescope/formats"
	"servescope/formats/source"
)

// Limits of what a host with little memory accepts.
const (
	MaxBody    = 20 << 20 // bytes of a body as it is sent
	MaxDecoded = 64 << 20 // bytes that are read of it, decompressed, in one pass
	// budget is what a session holds beside the body and its request columns.
	budget = MaxBody + 4<<20
)

// MemoryHeader names the field of an answer with the bytes of memory that its
// process has taken from the system.
const MemoryHeader = "Servescope-Memory"

// Options is what the host decides.
type Options struct {
	Set   *formats.Set
	Now   func() time.Time                 // the present, for logs without a year
	Token func(ctx context.Context) string // what a bearer must show; empty: nothing
	Body  func(r *http.Request) io.Reader  // the body, if the host reads it otherwise

	// Memory is how many bytes the process may take from the system: work that
	// needs more is given up; 0: any number.
	Memory uint64
}

type endpoint struct{ opt Options }

// New returns the handler, which may be called from several goroutines.
func New(opt Options) http.Handler {
	e := &endpoint{opt}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/analyze", e.guarded(e.analyze))
	mux.HandleFunc("POST /v1/gate", e.guarded(e.gate))
	mux.HandleFunc("GET /v1/formats", e.guarded(e.formats))
	mux.HandleFunc("GET /health", func(w http.ResponseWriter, _ *http.Request) {
		answer(w, http.StatusOK, "application/json", []byte("{\"status\":\"ok\"}\n"))
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if _, pattern := mux.Handler(r); pattern == "" {
			e.other(w, r, mux)
			return
		}
		mux.ServeHTTP(w, r)
	})
}

// other answers a request that no pattern matches as a problem.
func (e *endpoint) other(w http.ResponseWriter, r *http.Request, mux *http.ServeMux) {
	for _, method := range []string{http.MethodGet, http.MethodPost} {
		if _, pattern := mux.Handler(&http.Request{Method: method, URL: r.URL, Host: r.Host}); pattern != "" {
			w.Header().Set("Allow", method)
			fail(w, &problem{Status: http.StatusMethodNotAllowed, Detail: "use " + method})
			return
		}
	}
	fail(w, &problem{Status: http.StatusNotFound, Detail: "there are /v1/analyze, /v1/gate, /v1/formats and /health"})
}

// guarded lets f answer those who show the token, and turns its error into a
// problem.
func (e *endpoint) guarded(f func(w http.ResponseWriter, r *http.Request) error) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		if e.opt.Token != nil {
			if token := e.opt.Token(r.Context()); token != "" && !bears(r, token) {
				w.Header().Set("WWW-Authenticate", `Bearer realm="servescope"`)
				fail(w, &problem{Status: http.StatusUnauthorized, Detail: "give the token as Authorization: Bearer …"})
				return
			}
		}
		if err := f(w, r); err != nil {
			fail(w, err)
		}
	}
}

// bears reports whether the request shows the token, in a time that does not
// depend on where the two differ.
func bears(r *http.Request, token string) bool {
	scheme, shown, _ := strings.Cut(r.Header.Get("Authorization"), " ")
	a, b := sha256.Sum256([]byte(shown)), sha256.Sum256([]byte(token))
	return strings.EqualFold(scheme, "bearer") && subtle.ConstantTimeCompare(a[:], b[:]) == 1
}

// formats lists what can be read.
func (e *endpoint) formats(w http.ResponseWriter, _ *http.Request) error {
	type format struct {
		Name  string `json:"name"`
		Title string `json:"title"`
	}
	var list []format
	for _, f := range e.opt.Set.All() {
		list = append(list, format{f.Name, f.Title})
	}
	text, err := json.Marshal(list)
	if err != nil {
		return err
	}
	answer(w, http.StatusOK, "application/json", append(text, '\n'))
	return nil
}

// answer sends an answer whole.
func answer(w http.ResponseWriter, status int, mime string, body []byte) {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	h := w.Header()
	h.Set("Content-Type", mime)
	h.Set("Content-Length", strconv.Itoa(len(body)))
	h.Set("Cache-Control", "no-store")
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set(MemoryHeader, strconv.FormatUint(m.Sys, 10))
	w.WriteHeader(status)
	w.Write(body)
}

// session opens a log. Its data belongs to the session.
func (e *endpoint) session(r *http.Request, f *file) (*analyzer.Session, context.Context, error) {
	force := r.URL.Query().Get("format")
	if force != "" {
		if _, err := e.opt.Set.Lookup(force); err != nil {
			return nil, nil, &problem{Status: http.StatusBadRequest, Detail: err.Error()}
		}
	}
	var mapping []string
	if text := r.URL.Query().Get("map"); text != "" {
		mapping = strings.Split(text, ",")
		if _, _, err := e.opt.Set.Learner(&formats.Head{}).Learn(nil, mapping); err != nil {
			return nil, nil, &problem{Status: http.StatusBadRequest, Detail: err.Error()}
		}
	}
	ctx, cancel := context.WithCancelCause(r.Context())
	opt := analyzer.Options{Memory: budget, Map: mapping, Now: e.opt.Now(), Progress: func(done, _ int64) {
		if done > MaxDecoded {
			cancel(errDecoded)
		}
	}}
	if e.opt.Memory > 0 {
		m := newMemory(e.opt.Memory, f.data)
		opt.Yield = func() {
			if err := m.check(); err != nil {
				cancel(err)
			}
		}
	}
	src := source.FromReaderAt(f.name, f.data, f.data.size, time.Time{})
	inputs, err := source.Unpack([]source.Input{{Source: src, Named: true}}, formats.Options{Workers: 1, Memory: budget, Now: opt.Now})
	if err != nil {
		return nil, nil, err
	}
	s, err := analyzer.Open(ctx, e.opt.Set, inputs, force, opt)
	if err != nil {
		inputs.Close()
		return nil, nil, cause(ctx, err)
	}
	return s, ctx, nil
}

// cause returns why ctx was cancelled, if it was, else err.
func cause(ctx context.Context, err error) error {
	if p := new(problem); errors.As(context.Cause(ctx), &p) {
		return p
	}
	return err
}
