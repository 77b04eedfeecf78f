//go:build !js

package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"mime/multipart"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// command builds the command.
func command(t *testing.T) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "servescope")
	if out, err := exec.Command("go", "build", "-o", path, root+"/cli/servescope").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	return path
}

// run returns what the command prints, and whether it has succeeded.
func run(command, dir string, stdin []byte, args ...string) (out string, ok bool) {
	cmd := exec.Command(command, args...)
	cmd.Dir, cmd.Stdin = dir, bytes.NewReader(stdin)
	text, err := cmd.Output()
	return string(text), err == nil
}

const parquetType = "application/vnd.apache.parquet"

// rowsOf returns the rows of a Parquet file as text: its bytes depend on the machine
// that packed them.
func rowsOf(t *testing.T, file string) string {
	t.Helper()
	f, err := parquet.OpenFile(strings.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	rows := make([]parquet.Row, 100)
	for _, group := range f.RowGroups() {
		r := group.Rows()
		for {
			n, err := r.ReadRows(rows)
			for _, row := range rows[:n] {
				fmt.Fprintf(&out, "%+v\n", row)
			}
			if err != nil {
				break
			}
		}
		r.Close()
	}
	if n := strings.Count(out.String(), "\n"); n == 0 || int64(n) != f.NumRows() {
		t.Errorf("%d rows of %d", n, f.NumRows())
	}
	return out.String()
}

// inputs are the samples and the cases of all formats, and the real files beside the
// project where there are some.
func inputs(t *testing.T) []string {
	t.Helper()
	files, _ := filepath.Glob(root + "/testdata/sample/*.json*")
	more, _ := filepath.Glob(root + "/testdata/formats/*/*/input*")
	if files = append(files, more...); len(files) < 250 {
		t.Fatalf("only %d inputs", len(files))
	}
	for _, dir := range []string{os.Getenv("SERVESCOPE_DATA"), root + "/../shared/data", root + "/../../shared/data"} {
		n := len(files)
		filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
			if err == nil && d.Type().IsRegular() {
				files = append(files, path)
			}
			return nil
		})
		if len(files) > n {
			break
		}
	}
	return files
}

// equal compares reports of every input with those of the command, byte by byte, and
// some in all forms. What the command cannot read the Worker cannot either.
func equal(t *testing.T, w *host) {
	command := command(t)
	files := inputs(t)
	forms := [][]string{
		{"application/json", "analyze", "--format", "json"},
		{"text/csv", "analyze", "--format", "csv"},
		{"text/markdown", "analyze", "--format", "markdown"},
		{parquetType, "convert", "--table", "summary", "--format", "parquet"},
		{"application/vnd.apache.arrow.stream", "convert", "--table", "summary", "--format", "arrows"},
	}
	var same, refused atomic.Int64
	compare := func(file string, data []byte, form []string) {
		args := append([]string{form[1], "-", "--slo", "ttft=500ms", "--workers", "1"}, form[2:]...)
		want, ok := run(command, "", data, args...)
		status, got := post(t, w.address+"/v1/analyze?slo=ttft%3D500ms", bytes.NewReader(data), "Accept: "+form[0])
		switch {
		case ok != (status == http.StatusOK):
			t.Errorf("%s: the command says %v, the Worker %d: %.200s", file, ok, status, got)
		case ok && form[0] == parquetType && rowsOf(t, got) != rowsOf(t, want), ok && form[0] != parquetType && got != want:
			t.Errorf("%s as %s differs", file, form[0])
		case ok:
			same.Add(1)
		default:
			refused.Add(1)
		}
	}
	var group sync.WaitGroup
	var next atomic.Int64
	for range 2 { // the command of one beside the Worker of the other
		group.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(files) {
					return
				}
				data, err := os.ReadFile(files[i])
				if err != nil {
					t.Error(err)
					return
				}
				for k, form := range forms {
					if k == 0 || i%32 == 0 {
						compare(files[i], data, form)
					}
				}
			}
		})
	}
	group.Wait()
	t.Logf("%d answers are equal, %d inputs are refused by both, of %d files", same.Load(), refused.Load(), len(files))
	if int(same.Load()) < len(files)*9/10 {
		t.Error("too few to mean anything")
	}
}

// gates compares verdicts, with and without a baseline.
func gates(t *testing.T, w *host) {
	command := command(t)
	dir, err := filepath.Abs(root + "/testdata/sample")
	if err != nil {
		t.Fatal(err)
	}
	const log, baseline = "tokenlog.jsonl", "vllm-bench.json"
	f := func(query string, args ...string) {
		t.Helper()
		var b bytes.Buffer
		form := multipart.NewWriter(&b)
		for part, name := range map[string]string{"log": log, "baseline": baseline} {
			text, err := os.ReadFile(filepath.Join(dir, name))
			if err != nil {
				t.Fatal(err)
			}
			if part == "log" || strings.Contains(strings.Join(args, " "), "--baseline") {
				file, _ := form.CreateFormFile(part, name)
				file.Write(text)
			}
		}
		form.Close()
		want, ok := run(command, dir, nil, append([]string{"gate", "--format", "json", log}, args...)...)
		status, got := post(t, w.address+"/v1/gate?"+query, &b, "Content-Type: "+form.FormDataContentType())
		if got != want || len(want) == 0 || (status == http.StatusOK) != ok || status != http.StatusOK && status != http.StatusUnprocessableEntity {
			t.Errorf("%s: %d, %.400s, the command says %v, %.400s", query, status, got, ok, want)
		}
	}
	f("slo=ttft%3D10s&share=98%25", "--slo", "ttft=10s", "--share", "98%")
	f("slo=ttft%3D1ms", "--slo", "ttft=1ms")
	f("slo=ttft%3D300ms&share=60%25&by=status", "--slo", "ttft=300ms", "--share", "60%", "--by", "status")
	f("compare=ttft&threshold=900%25&by=status", "--baseline", baseline, "--compare", "ttft", "--threshold", "900%", "--by", "status")
	f("threshold=900%25", "--baseline", baseline, "--threshold", "900%")
	f("compare=ttft,tpot&threshold=1%25", "--baseline", baseline, "--compare", "ttft,tpot", "--threshold", "1%")
}
