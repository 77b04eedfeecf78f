package endpoint

import (
	"bytes"
	"mime/multipart"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/parquet-go/parquet-go"
)

// formOf returns the body and the type of a form of files: name, content, ….
func formOf(t *testing.T, parts ...string) (body, mime string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	for i := 0; i < len(parts); i += 2 {
		part, err := w.CreateFormFile(parts[i], parts[i]+".json")
		if err != nil {
			t.Fatal(err)
		}
		part.Write([]byte(parts[i+1]))
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String(), "Content-Type: " + w.FormDataContentType()
}

// TestBaseline posts a log with a baseline.
func TestBaseline(t *testing.T) {
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	log := string(text)
	f := func(target string, status int, holds string, parts ...string) {
		t.Helper()
		body, mime := formOf(t, parts...)
		w := post(t, "", "POST "+target, strings.NewReader(body), mime)
		if w.Code != status || !strings.Contains(w.Body.String(), holds) {
			t.Errorf("%s of %q: got %d, want %d: %.400s", target, parts[0], w.Code, status, w.Body)
		}
	}
	// A run is as fast as itself: the interval of the change holds 0, and is wide.
	f("/v1/gate?threshold=900%25", 200, `"baseline": "baseline.json"`, "baseline", log, "log", log)
	f("/v1/gate?threshold=900%25", 200, `"label": "log.json"`, "log", log, "baseline", log)
	f("/v1/gate?threshold=0%25&compare=ttft", 422, `"verdict": "unknown"`, "log", log, "baseline", log)
	f("/v1/gate?threshold=900%25&slo=ttft%3D1ns", 422, `"verdict": "not_met"`, "log", log, "baseline", log)
	f("/v1/gate?slo=ttft%3D500ms&share=1%25", 200, `"baseline": ""`, "log", log)
	f("/v1/analyze", 200, "servescope.report/1", "log", log)
	f("/v1/analyze", 400, "baseline", "log", log, "baseline", log)
	f("/v1/gate", 400, "nothing to judge by", "log", log)
	f("/v1/gate?slo=ttft%3D1s&threshold=5%25", 400, "there is no baseline", "log", log)
	f("/v1/gate?compare=nonsense", 400, "nonsense", "log", log, "baseline", log)
	f("/v1/gate", 400, "no part log", "baseline", log)
	f("/v1/gate", 400, "unknown or there twice", "log", log, "log", log)
	f("/v1/gate", 400, "unknown or there twice", "log", log, "other", log)
	f("/v1/gate", 415, "baseline: ", "log", log, "baseline", "of no format\n")
	f("/v1/gate", 413, "longer", "log", log, "baseline", strings.Repeat(" ", MaxBody))
	body, mime := formOf(t, "log", log, "baseline", log)
	for name, w := range map[string]int{
		"cut off":              post(t, "", "POST /v1/gate", strings.NewReader(body[:len(body)-40]), mime).Code,
		"of no boundary":       post(t, "", "POST /v1/gate", strings.NewReader(body), "Content-Type: multipart/form-data").Code,
		"of another boundary":  post(t, "", "POST /v1/gate", strings.NewReader(body), "Content-Type: multipart/form-data; boundary=x").Code,
		"that is not one":      post(t, "", "POST /v1/gate", strings.NewReader(log), mime).Code,
		"without anything":     post(t, "", "POST /v1/gate", strings.NewReader(""), mime).Code,
		"with endless headers": post(t, "", "POST /v1/gate", strings.NewReader(body[:64]+"\r\n"+strings.Repeat("a: b\r\n", 1<<20)), mime).Code,
	} {
		if w != 400 {
			t.Errorf("a form %s: got %d, want 400", name, w)
		}
	}
	if w := post(t, "", "POST /v1/gate", strings.NewReader(body), mime, "Content-Encoding: gzip"); w.Code != 415 {
		t.Errorf("a compressed form: %d", w.Code)
	}
}

// TestTables reads the answers in columns back by the libraries of others.
func TestTables(t *testing.T) {
	text, err := os.ReadFile(sample)
	if err != nil {
		t.Fatal(err)
	}
	lines := bytes.Count(post(t, "", "POST /v1/analyze", bytes.NewReader(text), "Accept: text/csv").Body.Bytes(), []byte("\n")) - 1
	answer := post(t, "", "POST /v1/analyze", bytes.NewReader(text), "Accept: application/vnd.apache.arrow.stream")
	r, err := ipc.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for r.Next() {
		rows += r.RecordBatch().NumRows()
	}
	if r.Err() != nil || rows != int64(lines) || r.Schema().Field(5).Name != "metric" {
		t.Errorf("Arrow: %d rows of %d, %s: %v", rows, lines, r.Schema(), r.Err())
	}
	answer = post(t, "", "POST /v1/analyze", bytes.NewReader(text), "Accept: application/vnd.apache.parquet, text/csv;q=0.5")
	p, err := parquet.OpenFile(bytes.NewReader(answer.Body.Bytes()), int64(answer.Body.Len()))
	if err != nil || p.NumRows() != int64(lines) {
		t.Errorf("Parquet: %v", err)
	}
	if got := answer.Header().Get("Content-Type"); got != "application/vnd.apache.parquet" {
		t.Errorf("Parquet is called %s", got)
	}
}
