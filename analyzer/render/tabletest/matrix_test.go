package tabletest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"servescope/analyzer/trace"
)

// TestMatrix has pandas, pyarrow, Polars and DuckDB write the same requests in all
// types, encodings and compressions that they have. What is read is what is read
// from the same requests as plain JSON.
func TestMatrix(t *testing.T) {
	python := os.Getenv("SERVESCOPE_PYTHON")
	if python == "" || runtime.GOOS == "js" {
		t.Skip("SERVESCOPE_PYTHON names no Python with pandas, pyarrow and polars")
	}
	dir := t.TempDir()
	said, err := exec.Command(python, "matrix.py", dir).Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	t.Logf("%s", said)
	files, _ := filepath.Glob(filepath.Join(dir, "* *"))
	if len(files) < 500 {
		t.Fatalf("there are %d files", len(files))
	}
	want := make(map[string][]string)
	for _, kind := range []string{"stamps", "spans", "gaps"} {
		want[kind], _ = readRows(t, filepath.Join(dir, kind+".jsonl"), inFull)
		if len(want[kind]) != 300 {
			t.Fatalf("%s: %d rows", kind, len(want[kind]))
		}
	}
	for row, line := range map[string]string{ // worked out by hand from the script
		want["stamps"][1]: "1772359207000000000 n r1 ok first=2000 end=6000 out=11", want["spans"][5]: "1772359235000000000 n r5 ok end=6000 out=15",
		want["gaps"][2]: "1772359214000000000 m r2 ok first=3000 last=3041 out=12 gaps=[20000000 21000000]",
	} {
		if row != line {
			t.Fatalf("is   %s\nwant %s", row, line)
		}
	}
	for _, path := range files {
		name := filepath.Base(path)
		t.Run(name, func(t *testing.T) {
			kind, _, _ := strings.Cut(name, " ")
			rows, notes := readRows(t, path, inFull)
			if len(rows) != 300 {
				t.Fatalf("%d rows\n\t%s", len(rows), strings.Join(notes, "\n\t"))
			}
			for i, row := range rows {
				if row != want[kind][i] {
					t.Fatalf("row %d\n\tis   %s\n\twant %s\n\t%s", i, row, want[kind][i], strings.Join(notes, "\n\t"))
				}
			}
		})
	}
}

// inFull is lineOf with when the request arrived and the model.
func inFull(b *trace.Batch, i int) string {
	at, _ := b.Ints(trace.Received).At(i)
	code, ok := b.Dicts(trace.Model).At(i)
	model := "-"
	if ok {
		model = b.Dicts(trace.Model).Values[code]
	}
	return fmt.Sprint(at, " ", model, " ", lineOf(b, i))
}
